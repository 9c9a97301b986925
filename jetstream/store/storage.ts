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
 * Checkpoints: when the log has grown by more than a segment, the assets whose oldest uncovered frame holds it back are
 * checkpointed one after the other, then the catalog, and then the segments below are free.
 */

import { strict as assert } from 'node:assert';
import { Buffer } from 'node:buffer';
import type { Done, Io } from '../../server/io/io.ts';
import { type AssetKind, Catalog, type CatalogChange, type CatalogEntry, databaseIn } from './catalog.ts';
import { CommitLog, type LogParticipant, type SyncMode } from './commit-log.ts';
import { FrameKind } from './frame.ts';
import type { LoggedAsset } from './logged-asset.ts';
import { type FrameVisitor, openSegments, readFrames } from './log-reader.ts';
import type { Segment } from './segment.ts';
import { SegmentPool } from './segment-pool.ts';
import { inOrder } from './steps.ts';
import { StoreFiles } from './store-files.ts';
import { claimDirectory, type DirectoryClaim } from './store-directory.ts';

const CATALOG_SLOTS = 2;
const CATALOG_ASSET = 0;
/** The log may hold so many segments before checkpoints make room. */
const SEGMENTS_KEPT = 2;

/** Who makes assets from catalog entries. */
export interface AssetHost {
  /** The entry is in the catalog, newly or with another configuration: makes the asset, or changes it. */
  assetPut(entry: CatalogEntry): void;
  assetDeleted(number: number, kind: AssetKind): void;
  /** An asset that was there at start: brings it back to its checkpoint. */
  recoverAsset(entry: CatalogEntry): Generator<void>;
}

export interface RecoveryReport {
  assets: number;
  frames: number;
  /** Bytes of the log that were durable once and can't be read. */
  damagedBytes: number;
  /** Files that could not be explained, by their new names. */
  readonly movedAside: string[];
}

export class Storage implements LogParticipant {
  joinedLsn = -1;
  dirtyLsn = -1;
  readonly files: StoreFiles;
  readonly directory: string;
  readonly report: RecoveryReport = { assets: 0, frames: 0, damagedBytes: 0, movedAside: [] };
  readonly catalog: Catalog;
  private commitLog: CommitLog | null = null;

  private readonly io: Io;
  private readonly host: AssetHost;
  private readonly syncMode: SyncMode;
  private readonly claim: DirectoryClaim;
  private readonly assets = new Map<number, LoggedAsset>();
  private readonly changes: PendingChange[] = [];
  private catalogSlot = 0;
  private checkpointing = false;
  private closed = false;

  /** Claims `<storeDirectory>/petiole`. Throws a `StoreError` when that is not possible; then nothing was touched. */
  constructor(io: Io, storeDirectory: string, syncMode: SyncMode, host: AssetHost) {
    this.io = io;
    this.host = host;
    this.syncMode = syncMode;
    this.claim = claimDirectory(io.disk, storeDirectory);
    this.directory = this.claim.directory;
    this.files = new StoreFiles(io.disk, io.timers);
    this.catalog = new Catalog(io.host.sqliteAddon(storeDirectory), this.newestCatalog());
  }

