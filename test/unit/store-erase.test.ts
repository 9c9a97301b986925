/** A message that is erased is nowhere in the blocks afterwards, wherever its bytes were, and also after a crash. */
import { describe, expect, it } from 'vitest';
import { messageOf, readStored } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const SECRET = 'the secret of this message';
const time = { seconds: 1, nanoseconds: 0 };

function siteWithSecret(padding: number, secretBytes = 0): StoreSite {
  const site = new StoreSite(padding + secretBytes, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore: store } = site.putStream('S');
  store.append(messageOf('s', SECRET.padEnd(secretBytes, '.')), time);
  for (let i = 0; i < padding; i++) store.append(messageOf('s', `public ${i}`.padEnd(50)), time);
  site.settle();
  return site;
}

/** Whether the secret stands in a block's file. */
function isOnDisk(site: StoreSite): boolean {
  const view = site.process.io.disk;
  if (view.statusNow(`${FOLDER}/petiole/streams/00000001`) === null) return false;
  const folder = `${FOLDER}/petiole/streams/00000001`;
  const names = view.readDirectoryNow(folder).filter((name) => name.endsWith('.blk'));
  return names.some((name) => view.readFileNow(`${folder}/${name}`).includes(SECRET));
}

describe('a message that is erased', () => {
  it.each([
    ['in a tail', 3, 0],
    ['in a file', 30, 0],
    ['in a closed block', 300, 0],
    ['as a large message', 3, 40_000],
  ])('is gone from the blocks: %s', (_, padding, bytes) => {
    const site = siteWithSecret(padding, bytes);
    const { fileStore: store } = site.stream('S');
    expect(readStored(store, 1, () => site.settle())?.payload).toContain(SECRET);
    expect(store.remove(1, true)).toBe(true);
    site.settle();
    expect(readStored(store, 1, () => site.settle())).toBeNull();
    expect(isOnDisk(site)).toBe(false);
    site.close();
    site.open();
    expect(isOnDisk(site)).toBe(false);
    const { fileStore: reopened } = site.stream('S');
    expect([reopened.messages, reopened.lost]).toEqual([padding, 0]);
    expect(readStored(reopened, 2, () => site.settle())?.payload.trim()).toBe('public 0');
  });

  it('is erased at the next start when the power goes before', () => {
    const site = siteWithSecret(30);
    const { fileStore: store } = site.stream('S');
    store.remove(1, true);
    site.until(() => store.firstSequence === 2, 'the removal');
    expect(isOnDisk(site)).toBe(true);
    site.cut('none');
    site.open();
    site.settle();
    expect(isOnDisk(site)).toBe(false);
  });

  it('stays in its block when it is only removed', () => {
    const site = siteWithSecret(30);
    site.stream('S').fileStore.remove(1);
    site.settle();
    expect(isOnDisk(site)).toBe(true);
  });
});
