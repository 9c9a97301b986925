/**
 * Both checkpoints of a stream are damaged: it is rebuilt from the log and from its blocks, of which some may lack their
 * end when the power went. What is undamaged in either is there, and what is damaged in both is told of.
 */
import { expect, it } from 'vitest';
import { frameAt } from '../../jetstream/store/frame.ts';
import { decodeHeader, SEGMENT_HEADER_BYTES } from '../../jetstream/store/segment.ts';
import type { Keep } from '../../server/io/simulated/file-content.ts';
import { damageCheckpoints, damageFile } from '../helpers/store-damage.ts';
import { messageOf, readAll, type Stored } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const STREAM = `${FOLDER}/petiole/streams/00000001`;
const LOG = `${FOLDER}/petiole/log`;
const FEW = 20;
const MANY = 60;
const LARGE_BYTES = 40_000;

/** What message `sequence` holds, and no other. */
function payloadOf(sequence: number): string {
  return `[message ${sequence}]`.padEnd(200);
}

function appendLater(site: StoreSite, count: number): void {
  const { fileStore } = site.stream('S');
  for (; count > 0; count--) {
    const payload = payloadOf(fileStore.appendedSequence + 1);
    fileStore.append(messageOf('s', payload), { seconds: fileStore.appendedSequence, nanoseconds: 0 });
  }
}

function append(site: StoreSite, count: number): void {
  appendLater(site, count);
  site.settle();
}

/** A store that was closed with `FEW` messages in both checkpoints of a stream, and is open again. */
function coveredSite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: { ...SMALL_SIZES, rereadBytesMax: 0 } });
  site.open();
  site.putStream('S');
  append(site, FEW);
  for (let life = 0; life < 2; life++) {
    site.close();
    site.open();
  }
  expect(site.storage.catalog.isCovered(1)).toBe(true);
  return site;
}

/** Damages what holds this message in the files of the folder: its payload, or what stands so far in front of it. */
function damageMessage(site: StoreSite, folder: string, sequence: number, before = 0): void {
  const view = site.machine.start();
  const { disk } = view.io;
  const places = disk.readDirectoryNow(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    const at = disk.readFileNow(path).indexOf(payloadOf(sequence).trim());
    return at < 0 ? [] : [{ path, at }];
  });
  view.kill();
  expect(places).not.toEqual([]);
  for (const { path, at } of places) site.machine.disk.flipBit(path, at - before, 2);
}

/** The sequences of all messages, each of which holds what it should. */
function found(site: StoreSite): number[] {
  const messages = readAll(site.stream('S').fileStore, () => site.settle());
  const isWhole = ({ sequence, payload }: Stored): boolean =>
    payload === payloadOf(sequence) || payload.length === LARGE_BYTES;
  expect(messages.filter((message) => !isWhole(message))).toEqual([]);
  return messages.map(({ sequence }) => sequence);
}

function upTo(last: number, without: readonly number[] = []): number[] {
  return Array.from({ length: last }, (_, i) => i + 1).filter((each) => !without.includes(each));
}

it.each<Keep>(['none', 'all', 'seeded'])('a power cut left blocks without their end (%s)', (keep) => {
  for (let seed = 1; seed <= 12; seed++) {
    const site = coveredSite(seed);
    const { fileStore } = site.stream('S');
    append(site, MANY);
    appendLater(site, MANY);
    // Its block is on the device before it is in the log, unlike those before it.
    if (seed % 2 === 0) {
      fileStore.append(messageOf('s', 'x'.repeat(LARGE_BYTES)), { seconds: 1, nanoseconds: 0 });
    }
    site.world.scheduler.runFor(seed / 2);
    const acknowledged = fileStore.lastSequence;
    expect(acknowledged).toBeGreaterThanOrEqual(FEW + MANY);
    site.cut(keep);
    damageCheckpoints(site, STREAM);
    for (let start = 0; start < 3; start++) {
      site.open();
      const sequences = found(site);
      expect(sequences.filter((each) => each <= acknowledged)).toEqual(upTo(acknowledged));
      expect(site.stream('S').fileStore.lost).toBe(0);
      site.kill();
    }
  }
});

it('tells of it, once', () => {
  const site = coveredSite(1);
  append(site, MANY);
  site.kill();
  damageCheckpoints(site, STREAM);
  site.open();
  expect(site.damageNotes).toEqual([
    `"${STREAM}/state.0" is damaged`,
    `"${STREAM}/state.1" is damaged`,
    `"${STREAM}" has no checkpoint: what the log and its blocks hold is taken as it is`,
  ]);
  site.settle();
  site.close();
  site.open();
  site.close();
  site.open();
  expect(site.damageNotes).toEqual([]);
  expect(found(site)).toEqual(upTo(FEW + MANY));
});

