/** The stores in memory and in files keep the same promises. */
import { MemoryStore } from '../../jetstream/store/memory-store.ts';
import type { Window } from '../../jetstream/store/block-cache.ts';
import type { FileStore } from '../../jetstream/store/file-store.ts';
import { STORE_SIZES } from '../../jetstream/store/store-sizes.ts';
import { storeContract } from '../helpers/store-contract.ts';
import { SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';
import { StoreSubject } from '../helpers/store-subject.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';

let nextSeed = 1;

for (const blockBytesMax of [undefined, 2000]) {
  storeContract({
    name: `in memory, blocks of ${blockBytesMax ?? 'the usual'} bytes`,
    overhead: () => 16,
    make: () => {
      const world = new SimulatedWorld(nextSeed++);
      const subject = new StoreSubject();
      const store = new MemoryStore(world.machine('site').start().io.timers, subject, 1, blockBytesMax);
      subject.store = store;
      return { store, subject, settle: () => world.scheduler.runUntilIdle(1000), dropCaches: () => undefined };
    },
  });
}

for (const [name, sizes] of Object.entries({ usual: STORE_SIZES, small: SMALL_SIZES })) {
  storeContract({
    name: `in files of ${name} size`,
    overhead: ({ headers }) => (headers === '' ? 30 : 34),
    make: () => {
      const site = new StoreSite(nextSeed++, { sizes });
      site.open();
      const subject = site.putStream('S');
      return {
        store: subject.fileStore,
        subject,
        settle: () => site.settle(),
        dropCaches: () => dropCaches(subject.fileStore),
      };
    },
  });
}

/** Forgets every window and every index that can be read again. */
function dropCaches({ blockFiles, list }: FileStore): void {
  const { cache } = blockFiles.files;
  for (let oldest = oldestOf(cache); oldest !== null; oldest = oldestOf(cache)) cache.drop(oldest);
  for (const block of list.blocks) {
    if (!blockFiles.isSaved(block) || block.hiddenMessages > 0) continue;
    blockFiles.files.indexes.drop(block);
    block.index = null;
  }
}

function oldestOf(cache: object): Window | null {
  return (cache as { oldest: Window | null }).oldest;
}
