/**
 * A store on a machine of a simulated world: streams and consumers come from its catalog, as they do in a server, and
 * power, processes and disk are in the hand of the test.
 */
import { ConsumerLog } from '../../jetstream/consumer/consumer-log.ts';
import { ConsumerState } from '../../jetstream/consumer/consumer-state.ts';
import type { AssetHost } from '../../jetstream/store/asset-host.ts';
import type { AssetKind, CatalogEntry } from '../../jetstream/store/catalog.ts';
import type { SyncMode } from '../../jetstream/store/commit-log.ts';
import { FileStore } from '../../jetstream/store/file-store.ts';
import { Storage } from '../../jetstream/store/storage.ts';
import type { StoreLimits } from '../../jetstream/store/store.ts';
import { STORE_SIZES, type StoreSizes } from '../../jetstream/store/store-sizes.ts';
import type { Io } from '../../server/io/io.ts';
import type { Keep } from '../../server/io/simulated/file-content.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { StoreSubject } from './store-subject.ts';

export const FOLDER = '/data';
const WITHIN_MS = 600_000;

/** Files so small that a few messages fill them. */
export const SMALL_SIZES: StoreSizes = {
  segmentBytesMin: 48 * 1024,
  segmentBytesMax: 96 * 1024,
  blockBytesMax: 4096,
  tailBytesMax: 1024,
  tailsBytesMax: 1024 * 1024,
  readBytes: 1024,
  cacheBytesMax: 4096,
  indexBytesMax: 2048,
  compactRestMs: 3,
  rereadBytesMax: 8 * 1024,
  idleMs: Infinity,
};

export const NO_LIMITS: StoreLimits = { maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: 0 };

export interface TestConsumer {
  readonly number: number;
  readonly stream: string;
  readonly state: ConsumerState;
  readonly log: ConsumerLog;
}

/** Makes what the catalog says, as JetStream does. */
export class StoreHost implements AssetHost {
  readonly streams: Map<string, StoreSubject> = new Map();
  readonly consumers: Map<string, TestConsumer> = new Map();
  storage: Storage | null = null;

  assetPut(entry: CatalogEntry): void {
    if (entry.kind === 'consumer') {
      if (!this.consumers.has(entry.consumer)) this.makeConsumer(entry);
      return;
    }
    const existing = this.streams.get(entry.stream);
    if (existing === undefined) this.makeStream(entry);
    else existing.store?.setLimits(limitsOf(entry));
  }

  assetDeleted(number: number, kind: AssetKind): void {
    for (const [name, { store }] of this.streams) {
      if (kind === 'stream' && (store as FileStore).number === number) this.dropStream(name);
    }
    for (const [name, consumer] of this.consumers) if (consumer.number === number) this.dropConsumer(name);
  }

  *recoverAsset(entry: CatalogEntry): Generator<void> {
    if (entry.kind === 'stream') yield* this.makeStream(entry).recover();
    else this.makeConsumer(entry).log.recover();
  }

  private makeStream(entry: CatalogEntry): FileStore {
    const { number, stream } = entry;
    const storage = this.storage as Storage;
    const subject = new StoreSubject();
    const directory = storage.assetDirectory('stream', number);
    const store = new FileStore(storage, number, directory, subject, subject, 1);
    subject.store = store;
    store.setLimits(limitsOf(entry));
    storage.register(store);
    this.streams.set(stream, subject);
    return store;
  }

  private makeConsumer({ number, stream, consumer }: CatalogEntry): TestConsumer {
    const storage = this.storage as Storage;
    const state = new ConsumerState(1);
    const made: TestConsumer = { number, stream, state, log: new ConsumerLog(storage, number, state) };
    storage.register(made.log);
    this.consumers.set(consumer, made);
    return made;
  }

  private dropStream(name: string): void {
    const { store } = this.streams.get(name) as StoreSubject;
    this.streams.delete(name);
    for (const [consumer, { stream }] of this.consumers) if (stream === name) this.dropConsumer(consumer);
    this.storage?.unregister((store as FileStore).number);
    store?.destroy(() => undefined);
  }

  private dropConsumer(name: string): void {
    const consumer = this.consumers.get(name) as TestConsumer;
    this.consumers.delete(name);
    this.storage?.unregister(consumer.number);
    consumer.log.destroy();
  }
}

function limitsOf(entry: CatalogEntry): StoreLimits {
  return JSON.parse(entry.config) as StoreLimits;
}

