/** A message that is damaged in its block is not given up while the log, where it stands as well, can't be read. */
import { expect, it } from 'vitest';
import { messageOf, readStored } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const BLOCK = `${FOLDER}/petiole/streams/00000001/000001.blk`;
const LOG = /\/log\//;

/** A store whose first message is damaged in the file of its block; the log holds it still. */
function damagedSite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore: store } = site.putStream('S');
  for (let i = 0; i < 100; i++) store.append(messageOf('s', `message ${i}`.padEnd(60)), { seconds: 1, nanoseconds: 0 });
  site.settle();
  const at = site.process.io.disk.readFileNow(BLOCK).indexOf('message 0');
  site.machine.disk.flipBit(BLOCK, at, 0);
  return site;
}

it.each([
  ['for a while', 100, { found: true, lost: 0 }],
  ['for good', 20_000, { found: false, lost: 1 }],
])('the log can not be read %s', (_, failures, outcome) => {
  const site = damagedSite(failures);
  const { fileStore: store } = site.stream('S');
  for (let i = 0; i < failures; i++) site.machine.disk.faults.failNext('read', 'EIO', LOG);
  const read = readStored(store, 1, () => site.settle());
  expect({ found: read !== null, lost: store.lost }).toEqual(outcome);
  expect(read?.payload.trim() ?? 'message 0').toBe('message 0');
});
