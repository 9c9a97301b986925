/**
 * What every form of the disk promises while nothing goes wrong: one suite that the host's disk and the simulated one
 * run, among it random operations that are compared with a model of three lines per operation.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Disk, FileHandle, IoError, OpenMode } from '../../server/io/io.ts';

export interface DiskUnderTest {
  readonly disk: Disk;
  /** An empty folder. */
  readonly folder: string;
  /** Lets time pass until the condition holds. */
  until(condition: () => boolean, what: string): Promise<void>;
}

type Answer<T> = (error: IoError | null, value: T) => void;

/** Starts an operation and waits until it is done; rejects with its error. */
async function done<T>(under: DiskUnderTest, start: (answer: Answer<T>) => void): Promise<T> {
  let result: { error: IoError | null; value: T } | null = null;
  start((error, value) => (result = { error, value }));
  expect(result, 'the answer never comes inside the call').toBeNull();
  await under.until(() => result !== null, 'an operation of the disk');
  const { error, value } = result as unknown as { error: IoError | null; value: T };
  if (error !== null) throw error;
  return value;
}

async function open(under: DiskUnderTest, path: string, mode: OpenMode): Promise<FileHandle> {
  const file = await done<FileHandle | null>(under, (answer) => under.disk.open(path, mode, answer));
  return file as FileHandle;
}

/** The code with which an operation fails. */
async function codeOf<T>(under: DiskUnderTest, start: (answer: Answer<T>) => void): Promise<string | undefined> {
  try {
    await done(under, start);
  } catch (error) {
    return (error as IoError).code;
  }
  throw new Error('the operation should have failed');
}

function thrownBy(operation: () => unknown): string | undefined {
  try {
    operation();
  } catch (error) {
    return (error as IoError).code;
  }
  throw new Error('the operation should have failed');
}

