/**
 * Whatever stands in the files of a store, opening it ends: with a refusal in one line, or with a store that gives back
 * nothing that was not stored, under its own sequence, and goes on behind what it gives back. FUZZ_SEED replays a run,
 * FUZZ_RUNS makes it longer.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StoreError } from '../../jetstream/store/store-directory.ts';
import type { Disk } from '../../server/io/io.ts';
import { messageOf, readAll, readStored } from '../helpers/store-messages.ts';
import { FOLDER, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 150);

const MESSAGES = 60;
const SUBJECTS = 3;

interface Damage {
  /** Which of the files, and where in it, between 0 and 1. */
  readonly file: number;
  readonly at: number;
  readonly kind: 'cut' | 'zeros' | 'noise' | 'another file' | 'longer' | 'repeated';
  readonly bytes: number;
}

const part = fc.nat(1_000_000).map((each) => each / 1_000_001);

const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({
    file: part,
    at: part,
    kind: fc.constantFrom('cut', 'zeros', 'noise', 'another file', 'longer', 'repeated' as const),
    bytes: fc.oneof(fc.nat(16), fc.nat(5000)),
  }),
  { minLength: 1, maxLength: 6 },
);

test('a damaged store is opened or refused, and gives back what was stored or nothing', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.boolean(), damages, (seed, isClosed, chosen) => {
      const site = filledSite(seed);
      if (isClosed) site.close();
      else site.cut();
      site.process = site.machine.start();
      for (const each of chosen) spoil(site.process.io.disk, each);
      const refusal = refusalOf(site);
      expect(refusal ?? '').not.toContain('\n');
      if (refusal !== null) return;
      const subject = site.host.streams.get('S');
      if (subject === undefined) return;
      const { fileStore: store } = subject;
      const settle = (): void => site.settle();
      for (const { sequence, payload } of readAll(store, settle)) expect(payload).toBe(payloadOf(sequence));
      const next = store.append(messageOf('s.0', 'more'), { seconds: 1_800_000_000, nanoseconds: 0 });
      site.settle();
      expect(readStored(store, next, settle)?.payload).toBe('more');
    }),
    { numRuns: RUNS },
  );
});

function filledSite(seed: number): StoreSite {
  const site = new StoreSite(seed, { sizes: SMALL_SIZES });
  site.open();
  const { fileStore: store } = site.putStream('S');
  site.putConsumer('S', 'C');
  for (let each = 1; each <= MESSAGES; each++) {
    store.append(messageOf(`s.${each % SUBJECTS}`, payloadOf(each)), { seconds: each, nanoseconds: 0 });
    if (each % 7 === 0) store.remove(each - 3);
    if (each % 20 === 0) site.settle();
  }
  site.settle();
  return site;
}

/** Different in length and content for each sequence. */
function payloadOf(sequence: number): string {
  return `${sequence}:`.repeat(sequence * 3);
}

/** Opens the store; why it can't be, if it can't. */
function refusalOf(site: StoreSite): string | null {
  try {
    site.open();
    return null;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.message;
  }
}

function spoil(disk: Disk, { file, at, kind, bytes }: Damage): void {
  const paths = filesBelow(disk, `${FOLDER}/petiole`);
  const path = paths[Math.floor(file * paths.length)];
  if (path === undefined) return;
  const before = disk.readFileNow(path);
  const from = Math.floor(at * before.length);
  const to = Math.min(before.length, from + bytes);
  const middle = (): Buffer => {
    switch (kind) {
      case 'cut':
        return Buffer.alloc(0);
      case 'zeros':
        return Buffer.alloc(to - from);
      case 'noise':
        return Buffer.from(before.subarray(from, to).map((each, i) => each ^ (i * 31 + bytes + 1)));
      case 'another file':
        return disk.readFileNow(paths[bytes % paths.length] ?? path);
      case 'longer':
        return Buffer.concat([Buffer.alloc(bytes, 0xa5), before.subarray(from, to)]);
      case 'repeated':
        return Buffer.concat([before.subarray(from, to), before.subarray(from, to)]);
    }
  };
  const end = kind === 'cut' && bytes > 16 ? before.length : to;
  disk.writeFileNow(path, Buffer.concat([before.subarray(0, from), middle(), before.subarray(end)]));
}

function filesBelow(disk: Disk, folder: string): string[] {
  return disk.readDirectoryNow(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (disk.statusNow(path)?.isDirectory === true) return filesBelow(disk, path);
    return name === 'lock' ? [] : [path];
  });
}
