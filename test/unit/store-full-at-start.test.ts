/**
 * A new store on a disk that is full is refused in one line; one that is there already is opened, and what is deleted from
 * it gives space back.
 */
import { expect, it } from 'vitest';
import { StoreError } from '../../jetstream/store/store-directory.ts';
import { messageOf, readAll } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

function fill(site: StoreSite): void {
  const { disk } = site.machine;
  disk.capacityBytes -= disk.freeBytes;
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
  const site = new StoreSite(2, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore: first } = site.putStream('S');
  for (let i = 0; i < 20; i++) first.append(messageOf('s', 'x'.repeat(300)), { seconds: 1, nanoseconds: i });
  site.settle();
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
