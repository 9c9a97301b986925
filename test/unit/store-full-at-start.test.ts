/**
 * A new store on a disk that is full is refused in one line; one that is there already is opened, and what is deleted from
 * it gives space back.
 */
import { expect, it } from 'vitest';
import type { Segment } from '../../jetstream/store/segment.ts';
import { StoreError } from '../../jetstream/store/store-directory.ts';
import { messageOf, readAll } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

function fill(site: StoreSite): void {
  const { disk } = site.machine;
  disk.capacityBytes -= disk.freeBytes;
}

/** A store with twenty messages. */
function storedSite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore } = site.putStream('S');
  for (let i = 0; i < 20; i++) fileStore.append(messageOf('s', 'x'.repeat(300)), { seconds: 1, nanoseconds: i });
  site.settle();
  return site;
}

function errorOf(start: () => void): unknown {
  try {
    start();
  } catch (error) {
    return error;
  }
  return null;
}

it('a new store needs room', () => {
  const site = new StoreSite(1);
  fill(site);
  const error = errorOf(() => site.open());
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: 'STORE_UNWRITABLE' });
  expect((error as StoreError).message).toMatch(
    new RegExp(`^could not create storage directory "${FOLDER}": .*ENOSPC`),
  );
  expect((error as StoreError).message).not.toContain('\n');
});

it('an old one does not', () => {
  const site = new StoreSite(1);
  site.open();
  site.putStream('S').fileStore.append(messageOf('s', 'x'), { seconds: 1, nanoseconds: 0 });
  site.settle();
  site.cut();
  fill(site);
  expect(errorOf(() => site.open())).toBeNull();
  const { fileStore } = site.stream('S');
  expect(readAll(fileStore, () => site.settle()).map(({ payload }) => payload)).toEqual(['x']);
});

it('what is purged from an old one gives space back', () => {
  const site = storedSite(2);
  site.cut();
  fill(site);
  for (let start = 0; start < 3; start++) {
    site.open();
    const { fileStore } = site.stream('S');
    expect(fileStore.messages).toBe(20 + start);
    fileStore.append(messageOf('s', 'x'), { seconds: 2, nanoseconds: 0 });
    site.until(() => fileStore.messages === 21 + start, 'a message in what is left of the log');
    site.cut();
  }
  site.open();
  const { fileStore } = site.stream('S');
  const { freeBytes } = site.machine.disk;
  fileStore.purgeBelow(fileStore.lastSequence + 1);
  site.until(() => fileStore.messages === 0, 'the purge');
  site.until(() => site.machine.disk.freeBytes > freeBytes, 'space');
  site.cut();
  site.open();
  expect(site.stream('S').fileStore.messages).toBe(0);
});

it('a stream that is deleted from an old one gives space back', () => {
  const site = storedSite(3);
  site.close();
  fill(site);
  site.open();
  const { freeBytes } = site.machine.disk;
  let isDeleted = false;
  site.deleteLater('stream', site.stream('S').fileStore.number, () => (isDeleted = true));
  site.until(() => isDeleted, 'the stream to be deleted');
  site.until(() => site.machine.disk.freeBytes > freeBytes, 'space');
  site.cut();
  site.open();
  expect(site.host.streams.size).toBe(0);
});

it.each([
  ['closed', (site: StoreSite) => site.close()],
  ['killed', (site: StoreSite) => site.kill()],
  ['cut off', (site: StoreSite) => site.cut()],
])('what is stored behind the end of a log that was closed in order is there when it is %s', (_, end) => {
  const site = storedSite(4);
  site.close();
  fill(site);
  for (let start = 0; start < 3; start++) {
    site.open();
    const { fileStore } = site.stream('S');
    expect(fileStore.messages).toBe(20 + start);
    fileStore.append(messageOf('s', 'y'), { seconds: 2, nanoseconds: 0 });
    site.until(() => fileStore.messages === 21 + start, 'a message in what is left of the log');
    end(site);
  }
  site.open();
  expect(site.stream('S').fileStore.messages).toBe(23);
  expect([site.storage.report.damagedBytes, site.damageNotes]).toEqual([0, []]);
});

it('what is damaged behind the end of a log that was closed in order costs nothing that follows', () => {
  const site = storedSite(5);
  site.close();
  fill(site);
  site.open();
  const { fileStore } = site.stream('S');
  const { log } = site.storage;
  const lsn = log.durableLsn;
  const last = log.segments.used.at(-1) as Segment;
  for (let i = 0; i < 3; i++) {
    fileStore.append(messageOf('s', `new ${i}`), { seconds: 2, nanoseconds: 0 });
    site.until(() => fileStore.messages === 21 + i, 'a message in what is left of the log');
  }
  site.cut();
  // The head of the first new frame, which tells as well that there is one.
  site.machine.disk.flipBit(last.path, last.offsetOf(lsn) + 5, 0);
  site.open();
  expect(site.storage.report.damagedBytes).toBeGreaterThan(0);
  const stored = readAll(site.stream('S').fileStore, () => site.world.scheduler.runFor(1000));
  expect(stored.slice(-2).map(({ payload }) => payload)).toEqual(['new 1', 'new 2']);
});

it.each(Array.from({ length: 20 }, (_, i) => i))(
  'what was torn when the power went does not come back (seed %i)',
  (seed) => {
    const site = new StoreSite(seed, { sizes: SMALL_SIZES });
    site.open();
    const { fileStore: first } = site.putStream('S');
    for (let i = 0; i < 40; i++) first.append(messageOf('s', `torn ${i}`.padEnd(100)), { seconds: 1, nanoseconds: i });
    site.world.scheduler.runFor(seed / 40);
    site.cut();
    fill(site);
    site.open();
    const { fileStore } = site.stream('S');
    const settle = (): void => site.world.scheduler.runFor(1000);
    // As large as what was torn, so that something of that may follow in the log.
    for (let i = 0; i < 3; i++)
      fileStore.append(messageOf('s', `new ${i}`.padEnd(100)), { seconds: 2, nanoseconds: i });
    const last = fileStore.appendedSequence;
    site.until(() => fileStore.lastSequence === last, 'the new messages');
    const stored = readAll(fileStore, settle);
    site.cut();
    site.open();
    expect(readAll(site.stream('S').fileStore, settle)).toEqual(stored);
    expect(stored.slice(-3).map(({ payload }) => payload.trim())).toEqual(['new 0', 'new 1', 'new 2']);
  },
);
