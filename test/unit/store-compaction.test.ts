/** Blocks that hold little are written anew: the space comes back, and nothing else changes, whenever the power goes. */
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../jetstream/store/memory-store.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { messageOf, readStored, sequencesOf } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';
import { StoreSubject } from '../helpers/store-subject.ts';

const MESSAGES = 400;
/** Few of many are left, spread over all blocks. */
const isLeft = (sequence: number): boolean => sequence % 20 === 0;

function filledSite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore: store } = site.putStream('S');
  for (let i = 1; i <= MESSAGES; i++) {
    store.append(messageOf(`s.${i % 7}`, `payload ${i}`.padEnd(60)), { seconds: i, nanoseconds: 0 });
    if (i % 50 === 0) site.settle();
  }
  site.settle();
  return site;
}

function thinOut(site: StoreSite): void {
  for (let i = 1; i <= MESSAGES; i++) if (!isLeft(i)) site.stream('S').fileStore.remove(i);
}

function blockBytes(site: StoreSite): number {
  const { disk } = site.process.io;
  const folder = `${FOLDER}/petiole/streams/00000001`;
  const names = disk.readDirectoryNow(folder).filter((name) => name.endsWith('.blk'));
  return names.reduce((sum, name) => sum + (disk.statusNow(`${folder}/${name}`)?.bytes ?? 0), 0);
}

function checkLeft(site: StoreSite): void {
  const settle = (): void => site.settle();
  const { fileStore: store } = site.stream('S');
  const expected = Array.from({ length: MESSAGES }, (_, i) => i + 1).filter(isLeft);
  expect(sequencesOf(store, settle)).toEqual(expected);
  for (const sequence of expected) {
    expect(readStored(store, sequence, settle)?.payload.trim()).toBe(`payload ${sequence}`);
  }
  expect([store.messages, store.firstSequence, store.lastSequence, store.lost]).toEqual([20, 20, MESSAGES, 0]);
  for (let i = 0; i < 7; i++) {
    const subject = store.subjects.findText(`s.${i}`);
    expect(store.subjects.count(subject)).toBe(expected.filter((each) => each % 7 === i).length);
  }
}

describe('blocks of which most messages are gone', () => {
  it('give their space back, and what is left is there after a restart', () => {
    const site = filledSite(1);
    const before = blockBytes(site);
    thinOut(site);
    site.settle();
    checkLeft(site);
    expect(site.storage.compactor.statistics.bytesFreed).toBeGreaterThan(before / 2);
    expect(blockBytes(site)).toBeLessThan(before / 4);
    site.close();
    site.open();
    checkLeft(site);
    expect(blockBytes(site)).toBeLessThan(before / 4);
  });

  it('are whole wherever it stops', () => {
    for (let afterMs = 0; afterMs < 60; afterMs += 1) {
      const site = filledSite(100 + afterMs);
      thinOut(site);
      site.world.scheduler.runFor(5);
      site.world.scheduler.runFor(afterMs / 2);
      site.cut('seeded');
      site.open();
      site.settle();
      for (let i = 1; i <= MESSAGES; i++) if (!isLeft(i)) site.stream('S').fileStore.remove(i);
      site.settle();
      checkLeft(site);
      site.cut('none');
      site.open();
      checkLeft(site);
      expect(site.storage.report.movedAside).toEqual([]);
    }
  });

  it('lack in their new form what is removed while that is written', () => {
    const site = filledSite(4);
    const { fileStore: store } = site.stream('S');
    const keeps = (sequence: number): boolean => sequence % 10 === 0;
    for (let i = 1; i <= MESSAGES; i++) if (!keeps(i)) store.remove(i);
    const folder = `${FOLDER}/petiole/streams/00000001`;
    const isWriting = (): boolean => site.process.io.disk.readDirectoryNow(folder).includes('000001-1.blk.new');
    site.until(isWriting, 'a block to be written anew');
    for (let i = 1; i <= MESSAGES; i++) if (keeps(i) && !isLeft(i)) store.remove(i);
    site.settle();
    expect(site.storage.compactor.statistics.blocksWritten).toBeGreaterThan(0);
    checkLeft(site);
  });

  it('stay as they are while the disk takes nothing, and give their space back afterwards', () => {
    const site = filledSite(2);
    const before = blockBytes(site);
    site.machine.disk.faults.rates.writeError = 1;
    thinOut(site);
    site.world.scheduler.runFor(50);
    site.machine.disk.faults.rates.writeError = 0;
    site.settle();
    checkLeft(site);
    site.stream('S').fileStore.append(messageOf('s.0', 'one more'), { seconds: 1000, nanoseconds: 0 });
    site.settle();
    site.stream('S').fileStore.remove(40);
    site.settle();
    expect(blockBytes(site)).toBeLessThan(before / 2);
  });

  it('give memory back too', () => {
    const world = new SimulatedWorld(3);
    const subject = new StoreSubject();
    const store = new MemoryStore(world.machine('site').start().io.timers, subject, 1, 4096);
    subject.store = store;
    const settle = (): void => world.scheduler.runUntilIdle(1000);
    for (let i = 1; i <= MESSAGES; i++) {
      store.append(messageOf(`s.${i % 7}`, `payload ${i}`.padEnd(60)), { seconds: i, nanoseconds: 0 });
      settle();
    }
    const memory = (): number => store.list.blocks.reduce((sum, { bytes }) => sum + bytes.memoryBytes, 0);
    const before = memory();
    for (let i = 1; i <= MESSAGES; i++) if (!isLeft(i)) store.remove(i);
    settle();
    expect(memory()).toBeLessThan(before / 3);
    const expected = Array.from({ length: MESSAGES }, (_, i) => i + 1).filter(isLeft);
    expect(sequencesOf(store, settle)).toEqual(expected);
    for (const each of expected) expect(readStored(store, each, settle)?.payload.trim()).toBe(`payload ${each}`);
    expect(Buffer.isBuffer(store.list.blocks[0]?.bytes.buffer)).toBe(true);
  });
});
