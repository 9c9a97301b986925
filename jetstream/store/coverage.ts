/**
 * How much of the log one participant still needs. It keeps two checkpoints, so that damage to one costs nothing: the log
 * holds everything that the older one lacks.
 *
 *     ── older checkpoint ──── floor ──── newest checkpoint ──── dirty ──── last frame ──
 *
 * Both positions are those of a batch or frame at or below the first frame in question, -1 when there is no such frame.
 */
export class Coverage {
  /** Frames below these positions are reflected in the newest checkpoint and in the one before; 0: there is none. */
  newestLsn = 0;
  olderLsn = 0;
  /** Where the first frame stands that the newest checkpoint lacks. */
  dirtyLsn = -1;
  /** Where the first frame stands that the older checkpoint lacks. */
  floorLsn = -1;

  /** A frame at or behind this position was appended. */
  appended(lsn: number): void {
    if (this.dirtyLsn < 0) this.dirtyLsn = lsn;
    if (this.floorLsn < 0) this.floorLsn = lsn;
  }

  /** A frame was read from the log at start; whether the newest checkpoint lacks it. */
  replayed(start: number, end: number): boolean {
    if (end > this.olderLsn && this.floorLsn < 0) this.floorLsn = start;
    if (end <= this.newestLsn) return false;
    if (this.dirtyLsn < 0) this.dirtyLsn = start;
    return true;
  }

  /** Frames from this position on were not read at start: the newest checkpoint has them, the older one may lack them. */
  skipped(lsn: number): void {
    this.floorLsn = lsn;
  }

  /** These checkpoints were found at start. */
  restored(newestLsn: number, olderLsn: number): void {
    this.newestLsn = newestLsn;
    this.olderLsn = olderLsn;
  }

  /** A checkpoint that reflects everything below `lsn` is on the device; `lastLsn` is behind the last frame. */
  checkpointed(lsn: number, lastLsn: number): void {
    this.olderLsn = this.newestLsn;
    this.newestLsn = lsn;
    this.floorLsn = this.dirtyLsn;
    this.dirtyLsn = lastLsn > lsn ? lsn : -1;
    if (this.floorLsn < 0) this.floorLsn = this.dirtyLsn;
  }
}
