/**
 * What a former process wrote behind and never acknowledged stays in the file of an open block. Where what is written over
 * it is lost by a sync that fails, it must not be taken for the message that has its sequence now.
 */
import { expect, it } from 'vitest';
import { damageCheckpoints } from '../helpers/store-damage.ts';
import { messageOf, readAll } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const SEEDS = 30;
const MESSAGES = 16;
const TIME = { seconds: 1, nanoseconds: 0 };
const STREAM = `${FOLDER}/petiole/streams/00000001`;

/** Appends messages that all take the same room. */
function append(site: StoreSite, word: string, bytes: number = 200): void {
  const { fileStore } = site.stream('S');
  for (let i = 0; i < MESSAGES; i++) fileStore.append(messageOf('s', `${word} ${i}`.padEnd(bytes)), TIME);
}

/** Messages reach the file of their block, and not the log, before the power goes; the store is open again. */
function leaveBehind(site: StoreSite): void {
  const { faults } = site.machine.disk;
  site.open();
  site.putStream('S');
  // The log takes nothing; the block is written meanwhile.
  for (let i = 0; i < 8; i++) faults.failNext('write', 'EIO', /\/log\//);
  append(site, 'old');
  site.until(() => site.storage.files.bytesWritten > 0, 'the block to be written');
  site.world.scheduler.runFor(30);
  expect(site.stream('S').fileStore.lastSequence).toBe(0);
  site.cut('all');
  site.open();
}

/** The first words of messages above this sequence. */
function wordsBehind(site: StoreSite, sequence: number): string[] {
  const found = readAll(site.stream('S').fileStore, () => site.settle());
  return found.flatMap((each) => (each.sequence > sequence ? (each.payload.split(' ')[0] ?? '') : []));
}

it('a message that was never acknowledged does not come back in place of one that was', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const site = new StoreSite(seed, { sizes: { ...SMALL_SIZES, blockBytesMax: 64 * 1024 } });
    leaveBehind(site);
    // Some of what was on its way may have come through.
    const { lastSequence } = site.stream('S').fileStore;
    append(site, 'new');
    site.settle();
    site.machine.disk.faults.failNext('sync', 'EIO', /\.blk$/);
    site.close();
    site.open();
    expect(wordsBehind(site, lastSequence), `seed ${seed}`).toEqual(Array(MESSAGES).fill('new'));
  }
});

it('nor hides those that were where both checkpoints are damaged', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const site = new StoreSite(seed, { sizes: { ...SMALL_SIZES, rereadBytesMax: 0 } });
    leaveBehind(site);
    const { lastSequence } = site.stream('S').fileStore;
    // They fill the block before what was left behind in it is overwritten.
    append(site, 'new', 1900);
    site.settle();
    for (let life = 0; life < 2; life++) {
      site.close();
      site.open();
    }
    site.close();
    damageCheckpoints(site, STREAM);
    site.open();
    expect(site.damageNotes.length, `seed ${seed}`).toBe(3);
    expect(wordsBehind(site, lastSequence), `seed ${seed}`).toEqual(Array(MESSAGES).fill('new'));
  }
});
