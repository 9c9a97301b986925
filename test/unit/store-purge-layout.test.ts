/**
 * Where records stand depends on what was logged: a purge that is logged while messages before it wait for a large one, or
 * for the end of their group, leaves later messages where they were when the log is read again.
 */
import { expect, it } from 'vitest';
import { messageOf, sequencesOf } from '../helpers/store-messages.ts';
import { SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const time = { seconds: 1, nanoseconds: 0 };

it('a purge amid a group whose large message waits for its block costs nothing', () => {
  const site = new StoreSite(1, {
    sizes: { ...SMALL_SIZES, segmentBytesMin: 640 * 1024, segmentBytesMax: 640 * 1024 },
  });
  site.open();
  const { fileStore: store } = site.putStream('S');
  store.append(messageOf('s', 'first'), time);
  store.beginGroup();
  store.append(messageOf('s', 'second'), time);
  store.append(messageOf('s', 'x'.repeat(40_000)), time);
  store.endGroup();
  store.purgeBelow(2);
  site.settle();
  const { fileStore: live } = site.stream('S');
  expect(sequencesOf(live, () => site.settle())).toEqual([2, 3]);
  site.cut();
  site.open();
  const { fileStore: reopened } = site.stream('S');
  expect(sequencesOf(reopened, () => site.settle())).toEqual([2, 3]);
  expect(reopened.lost).toBe(0);
  expect(reopened.list.blocks.map((block) => block.number)).toEqual(live.list.blocks.map((block) => block.number));
});
