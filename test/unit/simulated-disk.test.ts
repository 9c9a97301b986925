/** The simulated disk: what every disk promises, what a power cut leaves, and what goes wrong on request. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Disk, FileHandle, IoError, OpenMode } from '../../server/io/io.ts';
import type { Keep } from '../../server/io/simulated/file-content.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { describeDisk } from './disk-contract.ts';

const WITHIN_MS = 600_000;
const MIB = 1024 * 1024;
let nextSeed = 1;

describeDisk('simulated', () => {
  const one = new OneMachine(nextSeed++);
  return {
    disk: one.disk,
    folder: '/data',
    until: async (condition, what) => one.world.scheduler.runUntil(condition, what, WITHIN_MS),
  };
});

/** A machine, and the operations of its disk as calls that wait. */
class OneMachine {
  readonly world: SimulatedWorld;
  readonly machine: SimulatedMachine;
  process: SimulatedProcess;

  constructor(seed: number) {
    this.world = new SimulatedWorld(seed);
    this.machine = this.world.machine('site');
    this.process = this.machine.start();
    this.disk.makeDirectoryNow('/data');
    this.wait((answer) => this.disk.syncDirectory('/', (error) => answer(error, null)));
  }

  get disk(): Disk {
    return this.process.io.disk;
  }

  wait<T>(start: (answer: (error: IoError | null, value: T) => void) => void): T {
    let result: { error: IoError | null; value: T } | null = null;
    start((error, value) => (result = { error, value }));
    this.world.scheduler.runUntil(() => result !== null, 'an operation of the disk', WITHIN_MS);
    const { error, value } = result as unknown as { error: IoError | null; value: T };
    if (error !== null) throw error;
    return value;
  }

  open(name: string, mode: OpenMode): FileHandle {
    return this.disk.openNow(`/data/${name}`, mode);
  }

  write(file: FileHandle, bytes: Uint8Array, position: number): number {
    return this.wait<number>((answer) => file.write(bytes, 0, bytes.length, position, answer));
  }

  sync(file: FileHandle): void {
    this.wait((answer) => file.sync((error) => answer(error, null)));
  }

  syncNames(): void {
    this.wait((answer) => this.disk.syncDirectory('/data', (error) => answer(error, null)));
  }

  /** Makes a file with these bytes that no power cut can take away. */
  durableFile(name: string, bytes: Uint8Array): void {
    this.disk.writeFileNow(`/data/${name}`, bytes);
  }

  /** The power goes and comes back; the files that are there then. */
  cut(keep?: Keep): Map<string, Buffer> {
    this.machine.powerCut(keep);
    this.process = this.machine.start();
    return this.files();
  }

  files(): Map<string, Buffer> {
    const names = this.disk.readDirectoryNow('/data');
    return new Map(names.map((name) => [name, this.disk.readFileNow(`/data/${name}`)]));
  }
}

/** What a file may be after a power cut, by the plainest reckoning: a set of values for each byte. */
class ModelFile {
  current: Buffer = Buffer.alloc(0);
  /** For each byte, the values it may have. */
  candidates: Set<number>[] = [];
  bytesMin = 0;

  write(bytes: Uint8Array, position: number): void {
    const after = Buffer.alloc(Math.max(this.current.length, position + bytes.length));
    this.current.copy(after);
    after.set(bytes, position);
    this.current = after;
    this.mayBecome(bytes, position);
  }

  /** The write may happen. */
  mayBecome(bytes: Uint8Array, position: number): void {
    while (this.candidates.length < position + bytes.length) this.candidates.push(new Set([0]));
    for (let i = 0; i < bytes.length; i++) this.candidates[position + i]?.add(bytes[i] as number);
  }

  syncRange(position: number, length: number): void {
    for (let i = position; i < position + length; i++) this.candidates[i] = new Set([this.current[i] as number]);
    this.bytesMin = Math.max(this.bytesMin, position + length);
  }

  sync(): void {
    this.syncRange(0, this.current.length);
  }

  allows(bytes: Buffer): boolean {
    if (bytes.length < this.bytesMin || bytes.length > this.candidates.length) return false;
    return bytes.every((byte, i) => this.candidates[i]?.has(byte));
  }
}

/** A folder and its files by the plainest reckoning: what each name may lead to. */
class ModelFolder {
  readonly current: Map<string, ModelFile> = new Map<string, ModelFile>();
  readonly candidates: Map<string, Set<ModelFile | null>> = new Map<string, Set<ModelFile | null>>();

  file(name: string): ModelFile {
    const known = this.current.get(name);
    if (known !== undefined) return known;
    const file = new ModelFile();
    this.set(name, file);
    return file;
  }

