/** A start reads of the log what the newest checkpoints lack, and more only where one of them is damaged. */
import { describe, expect, it } from 'vitest';
import { checkpointPath } from '../../jetstream/store/stream-recovery.ts';
import { messageOf, readAll } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const MESSAGES = 4000;
const STREAMS = ['A', 'B'];

/** A store under load, with checkpoints on the way. */
function busySite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  site.open();
  const stores = STREAMS.map((name) => site.putStream(name).fileStore);
  for (let i = 0; i < MESSAGES; i++) {
    for (const store of stores) store.append(messageOf('s', `message ${i}`), { seconds: 1, nanoseconds: i });
    if (i % 50 === 0) site.settle();
  }
  site.settle();
  return site;
}

/** Opens the store again; the frames that were read. */
function reopen(site: StoreSite): number {
  site.open();
  for (const name of STREAMS) {
    const { fileStore: store } = site.stream(name);
    expect([store.messages, store.lost]).toEqual([MESSAGES, 0]);
    expect(readAll(store, () => site.settle()).map(({ payload }) => payload)[MESSAGES - 1]).toContain('message 3999');
  }
  return site.storage.report.frames;
}

/** How many messages are in the log that the store keeps. */
function kept(site: StoreSite): number {
  const { segments, durableLsn } = site.storage.log;
  const [first] = segments.used;
  const all = durableLsn / (2 * MESSAGES);
  return Math.floor((durableLsn - (first?.header.baseLsn ?? 0)) / all);
}

describe('a start', () => {
  it('reads nothing after an orderly end', () => {
    const site = busySite(1);
    site.close();
    expect(reopen(site)).toBe(0);
    site.close();
    expect(reopen(site)).toBe(0);
  });

  it('reads a part of the log after a crash, also of the next one', () => {
    const site = busySite(2);
    for (let crash = 0; crash < 3; crash++) {
      const held = kept(site);
      site.kill();
      expect(reopen(site)).toBeLessThan(held * 0.8);
    }
  });

  it.each([0, 1])('reads more when a checkpoint is damaged: the one in slot %i', (slot) => {
    const whole = busySite(3);
    whole.kill();
    const needed = reopen(whole);
    const site = busySite(3);
    const directory = site.storage.assetDirectory('stream', site.stream('A').fileStore.number);
    expect(directory.startsWith(FOLDER)).toBe(true);
    site.kill();
    site.machine.disk.flipBit(checkpointPath(directory, slot), 40, 0);
    expect(reopen(site)).toBeGreaterThan(needed);
  });
});
