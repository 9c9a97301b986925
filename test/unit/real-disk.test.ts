/** The host's disk: what every disk promises, and that a synced file is opened so that the device has each write. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenMode } from '../../server/io/io.ts';
import { RealDisk } from '../../server/io/real-disk.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { describeDisk } from './disk-contract.ts';

describeDisk("the host's", () => ({
  disk: new RealDisk(),
  folder: temporaryDirectory(),
  until: async (condition, what) => {
    await until(condition, what);
  },
}));

describe("the host's disk", () => {
  it.runIf(platform() === 'linux').each<[OpenMode, boolean]>([
    ['write', false],
    ['replace', false],
    ['create', false],
    ['write-synced', true],
  ])('opens with %s so that a write waits for the device: %s', (mode, isSynced) => {
    const path = join(temporaryDirectory(), 'file');
    const file = new RealDisk().openNow(path, mode);
    expect((flagsOf(path) & constants.O_DSYNC) !== 0).toBe(isSynced);
    file.closeNow();
  });

  it('knows how many bytes are free', () => {
    expect(new RealDisk().freeBytesNow(temporaryDirectory())).toBeGreaterThan(0);
  });

  it.runIf(platform() === 'linux')('says that a folder can not be made where no names can be made', async () => {
    const disk = new RealDisk();
    expect(() => disk.makeDirectoryNow('/proc/no/where')).toThrow('ENOENT');
    const error = await new Promise((resolve) => {
      disk.makeDirectory('/proc/no/where', resolve);
    });
    expect(error).toHaveProperty('code', 'ENOENT');
  });

  it('leaves nothing of a file that could not be written whole under its name', () => {
    const folder = temporaryDirectory();
    expect(() => new RealDisk().writeFileNow(join(folder, 'no', 'file'), Buffer.from('x'))).toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** The flags with which this process has opened the file. */
function flagsOf(path: string): number {
  const descriptor = readdirSync('/proc/self/fd').find((each) => linkOf(`/proc/self/fd/${each}`) === path);
  const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  return Number.parseInt(/flags:\s*(\d+)/.exec(text)?.[1] ?? '', 8);
}

/** The listing's own descriptor is closed by the time it is looked at. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
