/** Part of the commit log goes while no server uses the store: the next start says so, and never without a reason. */
import { describe, expect, it } from 'vitest';
import type { SyncMode } from '../../jetstream/store/commit-log.ts';
import { messageOf } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const LOG = `${FOLDER}/petiole/log`;
const SYNCED_MS = 20;

function store(site: StoreSite, count: number): void {
  const { fileStore } = site.stream('S');
  for (let i = 0; i < count; i++) fileStore.append(messageOf('s', 'x'.repeat(100)), { seconds: 1, nanoseconds: i });
  site.settle();
}

/** A store with so many messages. */
function siteWith(seed: number, messages: number, syncMode: SyncMode = 'always'): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES, syncMode });
  site.open();
  site.putStream('S');
  store(site, messages);
  return site;
}

/** Opens the store again; what it says of its log. */
function open(site: StoreSite): string[] {
  const notes: string[] = [];
  const recovery = site.begin();
  // A checkpoint that was being written when the power went is another matter.
  site.storage.files.damage.onNote = (text) => void (text.includes('commit log') && notes.push(text));
  while (recovery.next().done !== true);
  return notes;
}

/** Paths of the segments that are in use, the newest last. */
function usedSegments(site: StoreSite): string[] {
  return site.storage.log.segments.used.map(({ path }) => path);
}

function removeFile(site: StoreSite, path: string): void {
  site.machine.start().io.disk.remove(path, () => undefined);
  site.settle();
}

/** Leaves nothing in the file. */
function emptyFile(site: StoreSite, path: string): void {
  site.machine.start().io.disk.open(path, 'replace', () => undefined);
  site.settle();
}

const LOSSES = [
  ['removed', removeFile],
  ['emptied', emptyFile],
] as const;

describe.each(LOSSES)('the newest segment is %s', (_, lose) => {
  it.each([1, 2, 3])('after %i starts', (starts) => {
    const site = siteWith(starts, 10);
    for (let start = 1; start < starts; start++) {
      site.kill();
      expect(open(site)).toEqual([]);
      store(site, 10);
    }
    // As many as it takes until another segment is begun, and what one write holds.
    const before = usedSegments(site).at(-1);
    while (usedSegments(site).at(-1) === before) store(site, 1);
    const { number } = site.storage.log.segments.used.at(-1)?.header ?? { number: 0 };
    const newest = usedSegments(site).at(-1) as string;
    site.kill();
    lose(site, newest);
    const note = `the newest part of the commit log, number ${number}, is gone: what was stored last may be lost`;
    expect(open(site)).toEqual([note]);
    expect(site.storage.report.missingEnd).toBe(note);
    // What comes now takes its place.
    store(site, 10);
    site.kill();
    expect(open(site)).toEqual([]);
    expect(site.storage.report.missingEnd).toBeNull();
  });

  it('and was the only one', () => {
    const site = siteWith(4, 10);
    const paths = usedSegments(site);
    expect(paths).toHaveLength(1);
    site.kill();
    lose(site, paths[0] as string);
    // Streams are made in the log: without it nobody knows of this one but its directory.
    site.process = site.machine.start();
    site.process.io.disk.makeDirectoryNow(`${FOLDER}/petiole/streams/00000001`);
    expect(open(site)).toEqual(['the commit log is gone: what was stored last may be lost']);
  });
});

it('says that everything of the log is gone', () => {
  const site = siteWith(5, 10);
  site.close();
  for (const name of site.machine.start().io.disk.readDirectoryNow(LOG)) removeFile(site, `${LOG}/${name}`);
  expect(open(site)).toEqual(['the commit log is gone: what was stored last may be lost']);
});

it('says nothing of a new store, nor of one that ended in order', () => {
  const site = new StoreSite(6, { sizes: SMALL_SIZES });
  expect(open(site)).toEqual([]);
  site.close();
  expect(open(site)).toEqual([]);
  site.putStream('S');
  store(site, 2000);
  site.close();
  expect(open(site)).toEqual([]);
});

it.each([['always' as const], [SYNCED_MS]])('says nothing after a power cut, with syncs %s', (syncMode) => {
  const site = siteWith(7, 10, syncMode);
  for (let cut = 0; cut < 25; cut++) {
    const { fileStore } = site.stream('S');
    for (let i = 0; i < 150; i++) fileStore.append(messageOf('s', 'x'.repeat(100)), { seconds: 1, nanoseconds: i });
    site.world.scheduler.runFor(cut * 2);
    site.cut();
    expect(open(site)).toEqual([]);
    if (!site.host.streams.has('S')) site.putStream('S');
  }
});

it('says nothing of a segment that was given up before anything was durable in it', () => {
  const site = siteWith(8, 200);
  const { log } = site.storage;
  const { durableLsn } = log;
  for (let i = 0; i < 100; i++) site.machine.disk.faults.failNext('write', 'EIO', /\.seg$/);
  site.stream('S').fileStore.append(messageOf('s', 'x'), { seconds: 1, nanoseconds: 0 });
  site.until(() => log.statistics.writeErrors >= 2, 'segments to be given up');
  expect(log.durableLsn).toBe(durableLsn);
  site.kill();
  expect(open(site)).toEqual([]);
});
