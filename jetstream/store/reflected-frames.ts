/**
 * Where the reading of the log begins at start. The log goes back to what the older of two checkpoints lacks; as long as
 * every newer one is there, nobody needs that:
 *
 *     ── replay: lacking in some older checkpoint ──── needed: lacking in some newest one ──── end ──
 *        skipped                                       read
 *
 * The catalog knows both positions as of its writing. An asset that has all the checkpoints it ought to have is at least
 * as far as the catalog says. One that does not may be further back, and then everything is read.
 */

import type { Catalog } from './catalog.ts';
import type { Coverage } from './coverage.ts';
import type { ReadLog } from './log-reader.ts';
import type { LoggedAsset } from './logged-asset.ts';

/** Moves the beginning of the log to what somebody lacks. `own` is what the catalog reflects. */
export function skipReflected(
  catalog: Catalog,
  own: Coverage,
  assets: ReadonlyMap<number, LoggedAsset>,
  log: ReadLog,
): void {
  const { neededLsn, replayLsn } = catalog;
  if (neededLsn <= log.nextLsn) return;
  const covered = catalog.covered();
  for (const { number, coverage } of assets.values()) {
    const { newestLsn, olderLsn } = coverage;
    const isWhole = covered.has(number) ? olderLsn > 0 : newestLsn > 0;
    if (!isWhole) return;
  }
  log.nextLsn = neededLsn;
  log.lastBatchLsn = neededLsn;
  // What the older checkpoints lack stays in the log until there are new ones.
  for (const coverage of [own, ...[...assets.values()].map((asset) => asset.coverage)]) {
    if (coverage.newestLsn > replayLsn) coverage.skipped(replayLsn);
  }
}
