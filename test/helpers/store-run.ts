/**
 * A whole store under load on a disk that fails as the seed says, through several lives: streams and consumers come and
 * go, and whatever was acknowledged has to be there in the next life, once and in order.
 */
import { strict as assert } from 'node:assert';
import type { ConsumerState } from '../../jetstream/consumer/consumer-state.ts';
import type { StoreLimits } from '../../jetstream/store/store.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { FileStore } from '../../jetstream/store/file-store.ts';
import { DiskWatch } from './store-checked-disk.ts';
import { flipSomewhere } from './store-damage.ts';
import { ConsumerLedger, StreamLedger } from './store-ledger.ts';
import { idHeaders, idOf, messageOf, readAll, type Stored } from './store-messages.ts';
import { NO_LIMITS, SMALL_SIZES, StoreSite } from './store-site.ts';
import type { StoreSubject } from './store-subject.ts';

export interface RunOptions {
  /** What may go wrong besides ends. */
  readonly faults: readonly Fault[];
  readonly lives: number;
  readonly actions: number;
  /** Bits that flip between two lives. */
  readonly flips?: number;
  /** The disk is full at most starts, and stays so for a life. */
  readonly fullStarts?: boolean;
}

export type Fault = 'write errors' | 'sync errors' | 'short writes' | 'read errors' | 'slow syncs' | 'full disk';

const STREAMS_MAX = 4;
const CONSUMERS_MAX = 4;
const ROOMY_BYTES = 2 ** 34;
/** Less than a segment. */
const FULL_BYTES_LEFT_MAX = 40_000;
/** On a full disk something is tried again without end. */
const FULL_REST_MS = 2000;

type Fate = 'there' | 'coming' | 'going' | 'gone';

interface KnownStream {
  readonly ledger: StreamLedger;
  fate: Fate;
}

interface KnownConsumer {
  readonly stream: string;
  readonly ledger: ConsumerLedger;
  fate: Fate;
}

export class StoreRun {
  readonly site: StoreSite;
  readonly watch: DiskWatch = new DiskWatch();
  private readonly random: SeededRandom;
  private readonly options: RunOptions;
  private readonly streams = new Map<string, KnownStream>();
  private readonly consumers = new Map<string, KnownConsumer>();
  private seconds = 1_700_000_000;
  private names = 0;
  /** Callbacks that have to come while this life lasts. */
  private owed = 0;
  private life = 0;
  /** What can't be read may be missed in this life. */
  private isDamaged = false;
  /** The disk is full for all of this life. */
  private isFull = false;

  constructor(seed: number, options: RunOptions) {
    this.options = options;
    this.site = new StoreSite(seed, { sizes: SMALL_SIZES, wrap: (io) => this.watch.watch(io) });
    this.random = this.site.world.random;
  }

  /** Lives as often as the options say; throws where something was lost. */
  run(): void {
    for (this.life = 0; this.life < this.options.lives; this.life++) {
      this.begin();
      this.live();
      this.end();
    }
    this.begin();
    this.calm();
    this.checkSettled();
    this.site.close();
    assert.deepEqual(this.watch.open, [], 'files left open');
    assert.deepEqual(this.watch.mistakes, []);
  }

