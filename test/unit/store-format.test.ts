/** A store of another format is refused in one line, and nothing in it is touched. */
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../jetstream/store/store-directory.ts';
import { FOLDER, StoreSite } from '../helpers/store-site.ts';

const FORMAT = `${FOLDER}/petiole/format`;

function siteOfFormat(text: string): StoreSite {
  const site = new StoreSite(1);
  site.open();
  site.putStream('S');
  site.close();
  site.process = site.machine.start();
  site.process.io.disk.writeFileNow(FORMAT, Buffer.from(text));
  return site;
}

function refusalOf(site: StoreSite): StoreError {
  try {
    site.begin();
  } catch (error) {
    if (error instanceof StoreError) return error;
  }
  throw new Error('the store was opened');
}

describe('a store of another format', () => {
  it.each([
    ['petiole store 1\n', /is of an older format \(format 1, this version reads 2; nothing was touched\)$/],
    ['petiole store 3\n', /is of a newer format \(format 3, this version reads 2; nothing was touched\)$/],
    ['something else\n', /is not the mark of a petiole store; nothing was touched$/],
  ])('is refused: %j', (text, line) => {
    const site = siteOfFormat(text);
    const { disk } = site.process.io;
    const before = disk.readDirectoryNow(`${FOLDER}/petiole`).filter((name) => name !== 'lock');
    const refusal = refusalOf(site);
    expect(refusal.code).toBe('STORE_FORMAT');
    expect(refusal.message).toMatch(line);
    expect(refusal.message).not.toContain('\n');
    expect(disk.readDirectoryNow(`${FOLDER}/petiole`).filter((name) => name !== 'lock')).toEqual(before);
  });
});

describe('a store that has lost part of its directory', () => {
  it.each(['', '\0'.repeat(16)])('is opened when nothing is left in the mark: %j', (text) => {
    const site = siteOfFormat(text);
    site.open();
    expect([...site.host.streams.keys()]).toEqual(['S']);
    site.close();
    expect(site.process.io.disk.readFileNow(FORMAT).toString()).toBe('petiole store 2\n');
  });

  it.each(['log', 'streams', 'consumers'])('makes %s anew', (name) => {
    const site = siteOfFormat('petiole store 2\n');
    const { disk } = site.process.io;
    moveAway(site, name);
    expect(disk.statusNow(`${FOLDER}/petiole/${name}`)).toBeNull();
    site.open();
    expect(disk.statusNow(`${FOLDER}/petiole/${name}`)?.isDirectory).toBe(true);
    expect([...site.host.streams.keys()]).toEqual(['S']);
    site.close();
  });

  it('is refused in one line where a file stands in the place of a folder', () => {
    const site = siteOfFormat('petiole store 2\n');
    const { disk } = site.process.io;
    moveAway(site, 'streams');
    disk.writeFileNow(`${FOLDER}/petiole/streams`, Buffer.from('x'));
    const refusal = refusalOf(site);
    expect(refusal.message).toMatch(/petiole\/streams" is not a directory: move it away/);
    expect(refusal.message).not.toContain('\n');
  });
});

function moveAway(site: StoreSite, name: string): void {
  site.process.io.disk.rename(`${FOLDER}/petiole/${name}`, `${FOLDER}/elsewhere`, () => undefined);
  site.world.scheduler.runFor(1000);
}
