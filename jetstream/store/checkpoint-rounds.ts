/**
 * Makes room in the log: when it has grown by a segment, or can't grow any more, the assets whose oldest uncovered frame holds it back are
 * checkpointed one after the other, then the catalog, and then the segments below are free. Of each asset and of the
 * catalog two checkpoints stand, and the log keeps what the older one lacks.
 *
 * One that fails holds the log back and nobody else; it is tried again in the next round. Rounds begin at most once in
 * REST_MS unless a new segment was begun.
 */

import type { Done, Io, IoError } from '../../server/io/io.ts';
import type { CatalogFiles } from './catalog-files.ts';
import type { DeletedAsset } from './catalog.ts';
import type { LoggedAsset } from './logged-asset.ts';
import type { Segment } from './segment.ts';
import { inOrder, type Step } from './steps.ts';
import type { Storage } from './storage.ts';

/** The log may hold so many segments before checkpoints make room. */
const SEGMENTS_KEPT = 2;
const REST_MS = 1000;
/** Of so many deleted assets what they left is removed in one round. */
const DELETED_PER_ROUND = 100;

export class CheckpointRounds {
  private readonly storage: Storage;
  private readonly io: Io;
  private readonly catalogFiles: CatalogFiles;
  private readonly assets: ReadonlyMap<number, LoggedAsset>;
  private isRunning = false;
  private isFinishing = false;
  private whenRested: (() => void) | null = null;
  private lastSegment = 0;
  private lastMs = 0;

  constructor(storage: Storage, io: Io, catalogFiles: CatalogFiles, assets: ReadonlyMap<number, LoggedAsset>) {
    this.storage = storage;
    this.io = io;
    this.catalogFiles = catalogFiles;
    this.assets = assets;
  }

  /** Begins a round if the log has grown enough. */
  consider(): void {
    if (this.isRunning || this.isFinishing) return;
    const { used, error } = this.storage.log.segments;
    if (used.length <= (error === null ? SEGMENTS_KEPT : 1)) return;
    const { number, baseLsn } = (used.at(-1) as Segment).header;
    if (number === this.lastSegment && this.io.clock.monotonicMs() - this.lastMs < REST_MS) return;
    this.lastSegment = number;
    this.isRunning = true;
    const behind = [...this.assets.values()].filter(({ coverage }) => isBelow(coverage.floorLsn, baseLsn));
    this.run(behind, () => {
      this.lastMs = this.io.clock.monotonicMs();
      this.rest();
    });
  }

  private rest(): void {
    this.isRunning = false;
    this.whenRested?.();
  }

  /**
   * Two checkpoints of one asset, so that both are of its present state. The catalog says before the second one that the
   * log is not enough any more: the files that go then may hold what it only refers to.
   */
  refresh(asset: LoggedAsset, done: () => void): void {
    const steps: Step[] = [
      (next) => this.checkpoint(asset, next),
      (next) => {
        this.storage.catalog.noteCovered(asset.number);
        this.syncLog(next);
      },
      (next) => this.writeCatalog(next),
      (next) => this.checkpoint(asset, next),
    ];
    if (this.isRunning || this.isFinishing) {
      done();
      return;
    }
    this.isRunning = true;
    inOrder(steps, (error) => {
      this.storage.files.noteError(error);
      this.rest();
      done();
    });
  }

  /** The last round, of everything that has changed, when the one that goes on is over. */
  finish(done: () => void): void {
    this.isFinishing = true;
    const last = (): void => {
      const changed = [...this.assets.values()].filter(({ coverage }) => coverage.dirtyLsn >= 0);
      this.run(changed, () => this.spareReading(done));
    };
    if (this.isRunning) this.whenRested = last;
    else last();
  }

