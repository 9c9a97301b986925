/**
 * The directory of a store: made, checked and claimed before anything in it is touched. Every refusal is one line that
 * says what is wrong and where, and leaves the directory as it was.
 */

import { Buffer } from 'node:buffer';
import type { Disk, FileLock, IoError } from '../../server/io/io.ts';

export const STORE_DIRECTORY = 'petiole';
const FORMAT_FILE = 'format';
const FORMAT_MAGIC = 'petiole store';
/** Changes with whatever is written here: of what stands in log, blocks, checkpoints and catalog. */
const FORMAT_VERSION = 2;
const OTHER_STORE = 'jetstream';
const LOCK_FILE = 'lock';

/** The store can't be used. */
export class StoreError extends Error {
  readonly code: 'STORE_UNWRITABLE' | 'STORE_FOREIGN' | 'STORE_FORMAT' | 'STORE_LOCKED' | 'STORE_DAMAGED';

  constructor(code: StoreError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.code = code;
  }
}

export interface DirectoryClaim {
  readonly directory: string;
  /** Directories that have to be synced, from the inner to the outer one, before what is written here is found again. */
  readonly unsynced: readonly string[];
  release(): void;
}

/** Claims `<storeDirectory>/petiole` for one server. Throws a `StoreError`. */
export function claimDirectory(disk: Disk, storeDirectory: string): DirectoryClaim {
  const directory = `${storeDirectory}/${STORE_DIRECTORY}`;
  const isNew = checkFormat(disk, storeDirectory, directory);
  const made = missingDirectories(disk, storeDirectory);
  const lock = lockDirectory(disk, storeDirectory, directory);
  try {
    for (const name of ['log', 'streams', 'consumers']) makeDirectory(disk, `${directory}/${name}`);
    if (isNew) disk.writeFileNow(`${directory}/${FORMAT_FILE}`, Buffer.from(`${FORMAT_MAGIC} ${FORMAT_VERSION}\n`));
  } catch (error) {
    lock.release();
    throw error instanceof StoreError ? error : unwritable(storeDirectory, error);
  }
  // One more than was made: the name of a directory stands in the one above it.
  const unsynced = [directory, storeDirectory, ...made.map(parentOf), parentOf(storeDirectory)];
  return { directory, unsynced: [...new Set(unsynced)], release: () => lock.release() };
}

/** The directory and those above it that are not there, from the inner to the outer one. */
function missingDirectories(disk: Disk, storeDirectory: string): string[] {
  const missing: string[] = [];
  let path = storeDirectory;
  while (disk.statusNow(path) === null && path !== parentOf(path)) {
    missing.push(path);
    path = parentOf(path);
  }
  return missing;
}

function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  if (at < 0) return '.';
  return at === 0 ? '/' : path.slice(0, at);
}

/** Whether the directory is new; refuses what is not ours. */
function checkFormat(disk: Disk, storeDirectory: string, directory: string): boolean {
  const status = disk.statusNow(storeDirectory);
  if (status !== null && !status.isDirectory) {
    throw new StoreError('STORE_UNWRITABLE', `storage directory is not a directory: "${storeDirectory}"`);
  }
  const path = `${directory}/${FORMAT_FILE}`;
  const text = disk.statusNow(path) === null ? '' : disk.readFileNow(path).toString('latin1').trim();
  // A file system may have lost what was in the mark; where it is of another kind something stands in it.
  if (/^\0*$/.test(text)) {
    refuseOtherStore(disk, storeDirectory);
    return true;
  }
  const version = new RegExp(`^${FORMAT_MAGIC} (\\d+)$`).exec(text)?.[1];
  if (version === undefined) {
    throw new StoreError('STORE_FORMAT', `"${path}" is not the mark of a petiole store; nothing was touched`);
  }
  if (Number(version) !== FORMAT_VERSION) {
    const age = Number(version) > FORMAT_VERSION ? 'a newer' : 'an older';
    const detail = `format ${version}, this version reads ${FORMAT_VERSION}; nothing was touched`;
    throw new StoreError('STORE_FORMAT', `the store in "${directory}" is of ${age} format (${detail})`);
  }
  return false;
}

/** A store of nats-server beside ours holds data that a start would silently leave behind. */
function refuseOtherStore(disk: Disk, storeDirectory: string): void {
  const other = `${storeDirectory}/${OTHER_STORE}`;
  if (disk.statusNow(other)?.isDirectory !== true || disk.readDirectoryNow(other).length === 0) return;
  const way = 'let nats-server serve it, or give petiole another store directory';
  const detail = `"${other}" is a store of nats-server, which petiole can't read and has not touched: ${way}`;
  throw new StoreError('STORE_FOREIGN', detail);
}

function lockDirectory(disk: Disk, storeDirectory: string, directory: string): FileLock {
  let lock: FileLock | null;
  try {
    disk.makeDirectoryNow(directory);
    lock = disk.lockNow(`${directory}/${LOCK_FILE}`);
  } catch (error) {
    throw unwritable(storeDirectory, error);
  }
  if (lock === null) throw new StoreError('STORE_LOCKED', `another server uses the store in "${directory}"`);
  return lock;
}

/** Also in a store that has lost it: what stands elsewhere is worth having. */
function makeDirectory(disk: Disk, path: string): void {
  const status = disk.statusNow(path);
  if (status === null) disk.makeDirectoryNow(path);
  else if (!status.isDirectory) {
    throw new StoreError(
      'STORE_DAMAGED',
      `"${path}" is not a directory: move it away to go on with what else there is`,
    );
  }
}

function unwritable(storeDirectory: string, cause: unknown): StoreError {
  const reason = (cause as IoError).message;
  return new StoreError('STORE_UNWRITABLE', `could not create storage directory "${storeDirectory}": ${reason}`, cause);
}
