/** What a store writes is counted, is a little more than twice what it was given, and is nothing while it is idle. */
import { describe, expect, it } from 'vitest';
import { messageOf } from '../helpers/store-messages.ts';
import { SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

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

  it('is no new segment of the log once those there are can be used again', () => {
    const site = new StoreSite(3, {
      sizes: { ...SMALL_SIZES, segmentBytesMin: 32 * 1024, segmentBytesMax: 512 * 1024 },
    });
    site.open();
    const { fileStore: store } = site.putStream('S');
    const segments = (): string[] => site.process.io.disk.readDirectoryNow('/data/petiole/log').sort();
    const write = (messages: number): void => {
      for (let i = 0; i < messages; i++) {
        store.append(messageOf('s', 'x'.repeat(1000)), { seconds: i, nanoseconds: 0 });
        if (i % 10 === 9) site.world.scheduler.runFor(20);
      }
    };
    // As many bytes as all sizes up to the largest together.
    write(1100);
    const before = segments();
    expect(before.length).toBeLessThan(5);
    write(1200);
    expect(segments()).toEqual(before);
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