  /**
   * The log holds what the older of two checkpoints lacks. Where that is much, each gets a second one of the same state:
   * the next start finds nothing to read.
   */
  private spareReading(done: () => void): void {
    const { log, catalog, files, coverage } = this.storage;
    const behind = [...this.assets.values()].filter((asset) => asset.coverage.floorLsn >= 0);
    const floors = [coverage, ...behind.map((asset) => asset.coverage)].map(({ floorLsn }) => floorLsn);
    const floor = lowest(floors, log.durableLsn);
    const isWritten = behind.every((asset) => asset.coverage.dirtyLsn < 0);
    if (log.durableLsn - floor <= files.sizes.rereadBytesMax || !isWritten || files.writeError !== null) {
      done();
      return;
    }
    // As in `refresh`: what goes then may be what the log only refers to.
    for (const { number } of behind) catalog.noteCovered(number);
    inOrder([(next) => this.syncLog(next), (next) => this.writeCatalog(next)], (error) => {
      files.noteError(error);
      if (error === null) this.run(behind, done);
      else done();
    });
  }

  private run(assets: readonly LoggedAsset[], done: () => void): void {
    const steps: Step[] = [
      ...assets.map((asset) => (next: Done) => this.checkpoint(asset, next)),
      (next) => this.sweepDeleted(next),
      (next) => this.syncLog(next),
      (next) => this.writeCatalog(next),
    ];
    inOrder(
      steps.map((step) => (next) => {
        step((error) => {
          this.storage.files.noteError(error);
          next(null);
        });
      }),
      () => done(),
    );
  }

  private checkpoint(asset: LoggedAsset, done: Done): void {
    const { number, coverage } = asset;
    const isThere = (): boolean => this.assets.get(number) === asset;
    // It may have been deleted since the round began.
    if (!isThere()) {
      done(null);
      return;
    }
    asset.checkpoint((error) => {
      if (error === null && coverage.olderLsn > 0 && isThere()) this.storage.catalog.noteCovered(number);
      done(error);
    });
  }

  /** Removes what is left of deleted assets. */
  private sweepDeleted(done: Done): void {
    const { catalog, files, directory } = this.storage;
    const deleted = catalog.deleted().slice(0, DELETED_PER_ROUND);
    if (deleted.length === 0) {
      done(null);
      return;
    }
    inOrder(
      [
        ...deleted.map((asset) => (next: Done) => this.removeDirectory(asset, next)),
        (next) => files.disk.syncDirectory(`${directory}/streams`, next),
        (next) => files.disk.syncDirectory(`${directory}/consumers`, next),
      ],
      (error) => {
        if (error === null) for (const { number } of deleted) catalog.forget(number);
        done(error);
      },
    );
  }

  private removeDirectory({ kind, number }: DeletedAsset, done: Done): void {
    const path = this.storage.assetDirectory(kind, number);
    this.storage.files.disk.removeDirectory(path, (error) => done(error?.code === 'ENOENT' ? null : error));
  }

  /** The catalog must not say more than the log holds after a power cut. */
  private syncLog(done: Done): void {
    this.storage.log.syncLast(done);
  }

  private writeCatalog(done: Done): void {
    const { log, catalog, coverage } = this.storage;
    const lsn = log.durableLsn;
    this.storage.durable(lsn);
    const all = [coverage, ...[...this.assets.values()].map((asset) => asset.coverage)];
    const replayLsn = lowest(
      all.map(({ floorLsn }) => floorLsn),
      lsn,
    );
    // The image that is written now reflects every change up to `lsn` itself.
    const neededLsn = lowest(
      all.slice(1).map(({ dirtyLsn }) => dirtyLsn),
      lsn,
    );
    const isClosing = this.isFinishing && log.nextLsn === lsn;
    this.catalogFiles.write(catalog.image(lsn, replayLsn, neededLsn, isClosing), (error: IoError | null) => {
      if (error === null) {
        coverage.checkpointed(lsn, this.storage.lastLsn);
        log.segments.releaseBelow(replayLsn);
      }
      done(error);
    });
  }
}

/** The lowest of these positions, `end` when none lies below it. */
function lowest(positions: readonly number[], end: number): number {
  return positions.reduce((least, lsn) => (isBelow(lsn, least) ? lsn : least), end);
}

/** Whether there is such a frame, and it stands below `lsn`. */
function isBelow(frameLsn: number, lsn: number): boolean {
  return frameLsn >= 0 && frameLsn < lsn;
}
