/** A checkpoint that was being written when the power went is no damage; one that was whole and can't be read is. */
import { expect, it } from 'vitest';
import { messageOf } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const STREAM = `${FOLDER}/petiole/streams/00000001`;
const CONSUMER = `${FOLDER}/petiole/consumers/00000002`;
const LIVES = 2;
const LAST = LIVES * 30;

/** A store with a checkpoint of a stream and one of a consumer, and something that these lack. */
function storedSite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  for (let life = 0; life < LIVES; life++) {
    site.open();
    if (life === 0) {
      site.putStream('S');
      site.putConsumer('S', 'C');
    }
    for (let i = 0; i < 30; i++) {
      const { fileStore } = site.stream('S');
      fileStore.append(messageOf('s', 'x'.repeat(100)), { seconds: 1, nanoseconds: 0 });
      site.consumer('C').log.delivered(fileStore.appendedSequence, 1, 0);
    }
    site.settle();
    if (life + 1 < LIVES) site.close();
  }
  return site;
}

function namesIn(site: StoreSite): string[] {
  if (!site.process.isAlive) site.process = site.machine.start();
  return [STREAM, CONSUMER].flatMap((folder) => site.process.io.disk.readDirectoryNow(folder));
}

it('a checkpoint that was being written when the power went is not called damaged', () => {
  let halfWritten = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const site = storedSite(seed);
    site.storage.close(() => undefined);
    const isWriting = (): boolean => namesIn(site).some((name) => /^state.*new$/.test(name));
    site.until(isWriting, 'a checkpoint to be begun');
    site.world.scheduler.runFor((seed % 8) / 4);
    site.cut();
    if (isWriting()) halfWritten++;
    site.open();
    expect(site.damageNotes, `seed ${seed}`).toEqual([]);
    expect(site.stream('S').fileStore.lastSequence).toBe(LAST);
  }
  expect(halfWritten).toBeGreaterThan(10);
});

it.each([
  ['a stream', STREAM],
  ['a consumer', CONSUMER],
])('a checkpoint of %s that was whole and can not be read is called damaged', (_, folder) => {
  const site = storedSite(1);
  site.close();
  expect(namesIn(site)).toEqual(expect.arrayContaining(['state.0', 'state.1']));
  site.machine.disk.flipBit(`${folder}/state.1`, 30, 3);
  site.open();
  expect(site.damageNotes).toEqual([`"${folder}/state.1" is damaged`]);
  expect(site.stream('S').fileStore.lastSequence).toBe(LAST);
});

it('a deleted stream whose folder is gone already is not called damaged', () => {
  let isGone = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const site = storedSite(seed);
    site.close();
    site.open();
    let isDeleted = false;
    site.deleteLater('stream', site.stream('S').fileStore.number, () => (isDeleted = true));
    site.until(() => isDeleted, 'the stream to be deleted');
    site.world.scheduler.runFor(seed / 20);
    site.cut('all');
    if (!site.process.isAlive) site.process = site.machine.start();
    isGone += site.process.io.disk.statusNow(STREAM) === null ? 1 : 0;
    site.open();
    expect(site.host.streams.size).toBe(0);
    expect(site.damageNotes, `seed ${seed}`).toEqual([]);
  }
  expect(isGone).toBeGreaterThan(5);
});
