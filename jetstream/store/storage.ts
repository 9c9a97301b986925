/**
 * Everything that one server keeps on disk:
 *
 *     <store_dir>/petiole/format            magic and version of all this; locked while a server uses it
 *                         catalog.0.db …1   which assets there are
 *                         log/000000.seg    the commit log
 *                         streams/<n>/      blocks and checkpoints of one stream
 *                         consumers/<n>/    checkpoints of one consumer
 *
 * Recovery: the newest intact catalog says which assets there are and from where the log counts; each asset brings itself
 * back to its own checkpoint; then the log's frames are replayed, and each asset skips those it already reflects. Frames
 * of the catalog make, change and drop assets on the way, as they did when they were new.
 *
 * A change of the catalog is a batch of its own, so that every asset is, when a change is applied, where the log was.
 * Checkpoints: `checkpoint-rounds.ts`.
 */

import { strict as assert } from 'node:assert';
import { Buffer } from 'node:buffer';
import type { Io } from '../../server/io/io.ts';
import type { AssetHost } from './asset-host.ts';
import type { LogParticipant } from './batch.ts';
import { type AssetKind, Catalog, type CatalogChange } from './catalog.ts';
import { CatalogFiles } from './catalog-files.ts';
import { CheckpointRounds } from './checkpoint-rounds.ts';
import { CommitLog, type SyncMode } from './commit-log.ts';
import { Compactor } from './compactor.ts';
import { Coverage } from './coverage.ts';
import type { FileStore } from './file-store.ts';
import { FRAME_BYTES_MAX, FRAME_HEADER_BYTES, FrameKind } from './frame.ts';
import { IdleMemory } from './idle-memory.ts';
import type { LoggedAsset } from './logged-asset.ts';
import { noteMissingEnd } from './log-end.ts';
import { LoggedPast } from './logged-past.ts';
import { type FrameVisitor, makeTailDurable, openSegments, readFrames, type ReadLog } from './log-reader.ts';
import { RecordFinder } from './record-finder.ts';
import type { RecoveryReport } from './recovery-report.ts';
import { skipReflected } from './reflected-frames.ts';
import { SegmentPool } from './segment-pool.ts';
import { StoreFiles } from './store-files.ts';
import type { StorageStatistics } from './storage-statistics.ts';
import { STORE_SIZES, type StoreSizes } from './store-sizes.ts';
import { claimDirectory, type DirectoryClaim, StoreError } from './store-directory.ts';

const CATALOG_ASSET = 0;
/** A change of the catalog has at most so many bytes as JSON. */
const CHANGE_BYTES_MAX: number = FRAME_BYTES_MAX - FRAME_HEADER_BYTES;

export class Storage implements LogParticipant {
  joinedLsn = -1;
  lastLsn = 0;
  readonly coverage: Coverage = new Coverage();
  readonly files: StoreFiles;
  readonly directory: string;
  readonly report: RecoveryReport = { assets: 0, frames: 0, damagedBytes: 0, missingEnd: null, movedAside: [] };
  readonly catalog: Catalog;
  readonly compactor: Compactor<FileStore>;
  readonly past: LoggedPast;
  /** Called when the disk did not take something. */
  onTrouble: () => void = () => undefined;

  private readonly io: Io;
  private readonly host: AssetHost;
  private readonly syncMode: SyncMode;
  private readonly claim: DirectoryClaim;
  private readonly catalogFiles: CatalogFiles;
  private readonly found: ReadLog;
  private commitLog: CommitLog | null = null;
  private rounds: CheckpointRounds | null = null;
  private idleMemory: IdleMemory | null = null;
  private readonly assets = new Map<number, LoggedAsset>();
  /** Changes that are not in the log yet, and those that are and not durable. */
  private unlogged: Change[] = [];
  private readonly changes: LoggedChange[] = [];
  private nextNumber = 0;
  private isClosed = false;

