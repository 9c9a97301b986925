/**
 * A lock on a file that ends with its process, whatever way that ends. The runtime has no call for it; SQLite has, for
 * its databases, on every platform and also between two servers of one process. The file is an empty database on which
 * an exclusive transaction is begun that never writes.
 */

import path from 'node:path';
import Database from 'better-sqlite3';
import type { FileLock } from './io.ts';
import { loadSqliteAddon } from './native-addon.ts';

/** Locks the file, which is made if need be; `null` when somebody else has it. */
export function lockFile(file: string): FileLock | null {
  const addon = loadSqliteAddon(path.dirname(file));
  const database = new Database(file, { nativeBinding: addon as never, timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return null;
    throw error;
  }
  return { release: () => database.close() };
}
