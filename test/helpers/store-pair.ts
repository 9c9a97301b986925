/** A store beside a model of it, which have to agree after whatever was done to both. */
import { strict as assert } from 'node:assert';
import { readState } from '../../jetstream/store/store-state.ts';
import type { MessageStore, StoreState } from '../../jetstream/store/store.ts';
import { lastOf, messageOf, nextOf, readAll, type Stored } from './store-messages.ts';
import { StoreModel } from './store-model.ts';
import type { StoreSubject } from './store-subject.ts';

export interface StoreUnderTest {
  readonly store: MessageStore;
  readonly subject: StoreSubject;
  /** Lets everything become visible that was appended, and everything go that is to go. */
  settle(): void;
  /** Drops what was read from the disk and is kept in memory. */
  dropCaches(): void;
}

export interface Contract {
  readonly name: string;
  readonly make: () => StoreUnderTest;
  /** Bytes that a message counts beyond subject, headers and payload, as nats-server counts them. */
  readonly overhead: (message: Stored) => number;
}

/** A store beside the model of it. */
export class StorePair {
  readonly under: StoreUnderTest;
  readonly store: MessageStore;
  readonly model: StoreModel;
  private seconds = 1_700_000_000;
  private waiting: { readonly stored: Stored; readonly replaces: number }[] = [];

  constructor({ make, overhead }: Contract) {
    this.under = make();
    this.store = this.under.store;
    this.model = new StoreModel(overhead);
  }

  append(subject: string, payload: string, headers = '', replaces = 0): number {
    const time = { seconds: this.seconds++, nanoseconds: this.seconds % 1000 };
    const message = messageOf(subject, payload, headers);
    const counted = this.store.countedBytes(message);
    const sequence = this.store.append(message, time, replaces);
    const stored = { sequence, subject, headers, payload, time };
    assert.equal(counted, this.model.bytesOf(stored));
    this.waiting.push({ stored, replaces });
    return sequence;
  }

  /** What was appended becomes visible. */
  settle(): void {
    this.under.settle();
    for (const { stored, replaces } of this.waiting) this.model.add(stored, replaces);
    this.waiting = [];
  }

  state(): StoreState {
    const states: StoreState[] = [];
    readState(this.store, (state) => states.push(state));
    for (let i = 0; i < 10 && states.length === 0; i++) this.under.settle();
    assert.equal(states.length, 1);
    return states[0] as StoreState;
  }

  /** Whether the store holds what the model does; fails where it does not. */
  agrees(): boolean {
    const { store, model, under } = this;
    const settle = (): void => under.settle();
    assert.deepEqual(this.state(), { ...model.state, lastTime: store.lastTime, lost: 0 });
    assert.deepEqual(readAll(store, settle), model.messages);
    assert.ok(under.subject.knows(model.messages.map(({ sequence }) => sequence)), 'what was told is what there is');
    assert.equal(store.appendedSequence, model.lastSequence);
    assert.deepEqual([store.appendedMessages, store.appendedBytes], [store.messages, store.bytes]);
    return true;
  }

  checkSubjects(subjects: readonly string[]): void {
    const { store, model, under } = this;
    const settle = (): void => under.settle();
    for (const subject of subjects) {
      const number = store.subjects.findText(subject);
      assert.equal(number < 0 ? 0 : store.subjects.count(number), model.countOf(subject));
      for (const atMost of [store.lastSequence, Math.floor(store.lastSequence / 2)]) {
        assert.equal(lastOf(store, subject, atMost, settle), model.lastOf(subject, atMost));
      }
      const accepts = (each: number): boolean => each === number;
      const from = Math.floor((store.firstSequence + store.lastSequence) / 2);
      const expected = model.next(from, (each) => each === subject);
      assert.equal(nextOf(store, from, accepts, settle), expected);
    }
  }
}
