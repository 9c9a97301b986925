/** What a store writes is counted, is a little more than twice what it was given, and is nothing while it is idle. */
import { describe, expect, it } from 'vitest';
import { messageOf } from '../helpers/store-messages.ts';
import { StoreSite } from '../helpers/store-site.ts';

const MESSAGES = 20_000;
const BYTES = 1024;

describe('what a store writes', () => {
  it('is at most 2.3 times what it is given in small messages', () => {
    const site = new StoreSite(1);
    site.open();
    const { fileStore: store } = site.putStream('S');
    for (let i = 0; i < MESSAGES; i++) {
      store.append(messageOf('sensor.temperature', 'x'.repeat(BYTES)), { seconds: i, nanoseconds: 0 });
      if (i % 100 === 99) site.world.scheduler.runFor(2);
    }
    site.settle();
    const { bytesGiven, logBytesWritten, fileBytesWritten } = site.storage.statistics;
    expect(bytesGiven).toBe(MESSAGES * BYTES);
    expect(logBytesWritten).toBeGreaterThan(bytesGiven);
    expect((logBytesWritten + fileBytesWritten) / bytesGiven).toBeLessThan(2.3);
  });

  it('is nothing while nothing happens', () => {
    const site = new StoreSite(2);
    site.open();
    const { fileStore: store } = site.putStream('S');
    for (let i = 0; i < 1000; i++) store.append(messageOf('s', 'x'.repeat(100)), { seconds: i, nanoseconds: 0 });
    site.settle();
    const before = site.storage.statistics;
    site.world.scheduler.runFor(600_000);
    expect(site.storage.statistics).toEqual(before);
  });
});