export function describeDisk(name: string, make: () => DiskUnderTest): void {
  describe(`the disk: ${name}`, () => {
    it('writes and reads at positions, leaves zeros between, and reads less only at the end', async () => {
      const under = make();
      const file = await open(under, `${under.folder}/a`, 'create');
      const bytes = Buffer.from('..hello..');
      expect(await done<number>(under, (answer) => file.write(bytes, 2, 5, 10_000, answer))).toBe(5);
      const read = Buffer.alloc(20, 0xff);
      expect(await done<number>(under, (answer) => file.read(read, 1, 19, 9_998, answer))).toBe(7);
      expect(read.toString('latin1', 0, 9)).toBe('\xff\0\0hello\xff');
      expect(await done<number>(under, (answer) => file.read(read, 0, 20, 10_005, answer))).toBe(0);
      expect(file.readNow(read, 0, 3, 10_000)).toBe(3);
      expect(read.toString('latin1', 0, 3)).toBe('hel');
      expect(file.writeNow(Buffer.from('J'), 0, 1, 10_000)).toBe(1);
      expect(await done<number>(under, (answer) => file.size(answer))).toBe(10_005);
      await done(under, (answer) => file.sync((error) => answer(error, null)));
      await done(under, (answer) => file.close((error) => answer(error, null)));
      expect(under.disk.readFileNow(`${under.folder}/a`).subarray(10_000).toString()).toBe('Jello');
      expect(under.disk.statusNow(`${under.folder}/a`)).toEqual({ bytes: 10_005, isDirectory: false });
    });

    it.each<[OpenMode, string | null, string]>([
      ['read', 'ENOENT', 'old'],
      ['create', null, 'EEXIST'],
      ['write', null, 'old'],
      ['write-synced', null, 'old'],
      ['replace', null, ''],
    ])('opens with %s what is not there (%s) and what is (%s)', async (mode, absent, present) => {
      const under = make();
      const { disk, folder } = under;
      disk.writeFileNow(`${folder}/there`, Buffer.from('old'));
      expect(await fateOf(under, mode, 'absent')).toBe(absent ?? '');
      expect(await fateOf(under, mode, 'there')).toBe(present);
      expect(disk.statusNow(`${folder}/absent`)).toEqual(absent === null ? { bytes: 0, isDirectory: false } : null);
    });

    it('does not write to what was opened for reading, nor use what was closed', async () => {
      const under = make();
      const path = `${under.folder}/a`;
      under.disk.writeFileNow(path, Buffer.from('old'));
      const file = await open(under, path, 'read');
      const bytes = Buffer.alloc(3);
      expect(await codeOf<number>(under, (answer) => file.write(bytes, 0, 3, 0, answer))).toBe('EBADF');
      expect(thrownBy(() => file.writeNow(bytes, 0, 3, 0))).toBe('EBADF');
      file.closeNow();
      expect(thrownBy(() => file.readNow(bytes, 0, 3, 0))).toBe('EBADF');
      expect(await codeOf<number>(under, (answer) => file.read(bytes, 0, 3, 0, answer))).toBe('EBADF');
      expect(await codeOf<null>(under, (answer) => file.sync((error) => answer(error, null)))).toBe('EBADF');
      expect(await codeOf<number>(under, (answer) => file.size(answer))).toBe('EBADF');
      expect(await codeOf<null>(under, (answer) => file.close((error) => answer(error, null)))).toBe('EBADF');
      expect(thrownBy(() => file.closeNow())).toBe('EBADF');
    });

    it('makes, lists, moves and removes names, and says what is missing', async () => {
      const under = make();
      const { disk, folder } = under;
      await done(under, (answer) => disk.makeDirectory(`${folder}/a/b/c`, (error) => answer(error, null)));
      await done(under, (answer) => disk.makeDirectory(`${folder}/a/b/c`, (error) => answer(error, null)));
      disk.makeDirectoryNow(`${folder}/a/d`);
      disk.writeFileNow(`${folder}/a/file`, Buffer.from('1'));
      disk.writeFileNow(`${folder}/a/b/other`, Buffer.from('2'));
      expect(disk.readDirectoryNow(`${folder}/a`).sort()).toEqual(['b', 'd', 'file']);
      expect(disk.statusNow(`${folder}/a/b`)?.isDirectory).toBe(true);
      await done(under, (answer) => disk.rename(`${folder}/a/file`, `${folder}/a/b/other`, (e) => answer(e, null)));
      expect(disk.readFileNow(`${folder}/a/b/other`).toString()).toBe('1');
      await done(under, (answer) => disk.rename(`${folder}/a/b`, `${folder}/e`, (error) => answer(error, null)));
      expect(disk.readFileNow(`${folder}/e/other`).toString()).toBe('1');
      await done(under, (answer) => disk.syncDirectory(folder, (error) => answer(error, null)));
      await done(under, (answer) => disk.remove(`${folder}/e/other`, (error) => answer(error, null)));
      await done(under, (answer) => disk.removeDirectory(`${folder}/e`, (error) => answer(error, null)));
      expect(disk.statusNow(`${folder}/e`)).toBeNull();
      expect(disk.readDirectoryNow(`${folder}/a`)).toEqual(['d']);
    });

    it('gives the codes of the system', async () => {
      const under = make();
      const { disk, folder } = under;
      disk.writeFileNow(`${folder}/file`, Buffer.from('1'));
      disk.makeDirectoryNow(`${folder}/full/x`);
      const outcomes = {
        'open below nothing': thrownBy(() => disk.openNow(`${folder}/no/a`, 'write')),
        'open below a file': thrownBy(() => disk.openNow(`${folder}/file/a`, 'write')),
        'write to a folder': thrownBy(() => disk.openNow(`${folder}/full`, 'write')),
        'list nothing': thrownBy(() => disk.readDirectoryNow(`${folder}/no`)),
        'list a file': thrownBy(() => disk.readDirectoryNow(`${folder}/file`)),
        'read nothing': thrownBy(() => disk.readFileNow(`${folder}/no`)),
        'make a folder of a file': thrownBy(() => disk.makeDirectoryNow(`${folder}/file`)),
        'free below nothing': thrownBy(() => disk.freeBytesNow(`${folder}/no`)),
        'remove nothing': await codeOf(under, (answer) => disk.remove(`${folder}/no`, (error) => answer(error, null))),
        'remove a folder as a file': await codeOf(under, (a) => disk.remove(`${folder}/full`, (e) => a(e, null))),
        'remove no folder': await codeOf(under, (a) => disk.removeDirectory(`${folder}/no`, (e) => a(e, null))),
        'move nothing': await codeOf(under, (a) => disk.rename(`${folder}/no`, `${folder}/b`, (e) => a(e, null))),
        'move onto a folder': await codeOf(under, (a) =>
          disk.rename(`${folder}/file`, `${folder}/full`, (e) => a(e, null)),
        ),
        'sync no folder': await codeOf(under, (a) => disk.syncDirectory(`${folder}/no`, (e) => a(e, null))),
      };
      expect(outcomes).toEqual({
        'open below nothing': 'ENOENT',
        'open below a file': 'ENOTDIR',
        'write to a folder': 'EISDIR',
        'list nothing': 'ENOENT',
        'list a file': 'ENOTDIR',
        'read nothing': 'ENOENT',
        'make a folder of a file': 'EEXIST',
        'free below nothing': 'ENOENT',
        'remove nothing': 'ENOENT',
        'remove a folder as a file': 'EISDIR',
        'remove no folder': 'ENOENT',
        'move nothing': 'ENOENT',
        'move onto a folder': 'EISDIR',
        'sync no folder': 'ENOENT',
      });
    });

    it('goes on with an open file whose name is gone', async () => {
      const under = make();
      const path = `${under.folder}/a`;
      const file = await open(under, path, 'write');
      await done(under, (answer) => under.disk.remove(path, (error) => answer(error, null)));
      file.writeNow(Buffer.from('still'), 0, 5, 0);
      const read = Buffer.alloc(5);
      expect(file.readNow(read, 0, 5, 0)).toBe(5);
      expect(read.toString()).toBe('still');
      file.closeNow();
      expect(under.disk.statusNow(path)).toBeNull();
    });

    it('gives a lock to one at a time', () => {
      const under = make();
      const path = `${under.folder}/lock`;
      const lock = under.disk.lockNow(path);
      expect(lock).not.toBeNull();
      expect(under.disk.lockNow(path)).toBeNull();
      lock?.release();
      const again = under.disk.lockNow(path);
      expect(again).not.toBeNull();
      again?.release();
      expect(under.disk.statusNow(path)?.isDirectory).toBe(false);
    });

    it('agrees with a naive model, whatever is done', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
          const under = make();
          const model = new Map<string, Buffer>();
          for (const each of commands) {
            expect(await onDisk(under, each)).toBe(inModel(model, each));
          }
          expect(under.disk.readDirectoryNow(under.folder).sort()).toEqual([...model.keys()].sort());
          for (const [name, bytes] of model) {
            expect(under.disk.readFileNow(`${under.folder}/${name}`).equals(bytes)).toBe(true);
            expect(under.disk.statusNow(`${under.folder}/${name}`)?.bytes).toBe(bytes.length);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}

/** What opening the file with the mode leads to: its bytes then, or the code. */
async function fateOf(under: DiskUnderTest, mode: OpenMode, name: string): Promise<string> {
  const path = `${under.folder}/${name}`;
  try {
    const file = await open(under, path, mode);
    file.closeNow();
  } catch (error) {
    return (error as IoError).code ?? 'no code';
  }
  return under.disk.readFileNow(path).toString();
}

const name = fc.constantFrom('a', 'b', 'c');

const command = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    name,
    mode: fc.constantFrom<OpenMode>('write', 'write-synced', 'replace'),
    position: fc.nat(10_000),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 6000 }),
  }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('rename' as const), name, to: name }),
);

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** Does it; what comes of it: bytes written, or a code, or nothing. */
async function onDisk(under: DiskUnderTest, it: Command): Promise<number | string | null> {
  const { disk, folder } = under;
  const path = `${folder}/${it.name}`;
  try {
    switch (it.kind) {
      case 'write': {
        const file = await open(under, path, it.mode);
        const { bytes, position } = it;
        const written = await done<number>(under, (answer) => file.write(bytes, 0, bytes.length, position, answer));
        file.closeNow();
        return written;
      }
      case 'remove':
        return await done<null>(under, (answer) => disk.remove(path, (error) => answer(error, null)));
      case 'rename':
        return await done<null>(under, (answer) =>
          disk.rename(path, `${folder}/${it.to}`, (error) => answer(error, null)),
        );
      default:
        return it satisfies never;
    }
  } catch (error) {
    return (error as IoError).code ?? 'no code';
  }
}

/** The same by the plainest reckoning. */
function inModel(model: Map<string, Buffer>, it: Command): number | string | null {
  const before = model.get(it.name);
  switch (it.kind) {
    case 'write': {
      const kept = it.mode === 'replace' || before === undefined ? Buffer.alloc(0) : before;
      const after = Buffer.alloc(Math.max(kept.length, it.position + it.bytes.length));
      kept.copy(after);
      after.set(it.bytes, it.position);
      model.set(it.name, after);
      return it.bytes.length;
    }
    case 'remove':
      return model.delete(it.name) ? null : 'ENOENT';
    case 'rename':
      if (before === undefined) return 'ENOENT';
      model.delete(it.name);
      model.set(it.to, before);
      return null;
    default:
      return it satisfies never;
  }
}