it('a message that is damaged in the log is taken from its block', () => {
  const site = coveredSite(2);
  append(site, MANY - 1);
  append(site, 1);
  site.kill();
  damageCheckpoints(site, STREAM);
  for (const sequence of [FEW + 1, FEW + 7, FEW + 30]) damageMessage(site, LOG, sequence);
  site.open();
  expect(found(site)).toEqual(upTo(FEW + MANY));
  expect(site.stream('S').fileStore.lost).toBe(0);
});

it('a message whose head is damaged in its block is taken from the log', () => {
  const site = coveredSite(7);
  append(site, MANY);
  site.kill();
  damageCheckpoints(site, STREAM);
  damageMessage(site, STREAM, FEW + 7, 20);
  site.open();
  expect(found(site)).toEqual(upTo(FEW + MANY));
  expect(site.stream('S').fileStore.lost).toBe(0);
});

it('a message that is damaged in the log and in its block is lost, and that is said', () => {
  const site = coveredSite(3);
  append(site, MANY - 1);
  append(site, 1);
  site.kill();
  damageCheckpoints(site, STREAM);
  for (const folder of [LOG, STREAM]) damageMessage(site, folder, FEW + 7);
  site.open();
  expect(found(site)).toEqual(upTo(FEW + MANY, [FEW + 7]));
  expect(site.stream('S').fileStore.lost).toBe(1);
  expect(site.damageNotes).toContain(`Message ${FEW + 7} in "${STREAM}" can't be read any more: lost`);
});

it('a message whose removal is in the log does not come back', () => {
  const site = coveredSite(4);
  append(site, MANY);
  const { fileStore } = site.stream('S');
  const removed = [3, FEW + 2, FEW + 9, FEW + MANY];
  for (const sequence of removed) fileStore.remove(sequence);
  site.settle();
  site.kill();
  damageCheckpoints(site, STREAM);
  damageMessage(site, LOG, FEW + 9);
  damageMessage(site, LOG, FEW + MANY);
  site.open();
  expect(found(site)).toEqual(upTo(FEW + MANY, removed));
  expect(site.stream('S').fileStore.lost).toBe(0);
});

it('a damaged head of a block costs none of its messages', () => {
  const site = coveredSite(5);
  site.close();
  damageCheckpoints(site, STREAM);
  damageFile(site, `${STREAM}/000001.blk`, 9);
  site.open();
  expect(found(site)).toEqual(upTo(FEW));
});

it('blocks that were being joined lose nothing', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const site = coveredSite(seed);
    append(site, MANY);
    const { fileStore } = site.stream('S');
    const left = upTo(FEW + MANY).filter((each) => each % 10 === 0);
    for (const each of upTo(FEW + MANY)) if (!left.includes(each)) fileStore.remove(each);
    site.world.scheduler.runFor(seed * 2);
    site.kill();
    damageCheckpoints(site, STREAM);
    site.open();
    expect(found(site)).toEqual(expect.arrayContaining(left));
    expect(site.stream('S').fileStore.lost).toBe(0);
  }
});

it('a group that was cut off does not come back from blocks', () => {
  const site = coveredSite(6);
  append(site, MANY);
  const { fileStore } = site.stream('S');
  fileStore.beginGroup();
  for (let i = 0; i < MANY; i++) {
    fileStore.append(messageOf('s', payloadOf(fileStore.appendedSequence + 1)), { seconds: 1, nanoseconds: 0 });
  }
  fileStore.endGroup();
  site.settle();
  site.kill();
  damageCheckpoints(site, STREAM);
  damageLastFrame(site);
  site.open();
  expect(found(site)).toEqual(upTo(FEW + MANY));
});

/** Damages the last frame of the log, so that its batch counts as one that was never completed. */
function damageLastFrame(site: StoreSite): void {
  const view = site.machine.start();
  let last = { path: '', at: 0, lsn: -1 };
  for (const name of view.io.disk.readDirectoryNow(LOG)) {
    const path = `${LOG}/${name}`;
    const bytes = view.io.disk.readFileNow(path);
    const base = (decodeHeader(bytes)?.baseLsn ?? Infinity) - SEGMENT_HEADER_BYTES;
    for (let at = SEGMENT_HEADER_BYTES; at < bytes.length; at++) {
      if (frameAt(bytes, at, bytes.length, base + at) > 0 && base + at > last.lsn) last = { path, at, lsn: base + at };
    }
  }
  view.kill();
  damageFile(site, last.path, last.at + 30);
}