  set(name: string, file: ModelFile | null): void {
    if (file === null) this.current.delete(name);
    else this.current.set(name, file);
    this.of(name).add(file);
  }

  sync(): void {
    for (const name of this.candidates.keys()) this.candidates.set(name, new Set([this.current.get(name) ?? null]));
  }

  /** The names that have become what they can't be. */
  violations(files: ReadonlyMap<string, Buffer>): string[] {
    const names = new Set([...this.candidates.keys(), ...files.keys()]);
    return [...names].filter((name) => {
      const bytes = files.get(name);
      return ![...this.of(name)].some((file) => (bytes === undefined ? file === null : file?.allows(bytes) === true));
    });
  }

  private of(name: string): Set<ModelFile | null> {
    const known = this.candidates.get(name) ?? new Set<ModelFile | null>([null]);
    this.candidates.set(name, known);
    return known;
  }
}

const name = fc.constantFrom('a', 'b', 'c');
const write = fc.record({
  kind: fc.constantFrom('write' as const, 'write-synced' as const),
  name,
  position: fc.nat(3000),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 2000 }),
});
const command = fc.oneof(
  { weight: 4, arbitrary: write },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sync' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const), name, to: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sync names' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** Does it on the disk and in the model. */
function perform(one: OneMachine, model: ModelFolder, it: Command): void {
  switch (it.kind) {
    case 'write':
    case 'write-synced': {
      const file = one.open(it.name, it.kind);
      model.file(it.name).write(it.bytes, it.position);
      one.write(file, it.bytes, it.position);
      if (it.kind === 'write-synced') model.file(it.name).syncRange(it.position, it.bytes.length);
      file.closeNow();
      break;
    }
    case 'sync': {
      const file = one.open(it.name, 'write');
      one.sync(file);
      model.file(it.name).sync();
      file.closeNow();
      break;
    }
    case 'rename': {
      const file = model.current.get(it.name);
      if (file === undefined || it.name === it.to) break;
      one.wait((answer) => one.disk.rename(`/data/${it.name}`, `/data/${it.to}`, (error) => answer(error, null)));
      model.set(it.name, null);
      model.set(it.to, file);
      break;
    }
    case 'remove': {
      if (!model.current.has(it.name)) break;
      one.wait((answer) => one.disk.remove(`/data/${it.name}`, (error) => answer(error, null)));
      model.set(it.name, null);
      break;
    }
    case 'sync names':
      one.syncNames();
      model.sync();
      break;
    default:
      it satisfies never;
  }
}

const seed = fc.nat(1_000_000);
const commands = fc.array(command, { maxLength: 30 });

describe('a power cut', () => {
  it('keeps what was synced, and of the rest only what had been written', () => {
    fc.assert(
      fc.property(seed, commands, fc.array(write, { maxLength: 3 }), (number, done, inFlight) => {
        const one = new OneMachine(number);
        const model = new ModelFolder();
        for (const each of done) perform(one, model, each);
        let answered = 0;
        for (const each of inFlight) {
          const file = one.open(each.name, each.kind);
          model.file(each.name).mayBecome(each.bytes, each.position);
          file.write(each.bytes, 0, each.bytes.length, each.position, () => answered++);
        }
        expect(model.violations(one.cut())).toEqual([]);
        one.world.scheduler.runFor(10_000);
        expect(answered).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('loses all that was not synced when asked to, and keeps all of it when asked to', () => {
    fc.assert(
      fc.property(seed, commands, (number, done) => {
        const one = new OneMachine(number);
        const model = new ModelFolder();
        for (const each of done) perform(one, model, each);
        const before = one.files();
        const kept = one.cut('all');
        expect(kept).toEqual(before);
        // What survived a cut is durable.
        expect(one.cut('none')).toEqual(kept);
      }),
      { numRuns: 100 },
    );
  });

  it('shows every outcome for some seed: kept, lost, and torn within a sector', () => {
    const outcomes = new Set<string>();
    for (let number = 1; number <= 300; number++) {
      const one = new OneMachine(number);
      one.durableFile('a', Buffer.alloc(2048, 1));
      const file = one.open('a', 'write-synced');
      const bytes = Buffer.alloc(2048, 2);
      file.write(bytes, 0, bytes.length, 0, () => undefined);
      const after = one.cut().get('a') as Buffer;
      const sectors = [0, 512, 1024, 1536].map((at) => new Set(after.subarray(at, at + 512)));
      if (sectors.some((each) => each.size > 1)) outcomes.add('torn');
      else outcomes.add(sectors.map((each) => [...each][0]).join(''));
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['1111', '2222', '1222', '2221', 'torn']));
  });

  it('leaves a file whole, old or new, that was replaced by the book', () => {
    const outcomes = new Set<string | undefined>();
    for (let number = 1; number <= 60; number++) {
      const one = new OneMachine(number);
      one.durableFile('a', Buffer.from('old'));
      const file = one.open('a.new', 'replace');
      one.write(file, Buffer.from('new one'), 0);
      one.sync(file);
      one.wait((answer) => one.disk.rename('/data/a.new', '/data/a', (error) => answer(error, null)));
      if (number % 3 === 0) one.syncNames();
      const after = one.cut().get('a')?.toString();
      outcomes.add(number % 3 === 0 ? `synced: ${after}` : after);
    }
    expect(outcomes).toEqual(new Set(['new one', 'old', 'synced: new one']));
  });

  it('does not undo with an older move what a synced folder has', () => {
    const one = new OneMachine(1);
    one.disk.makeDirectoryNow('/data/b');
    one.syncNames();
    one.durableFile('a', Buffer.from('first'));
    one.wait((answer) => one.disk.rename('/data/a', '/data/b/a', (error) => answer(error, null)));
    const second = one.open('a', 'write-synced');
    one.write(second, Buffer.from('second'), 0);
    one.syncNames();
    one.machine.powerCut('all');
    one.process = one.machine.start();
    expect(one.disk.readFileNow('/data/a').toString()).toBe('second');
    expect(one.disk.readFileNow('/data/b/a').toString()).toBe('first');
  });

  it('may bring back what was emptied, until the emptied file is synced', () => {
    const outcomes = new Set<string | undefined>();
    for (let number = 1; number <= 60; number++) {
      const one = new OneMachine(number);
      one.durableFile('a', Buffer.from('old'));
      const file = one.open('a', 'replace');
      if (number % 3 === 0) one.sync(file);
      const after = one.cut().get('a')?.toString();
      outcomes.add(number % 3 === 0 ? `synced: ${after}` : after);
    }
    expect(outcomes).toEqual(new Set(['', 'old', 'synced: ']));
  });

  it.each([1, 2, 3, 4, 5])('does not count on a sync for what was written after it had begun, seed %i', (number) => {
    const one = new OneMachine(number);
    one.durableFile('a', Buffer.from('0000'));
    const file = one.open('a', 'write');
    file.writeNow(Buffer.from('1111'), 0, 4, 0);
    one.machine.disk.faults.rates.slowSync = 1;
    let synced = false;
    file.sync(() => (synced = true));
    one.world.scheduler.runFor(0.01);
    file.writeNow(Buffer.from('22'), 0, 2, 0);
    expect(synced).toBe(false);
    one.world.scheduler.runUntil(() => synced, 'the sync', WITHIN_MS);
    expect(one.machine.disk.durableBytes('/data/a').toString()).toBe('1111');
    expect(one.cut('none').get('a')?.toString()).toBe('1111');
  });

  it('ends processes, their locks and their open files', () => {
    const one = new OneMachine(1);
    expect(one.disk.lockNow('/data/lock')).not.toBeNull();
    const file = one.open('a', 'write');
    expect(one.machine.disk.openFiles).toBe(1);
    let ran = 0;
    file.sync(() => ran++);
    one.process.io.timers.after(1, () => ran++);
    one.cut();
    one.world.scheduler.runFor(1000);
    expect(ran).toBe(0);
    expect(one.machine.disk.openFiles).toBe(0);
    expect(one.disk.lockNow('/data/lock')).not.toBeNull();
  });
});

describe('a killed process', () => {
  it('leaves what it had written, gives up its locks and files, and hears of nothing', () => {
    const one = new OneMachine(1);
    const file = one.open('a', 'write');
    file.writeNow(Buffer.from('written'), 0, 7, 0);
    one.disk.lockNow('/data/lock');
    let ran = 0;
    file.sync(() => ran++);
    one.process.kill();
    one.process = one.machine.start();
    expect(one.files().get('a')?.toString()).toBe('written');
    expect(one.disk.lockNow('/data/lock')).not.toBeNull();
    expect(one.machine.disk.openFiles).toBe(0);
    one.world.scheduler.runFor(1000);
    expect(ran).toBe(0);
  });

  it('may or may not have had done what it had asked for', () => {
    const outcomes = new Set<string | undefined>();
    for (let number = 1; number <= 30; number++) {
      const one = new OneMachine(number);
      const file = one.open('a', 'write-synced');
      file.write(Buffer.from('new'), 0, 3, 0, () => undefined);
      one.process.kill();
      one.process = one.machine.start();
      outcomes.add(one.files().get('a')?.toString());
    }
    expect(outcomes).toEqual(new Set(['', 'new']));
  });
});

describe('faults of the simulated disk', () => {
  it('full: a write takes what fits, then nothing; what has its space can be written again', () => {
    const one = new OneMachine(1);
    one.machine.disk.capacityBytes = 16_384;
    const file = one.open('a', 'write');
    expect(one.write(file, Buffer.alloc(10_000, 1), 0)).toBe(10_000);
    expect(one.write(file, Buffer.alloc(10_000, 1), 10_000)).toBe(6384);
    expect(() => one.write(file, Buffer.alloc(1, 1), 16_384)).toThrow('ENOSPC');
    expect(one.disk.freeBytesNow('/data')).toBe(0);
    expect(one.write(file, Buffer.alloc(16_384, 2), 0)).toBe(16_384);
    expect(() => one.disk.writeFileNow('/data/b', Buffer.alloc(1))).toThrow('ENOSPC');
    one.wait((answer) => one.disk.remove('/data/a', (error) => answer(error, null)));
    expect(one.disk.freeBytesNow('/data')).toBe(0);
    file.closeNow();
    expect(one.disk.freeBytesNow('/data')).toBe(16_384);
    // The removal was not synced: what comes back takes its space again.
    const after = one.cut('none');
    expect(one.disk.freeBytesNow('/data')).toBe(16_384 - (after.get('a')?.length ?? 0));
    one.durableFile('b', Buffer.alloc(5000, 1));
    one.cut();
    one.wait((answer) => one.disk.remove('/data/b', (error) => answer(error, null)));
    expect(one.disk.freeBytesNow('/data')).toBe(16_384);
  });

  it('planned: the next operation on the path fails with the code, and only that', () => {
    const one = new OneMachine(1);
    const { faults } = one.machine.disk;
    one.durableFile('a', Buffer.from('bytes'));
    const file = one.open('a', 'write');
    faults.failNext('read', 'EIO', /a$/);
    expect(() => one.disk.readFileNow('/data/a')).toThrow('EIO');
    expect(one.disk.readFileNow('/data/a').toString()).toBe('bytes');
    faults.failNext('write', 'EDQUOT', /b$/);
    expect(one.write(file, Buffer.from('B'), 0)).toBe(1);
    expect(() => one.write(one.open('b', 'write'), Buffer.from('x'), 0)).toThrow('EDQUOT');
    faults.failNext('sync');
    expect(() => one.sync(file)).toThrow('EIO');
    one.sync(file);
    faults.failNext('sync');
    expect(() => one.syncNames()).toThrow('EIO');
    one.syncNames();
  });

  it('a failed sync: what it covered may be gone at once or with the power, and no later sync helps', () => {
    const outcomes = new Set<string>();
    for (let number = 1; number <= 60; number++) {
      const one = new OneMachine(number);
      one.durableFile('a', Buffer.from('old'));
      const file = one.open('a', 'write');
      one.write(file, Buffer.from('new'), 0);
      one.machine.disk.faults.failNext('sync');
      expect(() => one.sync(file)).toThrow('EIO');
      const seen = one.files().get('a')?.toString();
      one.sync(file);
      outcomes.add(`${seen}, after the cut ${one.cut('all').get('a')?.toString()}`);
    }
    expect(outcomes).toEqual(new Set(['new, after the cut new', 'new, after the cut old', 'old, after the cut old']));
  });

  it('a failed sync: what it lost stays lost when its neighbour is synced', () => {
    const lost: boolean[] = [];
    for (let number = 1; number <= 30; number++) {
      const one = new OneMachine(number);
      one.durableFile('a', Buffer.alloc(1024, 'o'));
      const file = one.open('a', 'write');
      one.write(file, Buffer.from('n'), 0);
      one.machine.disk.faults.failNext('sync');
      expect(() => one.sync(file)).toThrow('EIO');
      const onDevice = one.machine.disk.durableBytes('/data/a')[0];
      one.write(file, Buffer.from('n'), 600);
      one.sync(file);
      const after = one.machine.disk.durableBytes('/data/a');
      expect([after[0], after[600]]).toEqual([onDevice, 0x6e]);
      lost.push(onDevice !== 0x6e);
    }
    expect(new Set(lost).size).toBe(2);
  });

  it('a failed sync: what is written again and synced is durable', () => {
    fc.assert(
      fc.property(seed, fc.uint8Array({ minLength: 1, maxLength: 6000 }), (number, bytes) => {
        const one = new OneMachine(number);
        const file = one.open('a', 'write');
        one.syncNames();
        one.write(
          file,
          bytes.map((byte) => byte ^ 0xff),
          0,
        );
        one.machine.disk.faults.failNext('sync');
        expect(() => one.sync(file)).toThrow('EIO');
        one.write(file, bytes, 0);
        one.sync(file);
        expect(one.cut('none').get('a')?.equals(bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('at a rate: short writes are reported, errors come now and then', () => {
    const one = new OneMachine(7);
    const { rates } = one.machine.disk.faults;
    const file = one.open('a', 'write');
    rates.shortWrite = 0.5;
    const written = Array.from({ length: 40 }, () => one.write(file, Buffer.alloc(100), 0));
    expect(new Set(written.map((each) => each === 100)).size).toBe(2);
    expect(Math.min(...written)).toBeGreaterThan(0);
    rates.shortWrite = 0;
    rates.readError = 0.5;
    const failed = Array.from({ length: 40 }, () => {
      try {
        file.readNow(Buffer.alloc(1), 0, 1, 0);
        return false;
      } catch (error) {
        return (error as IoError).code === 'EIO';
      }
    });
    expect(new Set(failed).size).toBe(2);
  });

  it('slow syncs take very long', () => {
    const one = new OneMachine(1);
    const file = one.open('a', 'write-synced');
    one.machine.disk.faults.rates.slowSync = 1;
    const before = one.world.scheduler.nowMs;
    one.write(file, Buffer.alloc(1), 0);
    expect(one.world.scheduler.nowMs - before).toBeGreaterThan(50);
  });

  it('a flipped bit is seen, now and after a power cut, where nothing newer covers it', () => {
    const one = new OneMachine(1);
    one.durableFile('a', Buffer.alloc(1024));
    one.machine.disk.flipBit('/data/a', 600, 3);
    expect(one.files().get('a')?.[600]).toBe(8);
    const file = one.open('a', 'write');
    file.writeNow(Buffer.alloc(1), 0, 1, 0);
    one.machine.disk.flipBit('/data/a', 5, 0);
    expect(one.files().get('a')?.[5]).toBe(0);
    const after = one.cut('none').get('a');
    expect([after?.[5], after?.[600]]).toEqual([1, 8]);
  });
});

describe('the simulated disk', () => {
  it('reads the memory of a write as late as a host might', () => {
    const one = new OneMachine(1);
    const file = one.open('a', 'write');
    const bytes = Buffer.from('early');
    let written = 0;
    file.write(bytes, 0, 5, 0, (_, count) => (written = count));
    bytes.write('late!');
    one.world.scheduler.runUntil(() => written === 5, 'the write', WITHIN_MS);
    expect(one.files().get('a')?.toString()).toBe('late!');
  });

  it('finishes operations in another order than they were asked for', () => {
    const orders = new Set<string>();
    for (let number = 1; number <= 20; number++) {
      const one = new OneMachine(number);
      const file = one.open('a', 'write');
      const order: number[] = [];
      for (let i = 0; i < 3; i++) file.write(Buffer.alloc(1), 0, 1, i, () => order.push(i));
      one.world.scheduler.runFor(100);
      orders.add(order.join(''));
    }
    expect(orders.size).toBeGreaterThan(2);
  });

  it('counts operations and bytes', () => {
    const one = new OneMachine(1);
    const { counters } = one.machine.disk;
    const before = { ...counters.operations };
    const file = one.open('a', 'write-synced');
    one.write(file, Buffer.alloc(100), 0);
    const plain = one.open('a', 'write');
    one.write(plain, Buffer.alloc(50), 0);
    one.sync(plain);
    one.syncNames();
    const read = Buffer.alloc(80);
    one.wait<number>((answer) => plain.read(read, 0, 80, 0, answer));
    expect(counters.bytesWritten).toBe(150);
    expect(counters.bytesRead).toBe(80);
    const counted = Object.entries(counters.operations).map(([kind, count]) => [kind, count - before[kind as 'read']]);
    expect(Object.fromEntries(counted)).toEqual({
      read: 1,
      write: 1,
      'synced write': 1,
      sync: 1,
      names: 0,
      'sync names': 1,
    });
  });

  it('keeps a large file of zeros cheaply', () => {
    const one = new OneMachine(1);
    const file = one.open('a', 'write');
    const zeros = Buffer.alloc(MIB);
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 64 * MIB; at += MIB) one.write(file, zeros, at);
    one.sync(file);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB);
    expect(one.disk.statusNow('/data/a')?.bytes).toBe(64 * MIB);
  });
});
