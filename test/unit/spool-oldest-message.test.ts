/** There is a time of the oldest message as long as there is a message, and it is right as soon as its record was read. */
import { expect, it } from 'vitest';
import { OldestMessage } from '../../jetstream/spool/oldest-message.ts';
import type { RecordView } from '../../jetstream/store/record.ts';
import type { MessageStore, ReadOutcome } from '../../jetstream/store/store.ts';

/** Messages of a spool, the sequence of each its time in seconds. Only those in memory are read at once. */
class Messages {
  firstSequence = 1;
  messages = 0;
  reads = 0;
  nowMs = 0;
  inMemory = new Set<number>();
  private readonly loads: (() => void)[] = [];
  readonly oldest: OldestMessage;

  constructor(messages: number) {
    this.messages = messages;
    const clock = { wallMs: () => 0, monotonicMs: () => this.nowMs };
    this.oldest = new OldestMessage(this as Partial<MessageStore> as MessageStore, clock);
  }

  read(sequence: number, view: RecordView): ReadOutcome {
    this.reads++;
    if (sequence < this.firstSequence) return 'missing';
    if (!this.inMemory.has(sequence)) return 'loading';
    Object.defineProperties(view, { seconds: { value: sequence }, nanoseconds: { value: 0 } });
    return 'found';
  }

  whenReadable(_sequence: number, done: () => void): void {
    this.loads.push(done);
  }

  /** What was asked for is there, or can't be read. */
  load(...sequences: number[]): void {
    for (const sequence of sequences) this.inMemory.add(sequence);
    for (const each of this.loads.splice(0)) each();
  }

  /** The first so many go. */
  drop(count: number): void {
    this.firstSequence += count;
    this.messages -= count;
    this.oldest.changed();
  }
}

it('is read when the spool is opened', () => {
  const messages = new Messages(3);
  expect(messages.oldest.wallMs).toBe(null);
  messages.load(1);
  expect(messages.oldest.wallMs).toBe(1000);
});

it('is that of the one before until the record has been read', () => {
  const messages = new Messages(5);
  messages.load(1);
  messages.drop(2);
  expect(messages.oldest.wallMs).toBe(1000);
  messages.load(3);
  expect(messages.oldest.wallMs).toBe(3000);
});

it('is that of the next one when the message went while it was read', () => {
  const messages = new Messages(5);
  messages.drop(1);
  messages.load(1);
  messages.load(2);
  expect(messages.oldest.wallMs).toBe(2000);
});

it('goes with the last message, and comes with the next one', () => {
  const messages = new Messages(1);
  messages.load(1);
  messages.drop(1);
  expect(messages.oldest.wallMs).toBe(null);
  messages.inMemory.add(2);
  messages.messages = 1;
  messages.oldest.changed();
  messages.inMemory.clear();
  expect(messages.oldest.wallMs).toBe(2000);
});

it('reads not more than once a second while messages go, and a record that can not be read not again', () => {
  const messages = new Messages(100);
  messages.load(1, 2, 3, 4);
  for (let i = 0; i < 3; i++) messages.drop(1);
  const { reads } = messages;
  expect(messages.oldest.wallMs).toBe(4000);
  expect(messages.reads).toBe(reads + 1);
  messages.nowMs = 1000;
  messages.drop(1);
  messages.load();
  const damaged = messages.reads;
  expect(messages.oldest.wallMs).toBe(4000);
  expect(messages.reads).toBe(damaged);
});
