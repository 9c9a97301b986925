/** A new store on a disk that is full is refused in one line; one that is there already is opened. */
import { expect, it } from 'vitest';
import { StoreError } from '../../jetstream/store/store-directory.ts';
import { messageOf, readAll } from '../helpers/store-messages.ts';
import { FOLDER, StoreSite } from '../helpers/store-site.ts';

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
