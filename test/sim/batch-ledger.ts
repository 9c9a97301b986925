/**
 * What was published to a stream in batches and singly, what was acknowledged, and whether what the stream holds agrees
 * with that: a batch is there whole, in one piece and once, or not at all; what was acknowledged is there.
 *
 * The payload of every message says what it belongs to: `<id> <position> <count>`, then padding.
 */
import type { RecordView } from '../../jetstream/store/record.ts';
import type { MessageStore } from '../../jetstream/store/store.ts';
import { visitMessages } from '../helpers/store-messages.ts';

export interface Published {
  readonly id: string;
  readonly count: number;
  /** Sequence of the last message, once that was acknowledged. */
  acknowledged: number;
  /** It was said to be stored, without a sequence. */
  isPromised: boolean;
}

interface Stored {
  readonly id: string;
  readonly position: number;
  readonly count: number;
  readonly sequence: number;
}

export class BatchLedger {
  readonly published: Map<string, Published> = new Map();

  publishing(id: string, count: number): Published {
    const entry: Published = { id, count, acknowledged: 0, isPromised: false };
    this.published.set(id, entry);
    return entry;
  }

  get acknowledgedCount(): number {
    return [...this.published.values()].filter((each) => each.acknowledged > 0).length;
  }

  /** What is wrong with what the stream holds; `messages` are all it has. */
  faults(messages: readonly Stored[]): string[] {
    const faults: string[] = [];
    const runs = new Map<string, number>();
    for (let at = 0; at < messages.length;) {
      const { id, count, sequence } = messages[at] as Stored;
      const run = messages.slice(at, at + count);
      const isWhole = run.length === count && run.every((each, i) => each.id === id && each.position === i + 1);
      const isInOnePiece = run.every((each, i) => each.sequence === sequence + i);
      if (!isWhole || !isInOnePiece) faults.push(`a part of ${id} at ${sequence}: ${shown(run)}`);
      if (runs.has(id)) faults.push(`${id} twice, at ${runs.get(id)} and ${sequence}`);
      runs.set(id, sequence + count - 1);
      at += isWhole ? count : 1;
    }
    for (const { id, acknowledged, isPromised } of this.published.values()) {
      const found = runs.get(id) ?? 0;
      if (isPromised && found === 0) faults.push(`${id} was said to be stored and is not there`);
      if (acknowledged > 0 && found !== acknowledged)
        faults.push(`${id} acknowledged at ${acknowledged}, is at ${found}`);
    }
    return faults;
  }
}

function shown(messages: readonly Stored[]): string {
  return messages.map(({ id, position, count }) => `${id} ${position}/${count}`).join(', ');
}

/** A payload of about so many bytes that says what it belongs to. */
export function batchPayload(id: string, position: number, count: number, bytes: number): Buffer {
  return Buffer.from(`${id} ${position} ${count} `.padEnd(bytes, '.'), 'latin1');
}

/** What a stored message says of itself. */
export function storedIn(view: RecordView): Stored {
  const [id = '', position, count] = view.buffer.toString('latin1', view.payloadStart, view.end).split(' ', 3);
  return { id, position: Number(position), count: Number(count), sequence: view.sequence };
}

/** Everything visible in the store. `wait` lets the world go on until its condition holds. */
export function readAll(store: MessageStore, wait: (condition: () => boolean) => void): Stored[] {
  const found: Stored[] = [];
  visitMessages(store, wait, (view) => found.push(storedIn(view)));
  return found;
}