  /** Claims `<storeDirectory>/petiole`. Throws a `StoreError` when that is not possible; then nothing was touched. */
  constructor(io: Io, storeDirectory: string, syncMode: SyncMode, host: AssetHost, sizes: StoreSizes = STORE_SIZES) {
    this.io = io;
    this.host = host;
    this.syncMode = syncMode;
    this.claim = claimDirectory(io.disk, storeDirectory);
    this.directory = this.claim.directory;
    this.files = new StoreFiles(io, sizes);
    this.files.isRecovering = true;
    this.compactor = new Compactor(io, sizes.compactRestMs, (store, done) => this.refresh(store, done));
    this.catalogFiles = new CatalogFiles(this.files, this.directory);
    const addon = io.host.sqliteAddon(storeDirectory);
    const newest = this.readCatalog(addon);
    this.catalog = new Catalog(addon, newest);
    this.coverage.restored(this.catalog.lsn, this.catalogFiles.olderLsn);
    this.found = openSegments(this.files, this.logDirectory, this.openMode, this.catalog);
    this.past = new LoggedPast(this.catalog, this.found);
    if (newest === null) this.refuseWithoutCatalog();
  }

  private readCatalog(addon: object): Buffer | null {
    try {
      return this.catalogFiles.read(addon);
    } catch (error) {
      this.claim.release();
      throw error;
    }
  }

  /** Exists once recovery is done. */
  get log(): CommitLog {
    assert(this.commitLog !== null, 'the log is used after recovery');
    return this.commitLog;
  }

  /** What was written since the start, for monitoring. */
  get statistics(): StorageStatistics {
    const { files, compactor, commitLog } = this;
    return {
      bytesGiven: files.bytesGiven,
      logBytesWritten: commitLog?.statistics.bytesWritten ?? 0,
      fileBytesWritten: files.bytesWritten,
      compactedBytesWritten: compactor.statistics.bytesWritten,
    };
  }

  private get logDirectory(): string {
    return `${this.directory}/log`;
  }

  private get openMode(): 'write-synced' | 'write' {
    return this.syncMode === 'always' ? 'write-synced' : 'write';
  }

  assetDirectory(kind: AssetKind, number: number): string {
    return `${this.directory}/${kind === 'stream' ? 'streams' : 'consumers'}/${String(number).padStart(8, '0')}`;
  }

  register(asset: LoggedAsset): void {
    this.assets.set(asset.number, asset);
  }

  unregister(number: number): void {
    this.assets.delete(number);
  }

  /** The number for a new asset; each is given once. */
  takeNumber(): number {
    const number = Math.max(this.nextNumber, this.catalog.nextNumber);
    this.nextNumber = number + 1;
    return number;
  }

  // ── recovery ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The log alone tells everything only if its beginning is there. */
  private refuseWithoutCatalog(): void {
    const first = this.found.used[0];
    if (first === undefined || first.header.baseLsn === 0) return;
    this.closeSegments();
    this.catalog.close();
    this.claim.release();
    const way = 'restore it from a backup, or move the directory away to begin empty';
    throw new StoreError('STORE_DAMAGED', `the catalog of the store in "${this.directory}" can't be read: ${way}`);
  }

  /** Brings everything back. Yields between pieces of work; whoever drives it decides how many make a turn. */
  *recover(): Generator<void> {
    const { catalog, report, found } = this;
    report.movedAside.push(...found.movedAside, ...this.catalogFiles.moveAside());
    for (const entry of catalog.entries()) {
      if (this.isClosed) return;
      yield* this.host.recoverAsset(entry);
      report.assets++;
      yield;
    }
    if (this.catalogFiles.damaged.length === 0) skipReflected(catalog, this.coverage, this.assets, found);
    const visitor: FrameVisitor = {
      frame: (kind, asset, buffer, start, end, lsn, endLsn) => {
        report.frames++;
        if (asset === CATALOG_ASSET) this.replayChange(buffer.toString('utf8', start, end), lsn, endLsn);
        else this.replayFrame(kind, asset, buffer, start, end, lsn, endLsn);
      },
    };
    for (const _ of readFrames(found, visitor, this.catalogFiles.damaged.length > 0)) {
      if (this.isClosed) return;
      yield;
    }
    report.damagedBytes = found.damagedBytes;
    report.missingEnd = noteMissingEnd(found, catalog, this.catalogFiles, this.syncMode, this.files.damage);
    this.openLog();
    for (const asset of this.assets.values()) {
      asset.recovered();
      yield;
    }
  }

