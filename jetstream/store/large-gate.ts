/**
 * Large messages go to their block first, and only where they stand goes to the log, when the block is on the device.
 * While one waits for that, the messages behind it wait too, so that frames stand in the log in the order of sequences.
 *
 *     large ─► block ─sync─► place logged           small behind it ─► logged as usual once nothing large is before it
 *
 * Bound: what waits is not visible, and streams bound what is not visible.
 */

import type { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import type { MessageBlock } from './message-block.ts';
import type { MessageGroup } from './message-group.ts';
import { inOrder } from './steps.ts';
import type { Time } from './store.ts';
import type { StoreFiles } from './store-files.ts';

const RETRY_MS = 250;

export interface GatedMessage {
  readonly block: MessageBlock;
  readonly sequence: number;
  readonly time: Time;
  readonly isLarge: boolean;
  /** The group it belongs to, if it belongs to one. */
  readonly group: MessageGroup | null;
  /** Body of a frame that names the place of its record. */
  readonly place: Buffer;
}

export interface GateOwner {
  /** The message's record is on the device: logs its place. */
  logPlace(message: GatedMessage): void;
  /** Logs the message whole; false when its record is not in memory any more. */
  logWhole(message: GatedMessage): boolean;
}

export class LargeGate {
  private readonly files: StoreFiles;
  private readonly owner: GateOwner;
  private messages: GatedMessage[] = [];
  private isSyncing = false;
  private waiting: (() => void)[] = [];

  constructor(files: StoreFiles, owner: GateOwner) {
    this.files = files;
    this.owner = owner;
  }

  /** Messages have to wait behind others. */
  get isShut(): boolean {
    return this.messages.length > 0;
  }

  add(message: GatedMessage): void {
    this.messages.push(message);
    if (!this.isSyncing) this.sync();
  }

  /** Calls back when everything that waits now is logged, or can't be because the store is closing. */
  whenOpen(done: () => void): void {
    if (this.isShut) this.waiting.push(done);
    else done();
  }

  /** The stream is gone: nothing of it is logged any more. */
  drop(): void {
    this.messages = [];
    this.answer();
  }

  private sync(): void {
    this.isSyncing = true;
    const { messages } = this;
    const count = messages.length;
    syncAll([...new Set(messages.map((message) => message.block))], (error) => {
      this.isSyncing = false;
      if (error === null) this.synced(messages === this.messages ? count : 0);
      else this.failed(error);
    });
  }

  private synced(count: number): void {
    for (const message of this.messages.splice(0, count)) this.owner.logPlace(message);
    let whole = 0;
    for (const message of this.messages) {
      if (message.isLarge || !this.owner.logWhole(message)) break;
      whole++;
    }
    this.messages.splice(0, whole);
    if (this.isShut) this.sync();
    else this.answer();
  }

  private failed(error: Parameters<Done>[0]): void {
    this.files.noteError(error);
    if (this.files.isClosing) this.drop();
    else this.files.timers.after(RETRY_MS, () => this.retry());
  }

  private retry(): void {
    if (this.files.isClosing) this.drop();
    else if (this.isShut && !this.isSyncing) this.sync();
  }

  private answer(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const done of waiting) done();
  }
}

/** Syncs the blocks one after the other; the first error ends it. */
export function syncAll(blocks: readonly MessageBlock[], done: Done): void {
  inOrder(
    blocks.map((block) => (next) => block.bytes.sync(next)),
    done,
  );
}
