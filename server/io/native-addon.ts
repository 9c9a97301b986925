/**
 * The one native addon, better-sqlite3's, as an object for its option `nativeBinding`.
 *
 * In development it is the file that npm installed. The single executable carries it as an asset, and the system loads
 * code from files only, so it is unpacked first:
 *
 *     <place>/petiole-addon-<uid>/                       0700, ours
 *         better-sqlite3-<sha256 of the asset>.node      0500, ours; shared by all processes of this version
 *         better-sqlite3-<sha256>.node.<pid>.<random>    being written, then renamed to the above
 *
 * The places are tried in turn, because any of them may be missing, read-only, full, or mounted noexec: the store
 * directory, $XDG_RUNTIME_DIR, /dev/shm, /tmp. The last two are shared with other users. Hence nothing is loaded from a
 * folder that others could write to, a link is never followed, and a file is loaded only if it is ours and has the
 * asset's bytes, compared when it is found and again after it was written. A file cut short by a power failure is
 * found by the same comparison, so nothing is synced. The digest only makes the name: the build puts it beside the asset,
 * since to compute it, and to load node:crypto for that, takes as long as the rest of a start.
 *
 * Bounds: one file per version and place. Unpacking removes what other versions left there more than an hour ago; a
 * process that has loaded such a file keeps it until it ends.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

const ASSET = 'better-sqlite3.node';
const DIGEST_ASSET = 'better-sqlite3.sha256';
/** A file of another version younger than this may belong to a process that is just starting. */
const LEFTOVER_AGE_MS = 3_600_000;

/** A place that was tried and why it did not serve. */
export interface FailedPlace {
  readonly place: string;
  readonly reason: string;
}

/** No place could hold the addon, or the system cannot load it from any of them. */
export class NativeAddonError extends Error {
  readonly code = 'ADDON_NOT_LOADED';
  readonly tried: readonly FailedPlace[];

  constructor(tried: readonly FailedPlace[], cause: unknown) {
    const reasons = tried.map(({ place, reason }) => `${place} (${reason})`).join(', ');
    super(`the SQLite addon needs one folder that is writable and not mounted noexec; tried ${reasons}`, { cause });
    this.name = 'NativeAddonError';
    this.tried = tried;
  }
}

const PIECE_BYTES = 64 * 1024;

/** The system loads a library once per process, and so do we; whoever asks first decides on the place. */
let loaded: object | null = null;

/**
 * The loaded addon. `storeDirectory` is the folder, made by now, where the server keeps its data; null if it keeps none.
 * Blocks: a few milliseconds, more when it must unpack. Throws `NativeAddonError`.
 */
export function loadSqliteAddon(storeDirectory: string | null): object {
  loaded ??= isSea() ? loadCarried(unpackingPlaces(storeDirectory, process.env)) : loadInstalled();
  return loaded;
}

function loadCarried(places: readonly string[]): object {
  const digest = Buffer.from(getRawAsset(DIGEST_ASSET)).toString('latin1');
  return loadUnpacked(new Uint8Array(getRawAsset(ASSET)), digest, places);
}

/** Where the addon may be unpacked, in the order of trying. */
export function unpackingPlaces(
  storeDirectory: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const candidates = [storeDirectory, environment['XDG_RUNTIME_DIR'] ?? null, '/dev/shm', '/tmp'];
  return candidates.filter((place): place is string => place !== null && place !== '');
}

/**
 * Unpacks the addon in the first place that serves and loads it; `digest` tells its version from others. Throws
 * `NativeAddonError` when none does.
 */
export function loadUnpacked(addon: Uint8Array, digest: string, places: readonly string[]): object {
  const tried: FailedPlace[] = [];
  let cause: unknown;
  for (const place of places) {
    try {
      return loadFrom(unpack(addon, digest, place));
    } catch (error) {
      cause = error;
      tried.push({ place, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  throw new NativeAddonError(tried, cause);
}

/** better-sqlite3's own choice among the files it was installed with; it knows more C libraries than we bundle for. */
function loadInstalled(): object {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('better-sqlite3/package.json'));
  const binding = require(join(folder, 'lib', 'binding.js')) as { getBinding(path: null): object };
  return binding.getBinding(null);
}

function loadFrom(path: string): object {
  const module = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    // Of no use to anyone here, and the place may be memory.
    rmSync(path, { force: true });
    throw error;
  }
  return module.exports;
}

/** The path of a file in `place` that holds the addon and that nobody else can change. */
function unpack(addon: Uint8Array, digest: string, place: string): string {
  const folder = makePrivateFolder(place);
  const name = `better-sqlite3-${digest}.node`;
  const path = join(folder, name);
  if (isOurs(path, addon)) return path;

  // Two containers may have the same process id; nobody else can write to the folder, so nobody has to be unable to guess.
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    writeFileSync(temporary, addon, { flag: 'wx', mode: 0o500 });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  if (!isOurs(path, addon)) throw new Error(`${path} is not what was just written`);
  removeLeftovers(folder, name);
  return path;
}

function makePrivateFolder(place: string): string {
  const folder = join(place, `petiole-addon-${ownUser()}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const status = lstatSync(folder);
  if (!status.isDirectory()) throw new Error(`${folder} is not a folder`);
  if (status.uid !== ownUser()) throw new Error(`${folder} belongs to user ${status.uid}`);
  if ((status.mode & 0o077) !== 0) throw new Error(`${folder} is open to other users`);
  return folder;
}

/** True when the file is there, belongs to us alone, and has exactly these bytes. */
function isOurs(path: string, bytes: Uint8Array): boolean {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP') return false;
    throw error;
  }
  try {
    const status = fstatSync(file);
    const isPrivate = status.isFile() && status.uid === ownUser() && (status.mode & 0o022) === 0;
    return isPrivate && status.size === bytes.length && holds(file, bytes);
  } finally {
    closeSync(file);
  }
}

/** True when the open file begins with these bytes. Read in pieces: the whole would stay in memory for long. */
function holds(file: number, bytes: Uint8Array): boolean {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = 0; at < bytes.length;) {
    const read = readSync(file, piece, 0, PIECE_BYTES, at);
    if (read === 0 || piece.compare(bytes, at, at + read, 0, read) !== 0) return false;
    at += read;
  }
  return true;
}

/** Removes what other versions, or processes that died while writing, left in the folder. */
function removeLeftovers(folder: string, ownName: string): void {
  const youngest = lstatSync(join(folder, ownName)).mtimeMs - LEFTOVER_AGE_MS;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (name !== ownName && status?.isFile() === true && status.mtimeMs < youngest) rmSync(path, { force: true });
  }
}

function ownUser(): number {
  // Systems without users (Windows) are not supported; -1 owns nothing there, so nothing is loaded.
  return process.geteuid?.() ?? -1;
}
