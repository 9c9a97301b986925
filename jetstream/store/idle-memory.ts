/**
 * Gives memory back when a store rests: what was read or written lately, indexes that are on the device too, and spare
 * buffers go when nothing was asked of the disk for a while. Then, if there was a burst or something was dropped, garbage
 * is collected once: typed arrays outside of the heap hardly press the engine to do that by itself.
 *
 *     used ─► `idleMs` without use ─► caches are empty, spare buffers gone ─► collection, if BURST_BYTES were moved
 *
 * A store that is not used has no timer.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import type { CommitLog } from './commit-log.ts';
import type { StoreFiles } from './store-files.ts';

/** After less than this there is hardly anything to collect. */
const BURST_BYTES = 4 * 1024 * 1024;

export class IdleMemory {
  /** Explicit collections of garbage, and the milliseconds they took. */
  collections = 0;
  collectionMs = 0;
  private readonly io: Pick<Io, 'timers' | 'host'>;
  private readonly files: StoreFiles;
  private readonly log: CommitLog;
  private uses = 0;
  private timer: Timer | null = null;
  private movedBefore = 0;
  private discardsBefore = 0;

  constructor(io: Pick<Io, 'timers' | 'host'>, files: StoreFiles, log: CommitLog) {
    this.io = io;
    this.files = files;
    this.log = log;
    files.cache.onAdded = () => this.noteUse();
  }

  noteUse(): void {
    this.uses++;
    if (this.timer === null && this.files.sizes.idleMs < Infinity && !this.files.isClosing) this.watch();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private watch(): void {
    const { uses } = this;
    this.timer = this.io.timers.after(this.files.sizes.idleMs, () => {
      this.timer = null;
      if (this.uses !== uses) this.watch();
      else this.giveBack();
    });
  }

  private giveBack(): void {
    const { files, log } = this;
    files.cache.clear();
    files.indexes.clear();
    files.tails.clear();
    log.dropSpareBuffers();
    const moved = files.bytesWritten + log.statistics.bytesWritten + files.cache.bytesAdded;
    const isBurst = moved - this.movedBefore >= BURST_BYTES || files.discards !== this.discardsBefore;
    if (!isBurst) return;
    this.movedBefore = moved;
    this.discardsBefore = files.discards;
    const took = this.io.host.collectGarbage();
    if (took === null) return;
    this.collections++;
    this.collectionMs += took;
  }
}
