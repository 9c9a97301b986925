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
