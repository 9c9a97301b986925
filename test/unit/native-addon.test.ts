/** The addon is unpacked where nobody else can change it, and a place that does not serve is passed over. */
import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSqliteAddon, loadUnpacked, NativeAddonError, unpackingPlaces } from '../../server/io/native-addon.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const uid = process.geteuid?.() ?? -1;
const prebuilds = join(import.meta.dirname, '../../node_modules/better-sqlite3/prebuilds');
const asset = readFileSync(join(prebuilds, `${process.platform}-${process.arch}.node`));
const digest = createHash('sha256').update(asset).digest('hex');

function folderIn(place: string): string {
  return join(place, `petiole-addon-${uid}`);
}

function fileIn(place: string): string {
  return join(folderIn(place), `better-sqlite3-${digest}.node`);
}

function answerOf(addon: object): unknown {
  const database = new Database(':memory:', { nativeBinding: addon as never });
  const answer = database.prepare('select 6 * 7').pluck().get();
  database.close();
  return answer;
}

/** The error of a call that must throw. */
function failureOf(action: () => unknown): NativeAddonError {
  try {
    action();
  } catch (error) {
    if (error instanceof NativeAddonError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the addon in development', () => {
  it('is the file that npm installed', () => {
    expect(answerOf(loadSqliteAddon(null))).toBe(42);
  });

  it('is loaded once', () => {
    expect(loadSqliteAddon('/nonexistent')).toBe(loadSqliteAddon(null));
  });
});

describe('unpacking the addon', () => {
  it('makes one private file in a private folder', () => {
    const place = temporaryDirectory();
    expect(answerOf(loadUnpacked(asset, digest, [place]))).toBe(42);
    expect(readdirSync(folderIn(place))).toEqual([`better-sqlite3-${digest}.node`]);
    expect(statSync(folderIn(place)).mode & 0o777).toBe(0o700);
    expect(statSync(fileIn(place)).mode & 0o777).toBe(0o500);
  });

  it('uses what an earlier start has unpacked', () => {
    const place = temporaryDirectory();
    loadUnpacked(asset, digest, [place]);
    const first = lstatSync(fileIn(place));
    loadUnpacked(asset, digest, [place]);
    const second = lstatSync(fileIn(place));
    expect([second.ino, second.mtimeMs]).toEqual([first.ino, first.mtimeMs]);
  });

  it.each([
    ['is cut short', (path: string) => writeFileSync(path, asset.subarray(0, 1000), { mode: 0o500 })],
    ['has other bytes', (path: string) => writeFileSync(path, Buffer.alloc(asset.length), { mode: 0o500 })],
    ['may be written by others', (path: string) => writeAndChange(path, 0o522)],
    ['is a link to somewhere else', (path: string) => symlinkSync('/etc/passwd', path)],
  ])('replaces a file that %s', (_, spoil) => {
    const place = temporaryDirectory();
    mkdirSync(folderIn(place), { mode: 0o700 });
    spoil(fileIn(place));
    expect(answerOf(loadUnpacked(asset, digest, [place]))).toBe(42);
    expect(lstatSync(fileIn(place)).isFile()).toBe(true);
    expect(lstatSync(fileIn(place)).mode & 0o777).toBe(0o500);
    expect(readFileSync(fileIn(place)).equals(asset)).toBe(true);
  });

  it.skipIf(uid !== 0)('replaces a file of another user', () => {
    const place = temporaryDirectory();
    mkdirSync(folderIn(place), { mode: 0o700 });
    writeFileSync(fileIn(place), asset, { mode: 0o500 });
    chownSync(fileIn(place), 65_534, 65_534);
    loadUnpacked(asset, digest, [place]);
    expect(lstatSync(fileIn(place)).uid).toBe(0);
  });

  it('removes what other versions left an hour ago, not what is young', () => {
    const place = temporaryDirectory();
    mkdirSync(folderIn(place), { mode: 0o700 });
    const old = join(folderIn(place), 'better-sqlite3-0123.node');
    const young = join(folderIn(place), 'better-sqlite3-4567.node');
    writeFileSync(old, '');
    writeFileSync(young, '');
    utimesSync(old, new Date(0), new Date(Date.now() - 2 * 3_600_000));
    loadUnpacked(asset, digest, [place]);
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  });
});

describe('a place that does not serve', () => {
  it.each([
    ['does not exist', (place: string) => join(place, 'missing'), /ENOENT/],
    ['is a file', (place: string) => made(join(place, 'file'), (path) => writeFileSync(path, '')), /ENOTDIR/],
    ['holds a link where the folder should be', (place: string) => linked(place), /is not a folder/],
    ['holds a folder open to others', (place: string) => opened(place), /is open to other users/],
  ])('is passed over: it %s', (_, spoil, reason) => {
    const bad = spoil(temporaryDirectory());
    const good = temporaryDirectory();
    expect(answerOf(loadUnpacked(asset, digest, [bad, good]))).toBe(42);
    expect(existsSync(fileIn(good))).toBe(true);
    expect(failureOf(() => loadUnpacked(asset, digest, [bad])).tried[0]?.reason).toMatch(reason);
  });

  it.skipIf(uid !== 0)("is passed over: it holds another user's folder", () => {
    const bad = temporaryDirectory();
    mkdirSync(folderIn(bad), { mode: 0o700 });
    chownSync(folderIn(bad), 65_534, 65_534);
    expect(failureOf(() => loadUnpacked(asset, digest, [bad])).tried[0]?.reason).toMatch(/belongs to user 65534/);
  });

  it('leaves nothing behind when the system does not load from it', () => {
    const place = temporaryDirectory();
    const failure = failureOf(() => loadUnpacked(Buffer.from('no library'), 'none', [place]));
    expect(failure.code).toBe('ADDON_NOT_LOADED');
    expect(readdirSync(folderIn(place))).toEqual([]);
  });

  it('is named in the error with each other one and its reason', () => {
    const failure = failureOf(() => loadUnpacked(asset, digest, ['/nonexistent/a', '/nonexistent/b']));
    expect(failure.tried.map(({ place }) => place)).toEqual(['/nonexistent/a', '/nonexistent/b']);
    expect(failure.message).toMatch(/writable and not mounted noexec; tried \/nonexistent\/a \(ENOENT.*b \(ENOENT/);
  });
});

describe('the places', () => {
  it('are the store directory, the runtime directory, shared memory and /tmp', () => {
    const environment = { XDG_RUNTIME_DIR: '/run/user/7' };
    expect(unpackingPlaces('/data', environment)).toEqual(['/data', '/run/user/7', '/dev/shm', '/tmp']);
  });

  it('leave out what is not set', () => {
    expect(unpackingPlaces(null, { XDG_RUNTIME_DIR: '' })).toEqual(['/dev/shm', '/tmp']);
    expect(unpackingPlaces(null, {})).toEqual(['/dev/shm', '/tmp']);
  });
});

function writeAndChange(path: string, mode: number): void {
  writeFileSync(path, asset);
  chmodSync(path, mode);
}

function made(path: string, make: (path: string) => void): string {
  make(path);
  return path;
}

function linked(place: string): string {
  const elsewhere = made(join(place, 'elsewhere'), (path) => mkdirSync(path, { mode: 0o700 }));
  return made(join(place, 'shared'), (path) => {
    mkdirSync(path);
    symlinkSync(elsewhere, folderIn(path));
  });
}

function opened(place: string): string {
  mkdirSync(folderIn(place));
  chmodSync(folderIn(place), 0o755);
  return place;
}
