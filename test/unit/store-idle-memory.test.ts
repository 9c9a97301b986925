/** A store that rests gives back what a burst took, and what it held is read again when somebody asks for it. */
import { expect, it } from 'vitest';
import { RecordView } from '../../jetstream/store/record.ts';
import type { Io } from '../../server/io/io.ts';
import { messageOf } from '../helpers/store-messages.ts';
import { StoreSite } from '../helpers/store-site.ts';

const MESSAGES = 20_000;

it('gives caches and spare buffers back, and collects garbage once', () => {
  let collections = 0;
  const wrap = (io: Io): Io => ({
    ...io,
    host: Object.assign(Object.create(io.host), { collectGarbage: () => ++collections }),
  });
  const site = new StoreSite(1, { wrap, rests: true });
  site.open();
  const { fileStore: store } = site.putStream('S');
  for (let i = 1; i <= MESSAGES; i++) {
    store.append(messageOf('s', `message ${i}`.padEnd(1000)), { seconds: 1, nanoseconds: i });
    if (i % 500 === 0) site.until(() => store.lastSequence === i, 'the messages to be there');
  }
  const { files } = site.storage;
  expect(files.cache.bytes).toBeGreaterThan(1024 * 1024);
  expect(collections).toBe(0);
  site.settle();
  expect([files.cache.bytes, files.indexes.bytes, collections]).toEqual([0, 0, 1]);
  const view = new RecordView(Buffer.alloc(0));
  expect(store.read(1, view)).toBe('loading');
  let isThere = false;
  store.whenReadable(1, () => (isThere = true));
  site.until(() => isThere, 'the message to be read');
  expect(store.read(1, view)).toBe('found');
  site.settle();
  expect([files.cache.bytes, collections]).toEqual([0, 1]);
  site.close();
});
