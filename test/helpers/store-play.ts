/**
 * Plays commands on a stream's store and on an array of messages, which have to agree after each: among them the store is
 * closed, killed or loses power, and is opened again.
 */
import { strict as assert } from 'node:assert';
import type { StoreLimits } from '../../jetstream/store/store.ts';
import type { Keep } from '../../server/io/simulated/file-content.ts';
import { DiskWatch } from './store-checked-disk.ts';
import { idHeaders, idOf, lastOf, messageOf, readAll, type Stored } from './store-messages.ts';
import { StoreModel } from './store-model.ts';
import { SMALL_SIZES, StoreSite } from './store-site.ts';
import type { StoreSubject } from './store-subject.ts';

export const SUBJECTS = 6;
const overhead = ({ headers }: Stored): number => (headers === '' ? 30 : 34);

export interface NewMessage {
  readonly subject: number;
  readonly bytes: number;
  readonly id: number | null;
}

export type Command =
  | { readonly kind: 'append' | 'append and end'; readonly messages: readonly NewMessage[]; readonly end: Ending }
  | { readonly kind: 'remove' | 'remove and end'; readonly shares: readonly number[]; readonly end: Ending }
  | { readonly kind: 'purge'; readonly share: number; readonly end: Ending }
  | { readonly kind: 'limits'; readonly limits: StoreLimits }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'end'; readonly end: Ending };

export interface Ending {
  readonly how: 'close' | 'kill' | Keep;
  /** How long what was begun goes on before the end. */
  readonly afterMs: number;
  /** So many steps into recovery it ends again. */
  readonly again: number | null;
}

/** Plays commands on a store and on the model. */
export class StorePlay {
  readonly site: StoreSite;
  readonly watch: DiskWatch = new DiskWatch();
  private model = new StoreModel(overhead);
  /** The last sequence under each id. */
  private readonly ids = new Map<string, number>();
  private seconds = 1_700_000_000;

  constructor(seed: number) {
    this.site = new StoreSite(seed, { sizes: SMALL_SIZES, wrap: (io) => this.watch.watch(io) });
    this.site.open();
    this.site.putStream('S');
  }

  private get subject(): StoreSubject {
    return this.site.stream('S');
  }

  play(step: Command): void {
    switch (step.kind) {
      case 'append':
        for (const message of this.append(step.messages)) this.appeared(message);
        this.site.settle();
        break;
      case 'append and end':
        this.endAmid(this.append(step.messages), step.end);
        break;
      case 'remove':
        for (const sequence of this.remove(step.shares)) this.model.remove(sequence);
        this.site.settle();
        break;
      case 'remove and end':
        this.endAmidRemovals(this.remove(step.shares), step.end);
        break;
      case 'purge': {
        const below = Math.max(1, Math.round(step.share * this.model.lastSequence));
        this.subject.fileStore.purgeBelow(below);
        this.model.purgeBelow(below);
        this.site.settle();
        break;
      }
      case 'limits':
        this.site.putStream('S', step.limits);
        this.model.setLimits(step.limits);
        break;
      case 'checkpoint':
        this.checkpoint();
        break;
      case 'end':
        this.end(step.end);
        break;
    }
    this.check(this.model);
  }

  private append(messages: readonly NewMessage[]): Stored[] {
    return messages.map(({ subject, bytes, id }, i) => {
      const time = { seconds: this.seconds++, nanoseconds: i };
      const name = `s.${subject}`;
      const payload = String.fromCharCode(97 + (i % 26)).repeat(bytes);
      // A stream does not store what repeats an id that it knows.
      const isNew = id !== null && this.subject.ids.find(`id-${id}`, 0) === 0;
      const headers = isNew ? idHeaders(`id-${id}`) : '';
      const sequence = this.subject.fileStore.append(messageOf(name, payload, headers), time);
      if (isNew) this.subject.ids.add(`id-${id}`, sequence, time.seconds * 1000);
      return { sequence, subject: name, headers, payload, time };
    });
  }

