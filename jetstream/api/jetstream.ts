/**
 * JetStream on one server: the storage, the streams and consumers of every account, and the way they come to be. A change
 * is made durable in the catalog first; what then happens is the same at start, when the change is read again.
 *
 *     API ─► storage.change ─durable─► assetPut / assetDeleted ─► Stream, Consumer
 *                                           ▲
 *     start: catalog, log ──────────────────┘
 *
 * Streams in memory, and consumers on them, are in no catalog: they are made and dropped at once, by the same functions.
 */

import type { Account } from '../../server/account/account.ts';
import type { JetStreamOptions } from '../../server/config/options.ts';
import type { Io } from '../../server/io/io.ts';
import type { Log } from '../../server/io/log.ts';
import { NoticePace } from '../../server/io/notice-pace.ts';
import { runSliced } from '../../server/io/slicer.ts';
import type { ConsumerConfig } from '../consumer/consumer-config.ts';
import { Consumer } from '../consumer/consumer.ts';
import type { ConsumerOrigin } from '../consumer/starting-sequence.ts';
import { SHUTDOWN } from '../consumer/waiting-pulls.ts';
import type { AssetHost } from '../store/asset-host.ts';
import type { AssetKind, CatalogChange, CatalogEntry } from '../store/catalog.ts';
import { FileStore } from '../store/file-store.ts';
import { Storage } from '../store/storage.ts';
import { STORE_SIZES, type StoreSizes } from '../store/store-sizes.ts';
import { Advisories } from '../advisories.ts';
import type { BatchUse } from '../stream/batch-table.ts';
import type { StreamConfig } from '../stream/stream-config.ts';
import type { StorageUse, StreamHost } from '../stream/stream-host.ts';
import { Stream } from '../stream/stream.ts';
import { AccountSwitch, stopEntry } from './account-switch.ts';
import { ApiDoors } from './api-doors.ts';
import { decodeConsumerEntry, decodeStreamEntry, encodeConsumerEntry, encodeStreamEntry } from './catalog-entries.ts';
import { DiskWatch } from './disk-watch.ts';
import type { JetStreamAccount } from './jetstream-account.ts';
import { RecoveryLog } from './recovery-log.ts';
import { adviseStreamAction } from './stream-advisories.ts';
import type { StreamEntry } from './stream-entry.ts';
import { StreamServices } from './stream-services.ts';

/** Numbers of assets that are in no catalog. */
const MEMORY_NUMBERS_FROM = 2 ** 31;
/** That streams hold more than they may is said again after this. */
const RESOURCE_NOTICE_MS = 10_000;

export interface JetStreamSite {
  readonly io: Io;
  readonly log: Log;
  readonly serverName: string;
  /** Bytes that a client may have unsent. */
  readonly maxPendingBytes: number;
  /** The accounts that have JetStream. */
  readonly accounts: readonly Account[];
  /** Those that may come to have it. */
  readonly otherAccounts?: readonly Account[];
  /** Accounts of this server itself. */
  readonly internalAccounts?: readonly Account[];
  /** Hears what concerns the whole server. */
  readonly systemAccount: Account;
}

export class JetStream implements AssetHost, StreamHost {
  readonly io: Io;
  readonly log: Log;
  readonly serverName: string;
  readonly domain: string;
  options: JetStreamOptions;
  readonly storage: Storage;
  readonly storeDirectory: string;
  readonly fileUse: StorageUse;
  readonly memoryUse: StorageUse;
  readonly resourceNotices: NoticePace = new NoticePace(RESOURCE_NOTICE_MS);
  readonly advisories: Advisories;
  readonly batchUse: BatchUse = { atomicBatches: 0, fastBatches: 0, stagedBytes: 0 };
  readonly maxPendingBytes: number;
  readonly maxBufferedBytes: number;
  readonly maxBufferedMessages: number;
  /** Those that are served. */
  readonly accounts: ReadonlyMap<string, JetStreamAccount>;
  readonly switch: AccountSwitch;
  readonly doors: ApiDoors = new ApiDoors(this);

  readonly recovery: RecoveryLog = new RecoveryLog(this);
  readonly disk: DiskWatch = new DiskWatch(this);

  private nextMemoryNumber = MEMORY_NUMBERS_FROM;
  isServing = false;