export interface SiteOptions {
  readonly sizes?: StoreSizes;
  readonly syncMode?: SyncMode;
  /** Wraps what a process gets, to look at what it does with it. */
  readonly wrap?: (io: Io) => Io;
  /** The store gives memory back while it is not used. */
  readonly rests?: boolean;
}

export class StoreSite {
  readonly world: SimulatedWorld;
  readonly machine: SimulatedMachine;
  process: SimulatedProcess;
  host: StoreHost = new StoreHost();
  /** What the store that was opened last says is damaged. */
  damageNotes: string[] = [];
  private opened: Storage | null = null;
  private readonly sizes: StoreSizes;
  private readonly syncMode: SyncMode;
  private readonly wrap: (io: Io) => Io;

  constructor(
    seed: number,
    { sizes = STORE_SIZES, syncMode = 'always', wrap = (io) => io, rests = false }: SiteOptions = {},
  ) {
    this.world = new SimulatedWorld(seed);
    this.machine = this.world.machine('site');
    // Whoever waits until nothing is on its way would wait until everything is out of memory again.
    this.sizes = rests ? sizes : { ...sizes, idleMs: Infinity };
    this.syncMode = syncMode;
    this.wrap = wrap;
    this.process = this.machine.start();
  }

  get storage(): Storage {
    if (this.opened === null) throw new Error('the store is not open');
    return this.opened;
  }

  /** Starts a process whose store is there; its recovery is left to the caller. */
  begin(): Generator<void> {
    if (!this.process.isAlive) this.process = this.machine.start();
    this.host = new StoreHost();
    this.opened = new Storage(this.wrap(this.process.io), FOLDER, this.syncMode, this.host, this.sizes);
    this.host.storage = this.opened;
    const notes: string[] = (this.damageNotes = []);
    this.opened.files.damage.onNote = (text) => notes.push(text);
    return this.opened.recover();
  }

  open(): void {
    const recovery = this.begin();
    while (recovery.next().done !== true);
  }

  /** The store is closed in order. */
  close(): void {
    let isClosed = false;
    this.storage.close(() => (isClosed = true));
    this.until(() => isClosed, 'the store to close');
    this.opened = null;
    this.process.kill();
  }

  kill(): void {
    this.opened = null;
    this.process.kill();
  }

  cut(keep: Keep = 'seeded'): void {
    this.opened = null;
    this.machine.powerCut(keep);
  }

  until(condition: () => boolean, what: string): void {
    this.world.scheduler.runUntil(condition, what, WITHIN_MS);
  }

  /** Lets everything happen that is on its way. */
  settle(): void {
    this.world.scheduler.runUntilIdle(WITHIN_MS);
  }

  stream(name: string): StoreSubject {
    const subject = this.host.streams.get(name);
    if (subject === undefined) throw new Error(`there is no stream ${name}`);
    return subject;
  }

  consumer(name: string): TestConsumer {
    const consumer = this.host.consumers.get(name);
    if (consumer === undefined) throw new Error(`there is no consumer ${name}`);
    return consumer;
  }

  /** Makes a stream, or gives it other limits; waits until that is durable. */
  putStream(name: string, limits: StoreLimits = NO_LIMITS): StoreSubject {
    this.putStreamLater(name, limits, () => undefined);
    this.until(() => this.host.streams.has(name), 'a stream');
    this.settle();
    return this.stream(name);
  }

  putStreamLater(name: string, limits: StoreLimits, done: () => void): void {
    const existing = this.host.streams.get(name)?.fileStore.number;
    const number = existing ?? this.storage.takeNumber();
    this.storage.change({ put: { ...entryOf(number, name), kind: 'stream', config: JSON.stringify(limits) } }, done);
  }

  putConsumer(stream: string, name: string): TestConsumer {
    this.putConsumerLater(stream, name, () => undefined);
    this.until(() => this.host.consumers.has(name), 'a consumer');
    return this.consumer(name);
  }

  putConsumerLater(stream: string, name: string, done: () => void): void {
    const number = this.host.consumers.get(name)?.number ?? this.storage.takeNumber();
    const entry: CatalogEntry = { ...entryOf(number, stream), kind: 'consumer', consumer: name, config: '{}' };
    this.storage.change({ put: entry }, done);
  }

  deleteLater(kind: AssetKind, number: number, done: () => void): void {
    this.storage.change({ delete: { number, kind } }, done);
  }
}

function entryOf(number: number, stream: string): Omit<CatalogEntry, 'kind' | 'config'> {
  return { number, account: '$G', stream, consumer: '', created: '2026-01-01T00:00:00Z' };
}
