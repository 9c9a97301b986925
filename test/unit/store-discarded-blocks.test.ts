/**
 * The file of a block is removed as soon as nothing in it is visible, and a checkpoint that names it may stand for a
 * while: a start that finds it gone speaks of damage only if something of it is visible.
 */
import { expect, it } from 'vitest';
import { messageOf } from '../helpers/store-messages.ts';
import { FOLDER, NO_LIMITS, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const KEPT = 300;
/** So many messages push the first block out, and are too few for another checkpoint. */
const PUSHED = 40;
const BLOCKS = `${FOLDER}/petiole/streams/00000001`;

/** A stream that has closed blocks, all of them in a checkpoint, and where it stands. */
function siteWithCheckpoint(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  site.open();
  site.putStream('S', { ...NO_LIMITS, maxMessages: KEPT });
  store(site, KEPT);
  site.close();
  open(site);
  return site;
}

function store(site: StoreSite, count: number): void {
  const { fileStore } = site.stream('S');
  for (let i = 0; i < count; i++) fileStore.append(messageOf('s', 'x'.repeat(100)), { seconds: 1, nanoseconds: i });
  site.settle();
}

/** Opens the store again; what it says is damaged. */
function open(site: StoreSite): string[] {
  const notes: string[] = [];
  const recovery = site.begin();
  site.storage.files.damage.onNote = (text) => notes.push(text);
  while (recovery.next().done !== true);
  return notes;
}

function blockFiles(site: StoreSite): string[] {
  const names = site.process.io.disk.readDirectoryNow(BLOCKS);
  return names.filter((name) => name.endsWith('.blk')).toSorted();
}

it('says nothing of blocks that were discarded after the last checkpoint', () => {
  const site = siteWithCheckpoint(1);
  const [first = ''] = blockFiles(site);
  // A kill before the next checkpoint, with the first block all pushed out.
  store(site, PUSHED);
  expect(blockFiles(site)).not.toContain(first);
  site.kill();
  expect(open(site)).toEqual([]);
  expect(site.stream('S').fileStore.messages).toBe(KEPT);
});

it('says which blocks are gone that held something', () => {
  const site = siteWithCheckpoint(2);
  const [first = ''] = blockFiles(site);
  site.kill();
  site.machine.start().io.disk.remove(`${BLOCKS}/${first}`, () => undefined);
  site.settle();
  expect(open(site)).toEqual([`"${BLOCKS}/${first}" is gone: what the log does not hold of it is lost`]);
});
