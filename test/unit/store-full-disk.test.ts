/**
 * A disk that its own stream has filled: what is acknowledged and removed still gets into the log, gives the space back,
 * and messages are taken again, without a restart.
 */
import { expect, it } from 'vitest';
import { messageOf, sequencesOf } from '../helpers/store-messages.ts';
import { SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

/** As in a server: what is open holds far more than a full disk has left. */
const SIZES = { ...SMALL_SIZES, segmentBytesMax: 48 * 1024, blockBytesMax: 1024 * 1024 };

it('a disk full of messages that are removed takes new ones', () => {
  const site = new StoreSite(1, { sizes: SIZES });
  site.open();
  const { fileStore: store } = site.putStream('S');
  const { log, files } = site.storage;
  const { disk } = site.machine;
  disk.capacityBytes = disk.capacityBytes - disk.freeBytes + 150_000;
  const isTaken = (): boolean => log.acceptsMessages && files.writeError === null;
  let stored = 0;
  for (; isTaken() && stored < 1000; stored++) {
    store.append(messageOf('s', `${stored}`.padEnd(400)), { seconds: stored, nanoseconds: 0 });
    site.world.scheduler.runFor(1);
  }
  expect(isTaken()).toBe(false);
  expect(stored).toBeGreaterThan(100);
  for (let each = 1; each <= stored; each++) {
    store.remove(each);
    site.world.scheduler.runFor(1);
  }
  site.until(() => store.messages === 0, 'the removals');
  site.until(isTaken, 'the disk to take more');
  site.settle();
  const sequence = store.append(messageOf('s', 'more'), { seconds: 5000, nanoseconds: 0 });
  site.settle();
  expect(sequencesOf(store, () => site.settle())).toEqual([sequence]);
  site.cut();
  site.open();
  const { fileStore: reopened } = site.stream('S');
  expect(sequencesOf(reopened, () => site.settle())).toEqual([sequence]);
  expect([reopened.lost, reopened.lastSequence]).toEqual([0, stored + 1]);
});
