/** When messages with a TTL go that are not in memory. The rest is told in `test/property/message-lifetimes.test.ts`. */
import { expect, it } from 'vitest';
import type { FileStore } from '../../jetstream/store/file-store.ts';
import { RecordView } from '../../jetstream/store/record.ts';
import { ExpiredMessages } from '../../jetstream/stream/expired-messages.ts';
import { MessageExpiry } from '../../jetstream/stream/message-expiry.ts';
import { messageOf } from '../helpers/store-messages.ts';
import { SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const TTL_SECONDS = 60;
/** Deadlines that are close together are dealt with together. */
const LATE_MS_MAX = 100;

/** In one of the middle of several blocks. */
const SEQUENCE = 40;

/** A store of several blocks that was just opened: of those in the middle nothing is in memory, not even their indexes. */
function storeOf(site: StoreSite): FileStore {
  site.open();
  const { fileStore } = site.putStream('S');
  const time = timeOf(site);
  for (let i = 0; i < 100; i++) fileStore.append(messageOf(`s.${i}`, 'x'.repeat(200)), time);
  site.settle();
  site.close();
  site.open();
  return site.stream('S').fileStore;
}

function timeOf(site: StoreSite): { seconds: number; nanoseconds: number } {
  return { seconds: Math.floor(site.process.io.clock.wallMs() / 1000), nanoseconds: 0 };
}

it('a message goes in time although first the index of its block has to be read, and then the message', () => {
  const site = new StoreSite(1, { sizes: SMALL_SIZES });
  const store = storeOf(site);
  const { io } = site.process;
  const expired = new ExpiredMessages(store, () => false);
  const expiry = new MessageExpiry(io, store, expired);
  const time = timeOf(site);
  expiry.add(SEQUENCE, time, TTL_SECONDS);
  expiry.start();
  expect(store.list.at(SEQUENCE)?.index).toBeNull();
  const deadlineMs = (time.seconds + TTL_SECONDS) * 1000;
  const isThere = (): boolean => store.read(SEQUENCE, new RecordView(Buffer.alloc(0))) !== 'missing';
  site.until(() => io.clock.wallMs() >= deadlineMs, 'the deadline');
  expect(isThere()).toBe(true);
  site.until(() => !isThere(), 'the message to go');
  expect(io.clock.wallMs() - deadlineMs).toBeLessThan(LATE_MS_MAX);
});