  /** Claims the store directory. Throws a `StoreError` when that is not possible. */
  constructor(
    site: JetStreamSite,
    options: JetStreamOptions,
    storeDirectory: string,
    limits: StorageLimits,
    sizes: StoreSizes = STORE_SIZES,
  ) {
    this.io = site.io;
    this.log = site.log;
    this.serverName = site.serverName;
    this.options = options;
    this.domain = options.domain;
    this.advisories = new Advisories(site.io, options.domain, site.systemAccount);
    this.storeDirectory = storeDirectory;
    this.fileUse = { bytes: 0, bytesMax: limits.fileBytes };
    this.memoryUse = { bytes: 0, bytesMax: limits.memoryBytes };
    this.maxPendingBytes = site.maxPendingBytes;
    this.maxBufferedBytes = options.maxBufferedBytes;
    this.maxBufferedMessages = options.maxBufferedMessages;
    this.switch = new AccountSwitch(this, site.accounts, site.otherAccounts ?? [], site.internalAccounts ?? []);
    this.accounts = this.switch.served;
    const syncMode = options.syncsAlways ? 'always' : options.syncIntervalMs;
    this.storage = new Storage(site.io, storeDirectory, syncMode, this, sizes);
    this.storage.files.damage.onNote = (text) => this.log.error(text);
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Brings back what is stored; `done` when every stream can be used. */
  start(done: () => void): void {
    this.recovery.begin();
    runSliced(this.io, this.storage.recover(), () => {
      this.recovery.end();
      this.disk.start();
      this.isServing = true;
      for (const owner of this.accounts.values()) this.serveAccount(owner);
      done();
    });
  }

  /** Takes no more messages or requests, and brings everything to the disk. */
  close(done: () => void): void {
    this.isServing = false;
    this.recovery.stop();
    this.disk.stop();
    this.doors.closeAll();
    for (const { streams } of this.accounts.values()) for (const entry of streams.values()) stopEntry(entry, SHUTDOWN);
    this.storage.close(done);
  }

  /** Clients are about to be let go: whoever waits for messages hears that there will be none. */
  stopConsumers(): void {
    for (const { streams } of this.accounts.values()) {
      for (const { consumers } of streams.values()) for (const each of consumers.values()) each.stop(SHUTDOWN);
    }
  }

  /** Other limits, from the next stream or consumer on. */
  reconfigure(options: JetStreamOptions): void {
    this.options = options;
    this.fileUse.bytesMax = Math.max(this.fileUse.bytesMax, options.maxFileBytes ?? 0);
    this.memoryUse.bytesMax = Math.max(this.memoryUse.bytesMax, options.maxMemoryBytes ?? 0);
  }

  accountOf(name: string): JetStreamAccount {
    const account = this.accounts.get(name);
    if (account === undefined) throw new Error(`account ${name} has no JetStream`);
    return account;
  }

  /** Begins to answer, and to take messages, in an account. */
  serveAccount(owner: JetStreamAccount): void {
    for (const entry of owner.streams.values()) this.serve(entry);
    this.doors.open(owner);
  }

  private serve({ stream, consumers, services }: StreamEntry): void {
    stream.start();
    services.start();
    for (const consumer of consumers.values()) this.serveConsumer(stream, consumer);
  }

  private serveConsumer(stream: Stream, consumer: Consumer): void {
    stream.interest.add(consumer);
    consumer.onInactive = () => this.deleteConsumer(consumer, () => undefined);
    consumer.start();
  }

  // ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Makes or changes a stream; `done` when that is durable. False: the configuration is larger than the log takes. */
  putStream(
    account: string,
    config: StreamConfig,
    existing: Stream | null,
    created: string,
    done: () => void,
  ): boolean {
    const isStored = config.storage === 'file';
    const number = existing?.number ?? this.nextNumber(isStored);
    return this.change(isStored, { put: encodeStreamEntry(number, account, config, created) }, done);
  }

  /** Makes or changes a consumer that began, or begins, at `origin`. False as for streams. */
  putConsumer(
    entry: StreamEntry,
    config: ConsumerConfig,
    existing: Consumer | null,
    origin: ConsumerOrigin,
    created: string,
    done: () => void,
  ): boolean {
    const isStored = entry.stream.config.storage === 'file' && !config.memStorage && !config.direct;
    const number = existing?.number ?? this.nextNumber(isStored);
    const { account, name } = entry.stream;
    const put = encodeConsumerEntry(number, account.name, name, config, origin, created);
    return this.change(isStored, { put }, existing === null ? done : () => entry.stream.whenReviewed(done));
  }

  deleteStream(stream: Stream, done: () => void): void {
    this.change(stream.config.storage === 'file', { delete: { number: stream.number, kind: 'stream' } }, done);
  }

  deleteConsumer(consumer: Consumer, done: () => void): void {
    const { account, name } = consumer.stream;
    const stream = this.accounts.get(account.name)?.streams.get(name)?.stream;
    const deleted = (): void => (stream === undefined ? done() : stream.whenReviewed(done));
    this.change(consumer.log !== null, { delete: { number: consumer.number, kind: 'consumer' } }, deleted);
  }

  private change(isStored: boolean, change: CatalogChange, done: () => void): boolean {
    if (isStored) return this.storage.change(change, done);
    if ('put' in change) this.assetPut(change.put);
    else this.assetDeleted(change.delete.number, change.delete.kind);
    done();
    return true;
  }

  private nextNumber(isStored: boolean): number {
    return isStored ? this.storage.takeNumber() : this.nextMemoryNumber++;
  }

  // ── assets ───────────────────────────────────────────────────────────────────────────────────────────────────────

  assetPut(entry: CatalogEntry): void {
    const account = this.switch.found(entry.account);
    if (account === null) return;
    if (entry.kind === 'stream') this.streamPut(account, entry);
    else this.consumerPut(account, entry);
  }

  private streamPut(account: JetStreamAccount, entry: CatalogEntry): void {
    const config = decodeStreamEntry(entry);
    const existing = account.streams.get(entry.stream);
    if (existing !== undefined) {
      existing.stream.update(config);
      if (!this.isServing) return;
      existing.services.update();
      adviseStreamAction(existing.stream, 'modify');
      return;
    }
    const made = this.makeStream(account, entry, config);
    if (!this.isServing) return;
    this.serve(made);
    adviseStreamAction(made.stream, 'create');
  }

  private makeStream(account: JetStreamAccount, entry: CatalogEntry, config: StreamConfig): StreamEntry {
    const stream = new Stream(entry.number, account.account, this, config, entry.created, account.use);
    if (stream.store instanceof FileStore) this.storage.register(stream.store);
    const made: StreamEntry = { stream, consumers: new Map(), services: new StreamServices(stream) };
    account.streams.set(entry.stream, made);
    return made;
  }

  private consumerPut(account: JetStreamAccount, entry: CatalogEntry): void {
    const parent = account.streams.get(entry.stream);
    if (parent === undefined) return;
    const { config } = decodeConsumerEntry(entry);
    const existing = parent.consumers.get(entry.consumer);
    if (existing !== undefined) {
      if (!this.isServing) {
        existing.restore(config);
        return;
      }
      existing.update(config);
      parent.stream.interest.changed();
      return;
    }
    const consumer = this.makeConsumer(parent, entry);
    if (!this.isServing) return;
    this.serveConsumer(parent.stream, consumer);
    consumer.advisories.created();
    if (consumer.pause.isPaused) consumer.advisories.paused();
  }

  private makeConsumer(parent: StreamEntry, entry: CatalogEntry): Consumer {
    const { config, origin } = decodeConsumerEntry(entry);
    const isStored = entry.number < MEMORY_NUMBERS_FROM;
    const consumer = new Consumer(entry.number, parent.stream, config, entry.created, origin, isStored);
    if (consumer.log !== null) this.storage.register(consumer.log);
    parent.consumers.set(entry.consumer, consumer);
    return consumer;
  }

  assetDeleted(number: number, kind: AssetKind): void {
    for (const account of this.switch.all()) {
      for (const [name, entry] of account.streams) {
        if (kind === 'stream' && entry.stream.number === number) this.dropStream(account, name, entry);
        else if (kind === 'consumer') this.dropConsumer(entry, number);
      }
    }
  }

  private dropStream(account: JetStreamAccount, name: string, entry: StreamEntry): void {
    account.streams.delete(name);
    entry.stream.interest.stop();
    for (const consumer of entry.consumers.values()) this.dropConsumer(entry, consumer.number);
    entry.services.end();
    entry.stream.stop();
    this.storage.unregister(entry.stream.number);
    entry.stream.destroy(() => undefined);
    if (this.isServing) adviseStreamAction(entry.stream, 'delete');
  }

  private dropConsumer(entry: StreamEntry, number: number): void {
    for (const [name, consumer] of entry.consumers) {
      if (consumer.number !== number) continue;
      entry.consumers.delete(name);
      consumer.stop('409 Consumer Deleted');
      if (this.isServing) consumer.advisories.deleted();
      this.storage.unregister(number);
      consumer.log?.destroy();
      entry.stream.interest.remove(consumer);
      entry.stream.interest.changed();
    }
  }

  *recoverAsset(entry: CatalogEntry): Generator<void> {
    const account = this.switch.found(entry.account);
    if (account === null) return;
    if (entry.kind === 'stream') {
      if (this.accounts.has(entry.account)) this.recovery.streamBegins(entry.account, entry.stream);
      const { stream } = this.makeStream(account, entry, decodeStreamEntry(entry));
      if (stream.store instanceof FileStore) yield* stream.store.recover();
      return;
    }
    const parent = account.streams.get(entry.stream);
    if (parent !== undefined) this.makeConsumer(parent, entry).log?.recover();
  }
}

export interface StorageLimits {
  readonly fileBytes: number;
  readonly memoryBytes: number;
}
