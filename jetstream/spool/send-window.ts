/**
 * What a spool has sent and its hub may not have taken, in the order in which it was sent.
 *
 *     ┌──────────────── window ────────────────┐
 *     │ from the stream … │ copies, sent at once│   next to send ► cursor
 *     └ sequences         └ sequence 0
 *
 * Bounds: WINDOW_MESSAGES and WINDOW_BYTES; one message of any size has room when nothing else is in flight.
 */

import type { Message } from '../../server/protocol/message.ts';

const WINDOW_MESSAGES = 256;
const WINDOW_BYTES = 1024 * 1024;

/** A message that was sent and may not have arrived. */
interface InFlight {
  /** Where it is in the stream; 0: only here. */
  sequence: number;
  /** The message, while it is only here. */
  copy: Message | null;
  readonly queueGroups: readonly string[];
  readonly bytes: number;
}

export class SendWindow {
  private readonly entries: InFlight[] = [];
  private bytes = 0;

  get count(): number {
    return this.entries.length;
  }

  hasRoom(bytes: number): boolean {
    const { count } = this;
    return count === 0 || (count < WINDOW_MESSAGES && this.bytes + bytes <= WINDOW_BYTES);
  }

  /** A message was sent that is only here. */
  addCopy(copy: Message, queueGroups: readonly string[]): void {
    this.add({ sequence: 0, copy, queueGroups: [...queueGroups], bytes: copy.bodyBytes });
  }

  /** A message was sent that is in the stream. */
  addStored(sequence: number, queueGroups: readonly string[], bytes: number): void {
    this.add({ sequence, copy: null, queueGroups, bytes });
  }

  private add(entry: InFlight): void {
    this.entries.push(entry);
    this.bytes += entry.bytes;
  }

  /** The first so many have arrived: the highest sequence among them, 0 if none was in the stream. */
  take(count: number): number {
    let last = 0;
    for (const { sequence, bytes } of this.entries.splice(0, count)) {
      this.bytes -= bytes;
      last = Math.max(last, sequence);
    }
    return last;
  }

  /** Puts into the stream what is only here, by `keep`, which says where it is; the last sequence of all, 0: there is none. */
  keepCopies(keep: (message: Message, queueGroups: readonly string[]) => number): number {
    for (const entry of this.entries) {
      if (entry.copy === null) continue;
      entry.sequence = keep(entry.copy, entry.queueGroups);
      entry.copy = null;
    }
    return this.entries.at(-1)?.sequence ?? 0;
  }

  clear(): void {
    this.entries.length = 0;
    this.bytes = 0;
  }
}