  private replayFrame(
    kind: number,
    number: number,
    buffer: Buffer,
    start: number,
    end: number,
    lsn: number,
    endLsn: number,
  ): void {
    const asset = this.assets.get(number);
    if (asset?.coverage.replayed(lsn, endLsn) === true) asset.applyFrame(kind, buffer, start, end);
  }

  /** A change that the catalog reflects may still be new to an asset: from here on it had another configuration. */
  private replayChange(text: string, lsn: number, endLsn: number): void {
    const change = JSON.parse(text) as CatalogChange;
    const isNew = this.coverage.replayed(lsn, endLsn);
    if (isNew) this.catalog.apply(change);
    if ('delete' in change) {
      if (isNew) this.host.assetDeleted(change.delete.number, change.delete.kind);
      return;
    }
    const asset = this.assets.get(change.put.number);
    if (asset !== undefined) {
      asset.isAhead = !asset.coverage.replayed(lsn, endLsn);
      if (isNew || !asset.isAhead) this.host.assetPut(change.put);
      asset.isAhead = false;
    } else if (isNew && this.catalog.numberOf(change.put) === change.put.number)
      finish(this.host.recoverAsset(change.put));
    else if (isNew) this.host.assetPut(change.put);
  }

  /** The log goes on in a fresh segment if it can: what is left behind the end of the last one never counts again. */
  private openLog(): void {
    const { io, files, found, catalog, syncMode } = this;
    if (syncMode === 'always' && found.nextLsn !== catalog.cleanLsn) files.noteError(makeTailDurable(found));
    const segments = new SegmentPool(io, this.logDirectory, this.openMode, files.sizes, this.claim.unsynced);
    segments.adopt(found);
    let lsn = Math.max(found.nextLsn, this.coverage.newestLsn);
    // A checkpoint may reflect what the log has lost.
    for (const { coverage } of this.assets.values()) lsn = Math.max(lsn, coverage.newestLsn);
    const commitLog = (this.commitLog = new CommitLog(io, segments, lsn, syncMode, files));
    files.isRecovering = false;
    files.onWritten = () => commitLog.reviewIntake();
    files.onWriteFailed = () => io.timers.afterTurn(() => this.makeRoom());
    files.findRecords = new RecordFinder(io, commitLog).find;
    catalog.reserveBelow(this.catalogFiles.numbersBelow());
    this.rounds = new CheckpointRounds(this, io, this.catalogFiles, this.assets);
    this.idleMemory = new IdleMemory(io, files, commitLog);
    commitLog.onDurable = () => {
      this.idleMemory?.noteUse();
      this.rounds?.consider();
    };
    commitLog.onStuck = () => {
      this.rounds?.consider();
      this.makeRoom();
    };
    // The catalog that says which segments are superfluous may be seen and not be on the device, and so may their names.
    files.syncNames(this.directory, (catalogError) => {
      files.syncNames(this.logDirectory, (logError) => {
        files.noteError(catalogError ?? logError);
        if (catalogError === null && logError === null) segments.reuseUnused();
      });
    });
  }

  /** What holds nothing any more gives its space back at once. */
  private makeRoom(): void {
    if (this.isClosed) return;
    this.onTrouble();
    for (const asset of this.assets.values()) asset.makeRoom?.();
  }