  private remove(shares: readonly number[]): number[] {
    const { messages } = this.model;
    const chosen = shares.map((share) => messages[Math.min(messages.length - 1, Math.floor(share * messages.length))]);
    const sequences = [...new Set(chosen.flatMap((message) => message?.sequence ?? []))];
    this.subject.events.length = 0;
    for (const sequence of sequences) assert.equal(this.subject.fileStore.remove(sequence), true);
    return sequences;
  }

  private appeared(message: Stored): void {
    const id = idOf(message.headers);
    this.model.add(message);
    if (id !== null) this.ids.set(id, message.sequence);
  }

  private checkpoint(): void {
    let answers = 0;
    this.subject.fileStore.checkpoint((error) => {
      assert.equal(error, null);
      answers++;
    });
    this.site.settle();
    assert.equal(answers, 1);
  }

  /** The end comes while messages are on their way: those that were visible are there, and perhaps some more. */
  private endAmid(messages: readonly Stored[], end: Ending): void {
    this.site.world.scheduler.runFor(end.afterMs);
    const visible = messages.filter(({ sequence }) => sequence <= this.subject.fileStore.lastSequence).length;
    this.end(end);
    const present = messages.filter(({ sequence }) => sequence <= this.subject.fileStore.lastSequence).length;
    assert.ok(present >= visible, `${visible} messages were visible, ${present} are there`);
    if (end.how === 'close') assert.equal(present, messages.length);
    for (const message of messages.slice(0, present)) this.appeared(message);
  }

  private endAmidRemovals(sequences: readonly number[], end: Ending): void {
    this.site.world.scheduler.runFor(end.afterMs);
    const gone = this.subject.events.filter((event) => event.startsWith('removed')).length;
    this.end(end);
    let present = 0;
    while (present < sequences.length && !this.isThere(sequences[present] as number)) present++;
    assert.ok(present >= gone, `${gone} messages were gone, ${present} still are`);
    for (const sequence of sequences.slice(0, present)) this.model.remove(sequence);
  }

  private isThere(sequence: number): boolean {
    return readAll(this.subject.fileStore, () => this.site.settle()).some((each) => each.sequence === sequence);
  }

  /** Ends it, and opens it again. */
  private end({ how, again }: Ending): void {
    if (how === 'close') {
      this.site.close();
      assert.deepEqual(this.watch.open, [], 'files left open');
    } else this.stop(how);
    if (again !== null && how !== 'close') {
      const recovery = this.site.begin();
      for (let i = 0; i < again; i++) recovery.next();
      this.site.world.scheduler.runFor(again);
      this.stop(how);
    }
    this.site.open();
    this.site.settle();
  }

  private stop(how: Keep | 'kill'): void {
    if (how === 'kill') this.site.kill();
    else this.site.cut(how);
    // The system has closed what it had open.
    this.watch.open.length = 0;
  }

  check(model: StoreModel): void {
    const { subject, site } = this;
    const store = subject.fileStore;
    const settle = (): void => site.settle();
    const { firstTime: _, ...state } = model.state;
    assert.deepEqual(
      {
        messages: store.messages,
        bytes: store.bytes,
        firstSequence: store.firstSequence,
        lastSequence: store.lastSequence,
        subjects: store.subjects.live,
        deleted: store.messages === 0 ? 0 : store.lastSequence - store.firstSequence + 1 - store.messages,
      },
      state,
    );
    assert.deepEqual(readAll(store, settle), model.messages);
    assert.deepEqual(
      [store.lost, site.storage.report.damagedBytes, store.appendedSequence],
      [0, 0, model.lastSequence],
    );
    for (let i = 0; i < SUBJECTS; i++) {
      const number = store.subjects.findText(`s.${i}`);
      assert.equal(number < 0 ? 0 : store.subjects.count(number), model.countOf(`s.${i}`));
      assert.equal(lastOf(store, `s.${i}`, store.lastSequence, settle), model.lastOf(`s.${i}`, Infinity));
    }
    for (const [id, sequence] of this.ids) assert.equal(subject.ids.find(id, 0), sequence, `the id ${id}`);
    assert.ok(subject.knows(model.messages.map(({ sequence }) => sequence)), 'what was told is what there is');
    assert.deepEqual(this.watch.mistakes, []);
  }
}
