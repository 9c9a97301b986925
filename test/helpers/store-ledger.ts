/**
 * What is known of one stream and of one consumer from outside, however often their store ends and begins: what was asked
 * for, what was told to be durable, and what may therefore be there afterwards.
 */
import { strict as assert } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { ConsumerState } from '../../jetstream/consumer/consumer-state.ts';
import type { StoreLimits } from '../../jetstream/store/store.ts';
import type { Stored } from './store-messages.ts';
import { StoreModel } from './store-model.ts';

const overhead = ({ headers }: Stored): number => (headers === '' ? 30 : 34);

/** A stream without limits from which messages are removed, or one with limits from which nothing else goes. */
export class StreamLedger {
  /** Every message that was appended and may be there, by sequence. */
  readonly appended: Map<number, Stored> = new Map();
  /** Messages that became visible, and those that went again. */
  readonly visible: Set<number> = new Set();
  readonly gone: Set<number> = new Set();
  /** Messages whose removal was asked for. */
  readonly going: Set<number> = new Set();
  /** Messages that damage may have cost. */
  readonly damaged: Set<number> = new Set();
  /** Removed messages that damage brought back: a start that reads more of the log takes them away again. */
  private readonly back = new Set<number>();
  /**
   * Messages that were appended, never acknowledged and not there at a start: their sequences were given to others, if to
   * anybody. Where damage leaves nothing that tells what counts they may be found in a block.
   */
  private readonly leftBehind: Stored[] = [];
  /** Those of them that were found. */
  readonly unasked: Stored[] = [];
  /** Damage may have cost the removal of messages. */
  isVague = false;
  /** Sequences below this one were asked to go, and went. */
  purging = 0;
  purged = 0;
  readonly limits: StoreLimits;
  private readonly isLimited: boolean;

  constructor(limits: StoreLimits) {
    this.limits = limits;
    this.isLimited = limits.maxBytes + limits.maxMessages + limits.maxMessagesPerSubject > 0;
  }

  /**
   * What was visible when it ended has to be there; what else was appended may be. `found`: what there is. The answer is
   * how many messages damage has cost.
   */
  reopened(found: readonly Stored[], lastSequence: number): number {
    if (this.isVague) this.admitLeftBehind(found);
    for (const message of found) {
      assert.deepEqual(message, this.appended.get(message.sequence), `message ${message.sequence} as it was appended`);
    }
    const lastVisible = Math.max(0, ...[...this.visible].filter((sequence) => !this.damaged.has(sequence)));
    assert.ok(lastSequence >= lastVisible, `${lastVisible} was visible, ${lastSequence} is the last now`);
    if (this.isLimited) this.checkLimited(found, lastSequence);
    else this.checkRemovals(found);
    // What is there now was durable, and what is not never comes.
    for (const sequence of this.appended.keys()) {
      if (sequence <= lastSequence) this.visible.add(sequence);
      else {
        this.leftBehind.push(this.appended.get(sequence) as Stored);
        this.appended.delete(sequence);
        this.visible.delete(sequence);
      }
    }
    const there = new Set(found.map(({ sequence }) => sequence));
    const isMissing = (sequence: number): boolean =>
      !there.has(sequence) && !this.gone.has(sequence) && !this.going.has(sequence) && sequence >= this.purging;
    const missing = [...this.damaged].filter((each) => this.visible.has(each) && isMissing(each));
    for (const sequence of missing) this.appended.delete(sequence);
    this.going.clear();
    this.damaged.clear();
    if (this.isVague) {
      for (const each of there) if (this.gone.has(each) || each < this.purged) this.back.add(each);
      this.purged = 0;
      this.gone.clear();
      this.isVague = false;
    }
    this.purging = this.purged;
    for (const sequence of this.visible) if (!there.has(sequence)) this.gone.add(sequence);
    return missing.length;
  }

  /** They take the place of no message that was acknowledged. */
  private admitLeftBehind(found: readonly Stored[]): void {
    for (const message of found) {
      const { sequence } = message;
      if (this.appended.has(sequence) || !this.leftBehind.some((each) => isDeepStrictEqual(each, message))) continue;
      this.appended.set(sequence, message);
      this.unasked.push(message);
    }
  }