  // ── lives ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private begin(): void {
    const { random, site } = this;
    this.setFaults([]);
    for (let attempt = random.chance(0.3) ? random.between(1, 3) : 0; attempt > 0; attempt--) {
      const recovery = site.begin();
      for (let steps = random.below(12); steps > 0 && recovery.next().done !== true; steps--);
      site.world.scheduler.runFor(random.below(5));
      this.stop();
    }
    this.owed = 0;
    this.isFull = this.options.fullStarts === true && this.streams.size > 0 && random.chance(0.7);
    const { disk } = site.machine;
    if (this.isFull) disk.capacityBytes -= disk.freeBytes - random.below(FULL_BYTES_LEFT_MAX);
    site.open();
    this.rest();
    this.checkReopened();
  }

  private live(): void {
    const { random, site, options } = this;
    if (!this.isFull) this.setFaults(options.faults);
    for (let action = random.between(1, options.actions); action > 0; action--) {
      this.act();
      if (random.chance(0.6)) site.world.scheduler.runFor(random.magnitude(20_000) / 1000);
      if (random.chance(0.1) && !this.isFull) this.setFaults(options.faults);
    }
    if (random.chance(0.4)) {
      this.calm();
      this.checkSettled();
    }
  }

  private end(): void {
    const { random, site } = this;
    if (random.chance(0.25)) {
      this.setFaults([]);
      site.close();
      assert.deepEqual(this.watch.open, [], 'files left open');
    } else this.stop();
    this.watch.open.length = 0;
    this.damage();
  }

  /** Bits flip on the device while nobody looks. What that may cost is forgiven, and nothing else. */
  private damage(): void {
    const { random, site, options } = this;
    const view = site.machine.start();
    for (let flips = random.below((options.flips ?? 0) + 1); flips > 0; flips--) {
      for (const { asset, sequence } of flipSomewhere(site.machine.disk, view.io.disk, random) ?? []) {
        for (const [name, { store }] of site.host.streams) {
          if ((store as FileStore).number !== asset) continue;
          const { ledger } = this.streams.get(name) as KnownStream;
          if (sequence > 0) ledger.damaged.add(sequence);
          else ledger.isVague = true;
        }
        for (const [name, { number }] of site.host.consumers)
          if (number === asset) this.consumers.get(name)?.ledger.forgive();
        this.isDamaged = true;
      }
    }
    view.kill();
  }

  private stop(): void {
    if (this.random.chance(0.3)) this.site.kill();
    else this.site.cut(this.random.pick(['none', 'all', 'seeded', 'seeded']));
    this.watch.open.length = 0;
  }

  /** Lets everything happen that is on its way. */
  private rest(): void {
    if (this.isFull) this.site.world.scheduler.runFor(FULL_REST_MS);
    else this.site.settle();
  }

  /** Nothing goes wrong any more, and everything that was begun comes to its end. */
  private calm(): void {
    this.isFull = false;
    this.setFaults([]);
    this.site.settle();
    assert.equal(this.owed, 0, 'callbacks that never came');
  }

  private setFaults(faults: readonly Fault[]): void {
    const { random, site } = this;
    const { rates } = site.machine.disk.faults;
    const rate = (fault: Fault, most: number): number =>
      faults.includes(fault) && random.chance(0.5) ? random.fraction() * most : 0;
    rates.writeError = rate('write errors', 0.3);
    rates.syncError = rate('sync errors', 0.3);
    rates.shortWrite = rate('short writes', 0.3);
    rates.readError = rate('read errors', 0.5);
    rates.slowSync = rate('slow syncs', 0.3);
    const { disk } = site.machine;
    const isFull = faults.includes('full disk') && random.chance(0.4);
    disk.capacityBytes = ROOMY_BYTES;
    if (isFull) disk.capacityBytes = ROOMY_BYTES - disk.freeBytes + random.below(100_000);
  }

  // ── what is done ─────────────────────────────────────────────────────────────────────────────────────────────────

  private act(): void {
    const { random } = this;
    const actions = ['publish', 'publish', 'publish', 'publish', 'consume', 'consume', 'acknowledge', 'acknowledge'];
    switch (random.pick([...actions, 'remove', 'thin out', 'purge', 'read', 'make', 'make', 'drop'])) {
      case 'publish':
        this.publish();
        break;
      case 'consume':
        this.consume();
        break;
      case 'acknowledge':
        this.acknowledge();
        break;
      case 'remove':
        this.remove();
        break;
      case 'thin out':
        this.thinOut();
        break;
      case 'purge':
        this.purge();
        break;
      case 'read':
        this.read();
        break;
      case 'make':
        this.make();
        break;
      default:
        this.drop();
    }
  }

  private publish(): void {
    const { random, site } = this;
    const name = this.someStream();
    if (name === null) return;
    const { ledger } = this.streams.get(name) as KnownStream;
    const subject = site.stream(name);
    const { log, files } = site.storage;
    for (let count = random.magnitude(40); count > 0; count--) {
      // As a stream does: while the disk fails nothing new is taken.
      if (!log.acceptsMessages || files.writeError !== null) return;
      const bytes = random.chance(0.03) ? random.between(32_000, 60_000) : random.magnitude(1500);
      const id = random.chance(0.3) ? `id-${random.below(500)}` : null;
      if (id !== null && subject.ids.find(id, 0) > 0) continue;
      const payload = String.fromCharCode(97 + random.below(26)).repeat(bytes);
      const headers = id === null ? '' : idHeaders(id);
      const time = { seconds: this.seconds++, nanoseconds: random.below(1e9) };
      const text = `${name}.${random.below(5)}`;
      const sequence = subject.fileStore.append(messageOf(text, payload, headers), time);
      assert.ok(!ledger.appended.has(sequence), `sequence ${sequence} of ${name} is used again`);
      ledger.appended.set(sequence, { sequence, subject: text, headers, payload, time });
      if (id !== null) subject.ids.add(id, sequence, time.seconds * 1000);
    }
  }

  private consume(): void {
    const { random, site } = this;
    const name = this.someConsumer();
    if (name === null) return;
    const { ledger, stream } = this.consumers.get(name) as KnownConsumer;
    const { state, log } = site.consumer(name);
    const { fileStore: store } = site.stream(stream);
    for (let count = random.magnitude(30); count > 0; count--) {
      const sequence = store.next(state.nextStream, null);
      if (sequence <= 0) break;
      const deadline = this.seconds * 1000 + random.below(1000);
      log.delivered(sequence, 1, deadline);
      const apply = (target: ConsumerState): void => void target.delivered(sequence, 1, deadline);
      apply(state);
      ledger.note(apply);
    }
    this.whenDurable(name);
  }

  private acknowledge(): void {
    const { random, site } = this;
    const name = this.someConsumer();
    if (name === null) return;
    const { ledger } = this.consumers.get(name) as KnownConsumer;
    const { state, log } = site.consumer(name);
    for (let row = state.pending.firstRow; row >= 0;) {
      const sequence = state.pending.sequence(row);
      row = state.pending.nextRow(row);
      const choice = random.below(6);
      if (choice < 3) {
        log.settled(sequence);
        const apply = (target: ConsumerState): void => void target.settled(sequence);
        apply(state);
        ledger.note(apply);
      } else if (choice === 3) {
        const deliveries = random.between(2, 5);
        log.delivered(sequence, deliveries, deliveries);
        const apply = (target: ConsumerState): void => void target.delivered(sequence, deliveries, deliveries);
        apply(state);
        ledger.note(apply);
      }
    }
    this.whenDurable(name);
  }

  private whenDurable(name: string): void {
    if (this.random.chance(0.3)) return;
    const { ledger } = this.consumers.get(name) as KnownConsumer;
    const count = ledger.length;
    this.owe((paid) => {
      this.site.consumer(name).log.whenDurable(() => {
        ledger.isDurable(count);
        paid();
      });
    });
  }

  private remove(): void {
    const { random, site } = this;
    const name = this.someStream();
    const known = name === null ? undefined : this.streams.get(name);
    if (name === null || known === undefined || known.ledger.limits !== NO_LIMITS) return;
    const store = site.stream(name).fileStore;
    for (let count = random.magnitude(12); count > 0; count--) {
      const sequence = random.between(store.firstSequence, Math.max(store.firstSequence, store.lastSequence));
      if (store.remove(sequence)) known.ledger.going.add(sequence);
    }
    if (random.chance(0.5)) this.owe((paid) => store.whenDurable(paid));
  }

  /** Removes most messages of a range, so that blocks are written anew. */
  private thinOut(): void {
    const { random, site } = this;
    const name = this.someStream();
    const known = name === null ? undefined : this.streams.get(name);
    if (name === null || known === undefined || known.ledger.limits !== NO_LIMITS) return;
    const store = site.stream(name).fileStore;
    const from = random.between(store.firstSequence, Math.max(store.firstSequence, store.lastSequence));
    for (let each = from; each < from + 100 && each <= store.lastSequence; each++) {
      if (random.chance(0.8) && store.remove(each)) known.ledger.going.add(each);
    }
  }

  private purge(): void {
    const { random, site } = this;
    const name = this.someStream();
    const known = name === null ? undefined : this.streams.get(name);
    if (name === null || known === undefined || known.ledger.limits !== NO_LIMITS || random.chance(0.5)) return;
    const store = site.stream(name).fileStore;
    const below = random.between(store.firstSequence, store.lastSequence + 1);
    store.purgeBelow(below);
    known.ledger.purging = Math.max(known.ledger.purging, below);
    this.owe((paid) => store.whenDurable(paid));
  }

  /** Reads something, which may take several attempts while the disk fails. */
  private read(): void {
    const name = this.someStream();
    if (name === null) return;
    const { store } = this.site.stream(name);
    if (store === null || store.messages === 0) return;
    const sequence = this.random.between(store.firstSequence, store.lastSequence);
    this.owe((paid) => store.whenReadable(sequence, paid));
  }

  private make(): void {
    const { random, site } = this;
    const streams = this.namesOf(this.streams, 'there');
    if (streams.length === 0 || (streams.length < STREAMS_MAX && random.chance(0.4))) {
      const name = `s${this.names++}`;
      const known: KnownStream = { ledger: new StreamLedger(this.someLimits()), fate: 'coming' };
      this.streams.set(name, known);
      this.owe((paid) =>
        site.putStreamLater(name, known.ledger.limits, () => {
          known.fate = 'there';
          this.listen(name);
          paid();
        }),
      );
    } else if (this.namesOf(this.consumers, 'there').length < CONSUMERS_MAX) {
      const name = `c${this.names++}`;
      const known: KnownConsumer = { stream: random.pick(streams), ledger: new ConsumerLedger(), fate: 'coming' };
      this.consumers.set(name, known);
      this.owe((paid) =>
        site.putConsumerLater(known.stream, name, () => {
          known.fate = this.streams.get(known.stream)?.fate === 'gone' ? 'gone' : 'there';
          paid();
        }),
      );
    }
  }

  private drop(): void {
    const { random, site } = this;
    const name = random.chance(0.4) ? this.someStream() : this.someConsumer();
    if (name === null || random.chance(0.5)) return;
    const isStream = this.streams.has(name);
    const known = (isStream ? this.streams.get(name) : this.consumers.get(name)) as KnownStream | KnownConsumer;
    const number = isStream ? site.stream(name).fileStore.number : site.consumer(name).number;
    known.fate = 'going';
    this.owe((paid) =>
      site.deleteLater(isStream ? 'stream' : 'consumer', number, () => {
        known.fate = 'gone';
        if (isStream) for (const each of this.consumers.values()) if (each.stream === name) each.fate = 'gone';
        paid();
      }),
    );
  }

  /** Begins something whose callback has to come once, unless its life ends before. */
  private owe(begin: (paid: () => void) => void): void {
    const { life } = this;
    let isPaid = false;
    this.owed++;
    begin(() => {
      assert.ok(!isPaid, 'a callback comes once');
      assert.equal(life, this.life, 'no callback comes from a life that is over');
      isPaid = true;
      this.owed--;
    });
  }

  private someLimits(): StoreLimits {
    const { random } = this;
    // What limits remove depends on every message before.
    if ((this.options.flips ?? 0) > 0) return NO_LIMITS;
    return random.pick([
      NO_LIMITS,
      NO_LIMITS,
      { maxMessages: random.between(1, 60), maxBytes: 0, maxMessagesPerSubject: 0 },
      { maxMessages: 0, maxBytes: random.between(500, 20_000), maxMessagesPerSubject: 0 },
      { maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: random.between(1, 5) },
      { maxMessages: 50, maxBytes: 9000, maxMessagesPerSubject: 7 },
    ]);
  }

  private someStream(): string | null {
    return this.someOf(this.namesOf(this.streams, 'there'));
  }

  private someConsumer(): string | null {
    const names = this.namesOf(this.consumers, 'there');
    return this.someOf(names.filter((name) => this.site.host.consumers.has(name)));
  }

  private someOf(names: readonly string[]): string | null {
    return names.length === 0 ? null : this.random.pick(names);
  }

  private namesOf(known: ReadonlyMap<string, KnownStream | KnownConsumer>, fate: Fate): string[] {
    return [...known].filter(([, each]) => each.fate === fate).map(([name]) => name);
  }

  /** Notes what the stream is told. */
  private listen(name: string): void {
    const { ledger } = this.streams.get(name) as KnownStream;
    const subject = this.site.stream(name);
    subject.onStored = (from, to) => {
      for (let each = from; each <= to; each++) if (ledger.appended.has(each)) ledger.visible.add(each);
    };
    subject.onRemoved = (sequence) => ledger.gone.add(sequence);
    subject.onPurged = (below) => {
      ledger.purged = Math.max(ledger.purged, below);
    };
  }

  // ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────

  private checkReopened(): void {
    const { site } = this;
    const { report, files } = site.storage;
    if ((this.options.flips ?? 0) === 0) {
      assert.deepEqual([report.damagedBytes, report.movedAside], [0, []]);
      // What was on its way when it all ended is no damage.
      assert.deepEqual(site.damageNotes, []);
    }
    this.checkFates(this.streams, site.host.streams);
    for (const [name, { ledger }] of this.streams) {
      if (!site.host.streams.has(name)) continue;
      const subject = site.stream(name);
      const found = this.readAll(subject);
      const missing = ledger.reopened(found, subject.fileStore.lastSequence);
      assert.ok(
        missing <= subject.fileStore.lost + (report.damagedBytes > 0 ? 1 : 0) * missing,
        'what is lost is counted',
      );
      if (!this.isDamaged) this.checkIds(subject, ledger);
      if ((this.options.flips ?? 0) === 0) assert.equal(subject.fileStore.lost, 0);
      this.listen(name);
    }
    this.isDamaged = false;
    this.checkFates(this.consumers, site.host.consumers);
    for (const [name, { ledger }] of this.consumers) {
      if (site.host.consumers.has(name)) ledger.reopened(site.consumer(name).state);
    }
    assert.deepEqual(this.watch.mistakes, []);
    if (!this.isFull) assert.equal(files.queuedBytes, 0);
  }

  /** What was durably made is there, what was durably deleted is not; the rest is decided now. */
  private checkFates(known: Map<string, KnownStream | KnownConsumer>, found: ReadonlyMap<string, unknown>): void {
    for (const [name, each] of known) {
      const isThere = found.has(name);
      const isOrphan = 'stream' in each && !this.site.host.streams.has(each.stream);
      if (each.fate === 'there' && !isOrphan) assert.ok(isThere, `${name} was made and is not there`);
      if (each.fate === 'gone') assert.ok(!isThere, `${name} was deleted and is there`);
      each.fate = isThere ? 'there' : 'gone';
    }
    for (const name of found.keys()) assert.ok(known.has(name), `nobody made ${name}`);
  }

  private checkIds(subject: StoreSubject, ledger: StreamLedger): void {
    const unasked = new Set(ledger.unasked.map(({ headers }) => idOf(headers)));
    for (const { headers, sequence } of ledger.appended.values()) {
      const id = idOf(headers);
      // Its message was published again, since nobody knew of it.
      if (unasked.has(id)) continue;
      // Where both checkpoints are damaged, the ids are those of the messages that are there.
      if ((this.options.flips ?? 0) > 0 && ledger.gone.has(sequence)) continue;
      if (id !== null) assert.equal(subject.ids.find(id, 0), sequence, `the id ${id}`);
    }
  }

  private checkSettled(): void {
    const { site } = this;
    const { log, files } = site.storage;
    assert.deepEqual([log.error, files.writeError, log.acceptsMessages], [null, null, true]);
    assert.deepEqual([log.pendingBytes, files.queuedBytes], [0, 0]);
    let tails = 0;
    for (const [name, { ledger, fate }] of this.streams) {
      if (fate !== 'there') continue;
      const store = site.stream(name).fileStore;
      assert.equal(store.lastSequence, store.appendedSequence, 'what was appended is visible');
      ledger.settled(this.readAll(site.stream(name)));
      for (const block of store.list.blocks)
        tails += (block.bytes as unknown as Tail).tailEnd - (block.bytes as unknown as Tail).tailStart;
    }
    assert.equal(files.tailBytes, tails, 'the tails are counted');
    for (const [name, { ledger }] of this.consumers) if (site.host.consumers.has(name)) ledger.isDurable(ledger.length);
    assert.ok(files.cache.bytes <= SMALL_SIZES.cacheBytesMax + 70_000, 'the cache keeps its bound');
  }

  private readAll(subject: StoreSubject): Stored[] {
    return readAll(subject.fileStore, () => this.rest());
  }
}

interface Tail {
  readonly tailStart: number;
  readonly tailEnd: number;
}
