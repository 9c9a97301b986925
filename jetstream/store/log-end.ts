/**
 * Whether the end of the commit log is missing: files that were removed or emptied while no server used the store take
 * with them what was acknowledged last, and what is left looks like a log that merely ends. Three things tell:
 *
 *     │ segment 6, notes 7 │  (7 is not there)      the newest segment knows of one behind it
 *     │ segment 6          │ end ── catalog         the catalog reflects more than the log holds
 *     nothing at all                                and yet a catalog, or directories of streams
 *
 * A log that is synced at intervals may rightly end before what the catalog reflects. Nothing tells of a segment that was
 * the only one and held a single batch, whose note was not written yet.
 */

import type { Catalog } from './catalog.ts';
import type { CatalogFiles } from './catalog-files.ts';
import type { SyncMode } from './commit-log.ts';
import type { DamageNotes } from './damage-notes.ts';
import type { ReadLog } from './log-reader.ts';
import type { Storage } from './storage.ts';

const COST = 'what was stored last may be lost';

/** Notes what is known to be missing behind the end of `log`, which was read, and says so; null for nothing. */
export function noteMissingEnd(
  log: ReadLog,
  catalog: Catalog,
  catalogFiles: CatalogFiles,
  syncMode: SyncMode,
  damage: DamageNotes,
): string | null {
  const what = missingEnd(log, catalog, catalogFiles, syncMode);
  if (what === null) return null;
  const text = `${what}: ${COST}`;
  damage.note(text);
  return text;
}

/**
 * Puts a change that changes nothing in the place of what is missing, so that the next start does not find it missing once
 * more: or else a server that is started again because it is not well would never be.
 */
export function coverMissingEnd(storage: Pick<Storage, 'report' | 'change' | 'takeNumber'>): void {
  if (storage.report.missingEnd === null) return;
  storage.change({ delete: { number: storage.takeNumber(), kind: 'consumer' } }, () => undefined);
}

function missingEnd(log: ReadLog, catalog: Catalog, catalogFiles: CatalogFiles, syncMode: SyncMode): string | null {
  const missing = catalog.lsn - log.nextLsn;
  if (log.missingSuccessor > 0) return `the newest part of the commit log, number ${log.missingSuccessor}, is gone`;
  if (log.used.length === 0 && (catalog.lsn > 0 || catalogFiles.numbersBelow() > 1)) return 'the commit log is gone';
  return missing > 0 && syncMode === 'always' ? `the commit log ends ${missing} bytes early` : null;
}