  // ── changes of the catalog ───────────────────────────────────────────────────────────────────────────────────────

  /** Makes the change durable; then it is applied and `done` runs. False when it is too large for a frame. */
  change(change: CatalogChange, done: () => void): boolean {
    const body = Buffer.from(JSON.stringify(change));
    if (body.length > CHANGE_BYTES_MAX) return false;
    this.unlogged.push({ change, body, done });
    if (this.unlogged.length === 1) this.io.timers.afterTurn(() => this.logChanges());
    return true;
  }

  private logChanges(): void {
    const { log, unlogged } = this;
    if (unlogged.length === 0) return;
    this.unlogged = [];
    log.fence();
    for (const { change, body, done } of unlogged) {
      const start = log.nextLsn;
      const at = log.begin(body.length);
      body.copy(log.buffer, at);
      const lsn = log.end(at + body.length, FrameKind.catalog, CATALOG_ASSET, this);
      this.changes.push({ start, lsn, change, done });
    }
    log.fence();
  }

  sealed(): void {
    // Changes are told one by one in `durable`.
  }

  durable(lsn: number): void {
    let count = 0;
    while (count < this.changes.length && (this.changes[count] as LoggedChange).lsn <= lsn) count++;
    for (const { change, done, start } of this.changes.splice(0, count)) {
      this.applyChange(change, start);
      done();
    }
  }

  abandoned(): void {
    // Nobody is told of a change that did not become durable.
    this.changes.length = 0;
  }

  private applyChange(change: CatalogChange, start: number): void {
    this.catalog.apply(change);
    if ('delete' in change) {
      this.host.assetDeleted(change.delete.number, change.delete.kind);
      return;
    }
    // When it is brought back, its configuration has to change at this place.
    this.assets.get(change.put.number)?.coverage.appended(start);
    this.host.assetPut(change.put);
  }

  // ── closing ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Everything appended becomes durable, everything is checkpointed, the directory is free for another server. While the
   * disk fails nothing is waited for: what was acknowledged is in the log.
   */
  close(done: () => void): void {
    const { commitLog: log, rounds } = this;
    this.isClosed = true;
    this.files.isClosing = true;
    this.idleMemory?.stop();
    if (log === null || rounds === null) {
      this.closeFound(done);
      return;
    }
    this.logChanges();
    this.compactor.close(() => {
      this.flushAssets(() => {
        log.drain(() => {
          rounds.finish(() => {
            this.files.close(() => log.close(() => this.leave(done)));
          });
        });
      });
    });
  }

  /** Two checkpoints of the store, so that none names a block that it does not have any more. */
  private refresh(store: FileStore, done: () => void): void {
    if (this.rounds === null || this.assets.get(store.number) !== store) done();
    else this.rounds.refresh(store, done);
  }

  private flushAssets(done: () => void): void {
    let left = this.assets.size;
    const flushed = (): void => {
      left--;
      if (left === 0) done();
    };
    if (left === 0) done();
    for (const asset of this.assets.values()) asset.flush(flushed);
  }

  /** Recovery did not come to its end. */
  private closeFound(done: () => void): void {
    this.closeSegments();
    this.files.close(() => this.leave(done));
  }

  private closeSegments(): void {
    for (const segment of [...this.found.used, ...this.found.unused]) segment.close((e) => this.files.noteError(e));
  }

  private leave(done: () => void): void {
    this.catalog.close();
    this.claim.release();
    done();
  }
}

interface Change {
  readonly change: CatalogChange;
  readonly body: Buffer;
  readonly done: () => void;
}

interface LoggedChange extends Omit<Change, 'body'> {
  /** Positions of its frame and behind it. */
  readonly start: number;
  readonly lsn: number;
}

/** Does all of the work at once. */
function finish(work: Generator<void>): void {
  while (work.next().done !== true);
}