  /** Exists once recovery is done. */
  get log(): CommitLog {
    assert(this.commitLog !== null, 'the log is used after recovery');
    return this.commitLog;
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

  // ── recovery ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Brings everything back. Yields between pieces of work; whoever drives it decides how many make a turn. */
  *recover(): Generator<void> {
    const { catalog, report, io } = this;
    const catalogLsn = catalog.lsn;
    for (const entry of catalog.entries()) {
      yield* this.host.recoverAsset(entry);
      report.assets++;
      yield;
    }
    const directory = `${this.directory}/log`;
    const mode = this.syncMode === 'always' ? 'write-synced' : 'write';
    const log = openSegments(io.disk, directory, mode, catalog.replayLsn);
    const replay: FrameVisitor = {
      frame: (kind, asset, buffer, start, end, lsn) => {
        report.frames++;
        this.replay(kind, asset, buffer, start, end, lsn, catalogLsn);
      },
    };
    yield* readFrames(log, replay);
    report.damagedBytes = log.damagedBytes;
    const segments = new SegmentPool(io.disk, io.timers, directory, mode);
    segments.adopt(log.used, log.unused, log.nextSlot);
    // The log goes on in a fresh segment: what is left behind the end of the last one never counts again.
    this.commitLog = new CommitLog(io, segments, Math.max(log.nextLsn, catalogLsn), this.syncMode);
    this.commitLog.onDurable = () => this.considerCheckpoint();
  }

  private replay(
    kind: number,
    number: number,
    buffer: Buffer,
    start: number,
    end: number,
    lsn: number,
    catalogLsn: number,
  ): void {
    if (number === CATALOG_ASSET) {
      if (lsn > catalogLsn) this.applyChange(JSON.parse(buffer.toString('utf8', start, end)) as CatalogChange);
      return;
    }
    const asset = this.assets.get(number);
    if (asset !== undefined && lsn > asset.checkpointLsn) asset.applyFrame(kind, buffer, start, end, lsn);
  }

  private newestCatalog(): Buffer | null {
    let newest: { image: Buffer; lsn: number } | null = null;
    for (let slot = 0; slot < CATALOG_SLOTS; slot++) {
      const path = this.catalogPath(slot);
      if (this.io.disk.statusNow(path) === null) continue;
      const image = databaseIn(this.io.disk.readFileNow(path));
      if (image === null) {
        this.report.movedAside.push(path);
        continue;
      }
      const lsn = catalogLsnOf(this.io, image, this.directory);
      if (newest !== null && lsn < newest.lsn) continue;
      newest = { image, lsn };
      this.catalogSlot = slot;
    }
    return newest?.image ?? null;
  }

  private catalogPath(slot: number): string {
    return `${this.directory}/catalog.${slot}.db`;
  }

  // ── changes of the catalog ───────────────────────────────────────────────────────────────────────────────────────

  /** Makes the change durable; then it is applied and `done` runs. */
  change(change: CatalogChange, done: () => void): void {
    const body = Buffer.from(JSON.stringify(change));
    const { log } = this;
    const at = log.begin(body.length);
    body.copy(log.buffer, at);
    const lsn = log.end(at + body.length, FrameKind.catalog, CATALOG_ASSET, this);
    this.changes.push({ lsn, change, done });
  }

  sealed(): void {
    // Changes are told one by one in `durable`.
  }

  durable(lsn: number): void {
    while (this.changes.length > 0 && (this.changes[0] as PendingChange).lsn <= lsn) {
      const { change, done } = this.changes.shift() as PendingChange;
      this.applyChange(change);
      done();
    }
  }

  private applyChange(change: CatalogChange): void {
    this.catalog.apply(change);
    if ('put' in change) this.host.assetPut(change.put);
    else this.host.assetDeleted(change.delete.number, change.delete.kind);
  }

  // ── checkpoints ──────────────────────────────────────────────────────────────────────────────────────────────────

  private considerCheckpoint(): void {
    if (this.checkpointing || this.closed) return;
    const { used } = this.log.segments;
    if (used.length <= SEGMENTS_KEPT) return;
    this.checkpointing = true;
    const below = (used.at(-1) as Segment).header.baseLsn;
    this.checkpointBelow(below, (error) => {
      this.checkpointing = false;
      this.files.noteError(error);
    });
  }

  /** Checkpoints every asset with an uncovered frame below `lsn`, then the catalog; frees the log below that. */
  private checkpointBelow(lsn: number, done: Done): void {
    const behind = [...this.assets.values()].filter((asset) => asset.dirtyLsn >= 0 && asset.dirtyLsn < lsn);
    inOrder(
      [...behind.map((asset) => (next: Done) => this.checkpointAsset(asset, next)), (next) => this.writeCatalog(next)],
      done,
    );
  }

  private checkpointAsset(asset: LoggedAsset, done: Done): void {
    // It may have been deleted since the round began.
    if (this.assets.get(asset.number) !== asset) {
      done(null);
      return;
    }
    asset.checkpoint((error) => {
      if (error === null) asset.dirtyLsn = asset.joinedLsn >= asset.checkpointLsn ? asset.checkpointLsn : -1;
      done(error);
    });
  }

  private writeCatalog(done: Done): void {
    const lsn = this.log.durableLsn;
    let replayLsn = lsn;
    for (const { dirtyLsn } of this.assets.values()) {
      if (dirtyLsn >= 0 && dirtyLsn < replayLsn) replayLsn = dirtyLsn;
    }
    const slot = (this.catalogSlot + 1) % CATALOG_SLOTS;
    this.files.replaceFile(this.catalogPath(slot), this.catalog.image(lsn, replayLsn), (error) => {
      if (error === null) {
        this.catalogSlot = slot;
        this.dirtyLsn = -1;
        this.log.segments.releaseBelow(replayLsn);
      }
      done(error);
    });
  }

  /** Everything appended becomes durable, everything is checkpointed, the directory is free for another server. */
  close(done: () => void): void {
    this.closed = true;
    const finish = (): void => {
      this.catalog.close();
      this.claim.release();
      done();
    };
    if (this.commitLog === null) {
      finish();
      return;
    }
    const { log } = this;
    for (const asset of this.assets.values()) asset.flush();
    log.drain(() => {
      this.checkpointBelow(Number.MAX_SAFE_INTEGER, (error) => {
        this.files.noteError(error);
        log.close(finish);
      });
    });
  }
}

interface PendingChange {
  readonly lsn: number;
  readonly change: CatalogChange;
  readonly done: () => void;
}

function catalogLsnOf(io: Io, image: Buffer, directory: string): number {
  const catalog = new Catalog(io.host.sqliteAddon(directory), image);
  const { lsn } = catalog;
  catalog.close();
  return lsn;
}
