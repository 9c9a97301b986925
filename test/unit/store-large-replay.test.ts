/** Large messages stand in their blocks already: a start after a crash takes their places from the log and reads none. */
import { expect, it } from 'vitest';
import { messageOf, readAll } from '../helpers/store-messages.ts';
import { StoreSite } from '../helpers/store-site.ts';
import type { Io } from '../../server/io/io.ts';

it('a start opens a block once, however many large messages stand in it', () => {
  const opened: string[] = [];
  const site = new StoreSite(1, { wrap: (io) => watched(io, opened) });
  site.open();
  const { fileStore: store } = site.putStream('S');
  for (let i = 0; i < 100; i++) store.append(messageOf('s', `${i}`.padEnd(40_000)), { seconds: i, nanoseconds: 0 });
  site.settle();
  expect(store.list.blocks).toHaveLength(1);
  site.kill();
  opened.length = 0;
  site.open();
  expect(opened.filter((path) => path.endsWith('.blk')).length).toBeLessThanOrEqual(1);
  const { fileStore: reopened } = site.stream('S');
  expect(readAll(reopened, () => site.settle()).map(({ payload }) => payload.trim())).toEqual(
    Array.from({ length: 100 }, (_, i) => `${i}`),
  );
  expect(reopened.lost).toBe(0);
});

/** Notes the files that are opened while everything waits for them. */
function watched(io: Io, opened: string[]): Io {
  const disk = Object.create(io.disk) as Io['disk'];
  disk.openNow = (path, mode) => {
    opened.push(path);
    return io.disk.openNow(path, mode);
  };
  return { ...io, disk };
}