  /** What is there now is exactly what ought to be, since nothing is on its way. */
  settled(found: readonly Stored[]): void {
    const expected = this.isLimited ? this.modelUpTo(Infinity).messages : this.remaining();
    assert.deepEqual(found, expected);
  }

  private remaining(): Stored[] {
    const isGone = (sequence: number): boolean =>
      this.gone.has(sequence) || this.going.has(sequence) || sequence < this.purging;
    const remaining = [...this.appended.values()].filter(({ sequence }) => !isGone(sequence));
    return remaining.sort((a, b) => a.sequence - b.sequence);
  }

  private checkRemovals(found: readonly Stored[]): void {
    const there = new Set(found.map(({ sequence }) => sequence));
    for (const sequence of this.visible) {
      const mustBeGone = this.gone.has(sequence) || sequence < this.purged;
      const isAsked = this.going.has(sequence) || sequence < this.purging;
      const mayBeGone = mustBeGone || isAsked || this.damaged.has(sequence) || this.back.has(sequence);
      assert.ok(!there.has(sequence) || !mustBeGone || this.isVague, `${sequence} was removed and is back`);
      assert.ok(there.has(sequence) || mayBeGone, `${sequence} was acknowledged and is lost`);
    }
  }

  private checkLimited(found: readonly Stored[], lastSequence: number): void {
    assert.deepEqual(found, this.modelUpTo(lastSequence).messages);
  }

  private modelUpTo(lastSequence: number): StoreModel {
    const model = new StoreModel(overhead);
    model.setLimits(this.limits);
    for (const message of this.appended.values()) if (message.sequence <= lastSequence) model.add(message);
    return model;
  }
}

type Operation = (state: ConsumerState) => void;

/** A consumer: the operations on it in their order, and how many of them are durable. */
export class ConsumerLedger {
  private operations: Operation[] = [];
  private durable = 0;
  private state = new ConsumerState(1);
  private isForgiven = false;

  note(operation: Operation): number {
    this.operations.push(operation);
    return this.operations.length;
  }

  /** The first so many operations are durable. */
  isDurable(count: number): void {
    this.durable = Math.max(this.durable, count);
  }

  get length(): number {
    return this.operations.length;
  }

  /** Damage may have cost some of the operations. */
  forgive(): void {
    this.isForgiven = true;
  }

  /** The state that was found is the one after all durable operations and perhaps some more. */
  reopened(found: ConsumerState): void {
    const { operations } = this;
    const wanted = JSON.stringify(imageOf(found));
    const { state } = this;
    for (let count = 0; ; count++) {
      if (count >= this.durable && JSON.stringify(imageOf(state)) === wanted) {
        // The others never happened.
        this.operations = [];
        this.durable = 0;
        return;
      }
      const operation = operations[count];
      if (operation === undefined) break;
      operation(state);
    }
    if (this.isForgiven) {
      this.isForgiven = false;
      this.operations = [];
      this.durable = 0;
      this.state = copyOf(found);
      return;
    }
    const own = JSON.stringify(imageOf(state));
    assert.fail(
      `after ${operations.length} operations, ${this.durable} durable:\n  found    ${wanted}\n  expected ${own}`,
    );
  }
}

function copyOf(state: ConsumerState): ConsumerState {
  const copy = new ConsumerState(1);
  const { pending, ackFloor, nextStream, nextConsumer, deliveredStream } = state;
  Object.assign(copy, { nextStream, nextConsumer, deliveredStream });
  Object.assign(copy.ackFloor, ackFloor);
  for (let row = pending.firstRow; row >= 0; row = pending.nextRow(row)) {
    const deadline = pending.deadlineMs(row);
    copy.pending.add(pending.sequence(row), pending.consumerSequence(row), deadline, pending.deliveryCount(row));
  }
  return copy;
}

/** Everything that makes a difference between two states. */
function imageOf(state: ConsumerState): unknown {
  const { pending, ackFloor, nextStream, nextConsumer, deliveredStream } = state;
  const rows: unknown[] = [];
  for (let row = pending.firstRow; row >= 0; row = pending.nextRow(row)) {
    rows.push([
      pending.sequence(row),
      pending.consumerSequence(row),
      pending.deadlineMs(row),
      pending.deliveryCount(row),
    ]);
  }
  return {
    ackFloor: { ...ackFloor },
    nextStream,
    nextConsumer,
    deliveredStream,
    rows,
    redelivered: pending.redelivered,
  };
}
