/** When messages with a TTL go that have to be read first. The rest is told in `test/property/message-lifetimes.test.ts`. */
import { expect, it } from 'vitest';
import { RecordView } from '../../jetstream/store/record.ts';
import { ExpiredMessages } from '../../jetstream/stream/expired-messages.ts';
import { MessageExpiry } from '../../jetstream/stream/message-expiry.ts';
import { messageOf } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const BLOCK = `${FOLDER}/petiole/streams/00000001/000001.blk`;
const TTL_SECONDS = 60;
/** Deadlines that are close together are dealt with together. */
const LATE_MS_MAX = 100;

it.each([
  ['has to be read', false],
  ['is damaged in its block, and has to be read from the log after that', true],
])('a message goes in time although it %s', (_, isDamaged) => {
  const site = new StoreSite(1, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore: store } = site.putStream('S');
  const { io } = site.process;
  const time = { seconds: Math.floor(io.clock.wallMs() / 1000), nanoseconds: 0 };
  for (let i = 0; i < 100; i++) store.append(messageOf('s', `message ${i}`.padEnd(60)), time);
  site.settle();
  if (isDamaged) site.machine.disk.flipBit(BLOCK, io.disk.readFileNow(BLOCK).indexOf('message 0'), 0);
  const view = new RecordView(Buffer.alloc(0));
  expect(store.read(1, view)).toBe('loading');

  const expiry = new MessageExpiry(io, store, new ExpiredMessages(store, () => false));
  expiry.add(1, time, TTL_SECONDS);
  expiry.start();
  const deadlineMs = (time.seconds + TTL_SECONDS) * 1000;
  site.until(() => io.clock.wallMs() >= deadlineMs, 'the deadline');
  expect(store.firstSequence).toBe(1);
  site.until(() => store.firstSequence > 1, 'the message to go');
  expect(io.clock.wallMs() - deadlineMs).toBeLessThan(LATE_MS_MAX);
  expect(store.lost).toBe(0);
});
