/**
 * The disk of one simulated machine. It outlives the machine's processes and loses with the power what was not synced.
 *
 *     process ─► DiskSession ─► operation in flight ─► folder tree (names), file contents (bytes)
 *                                     │                       each: what is seen now, what is durable
 *                       power cut, process killed: it happened or it did not, and nobody is told
 *
 * An operation takes effect when it is done, and reads its memory then, as late as a host might. Space is counted in
 * pages: bytes that were written once need none to be written again. A power cut leaves what is durable, and of the rest
 * what the seed decides; `keep` chooses to lose or keep all of it instead.
 */

import { strict as assert } from 'node:assert';
import type { EventOwner } from './event-queue.ts';
import { DiskFaults } from './disk-faults.ts';
import { FileContent, type Keep, PAGE_BYTES } from './file-content.ts';
import { FileNode, FolderTree } from './folder-tree.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import { SystemError } from './system-error.ts';

const CAPACITY_BYTES = 16 * 1024 ** 3;
const SLOW_FACTOR = 1000;

export type OperationKind = 'read' | 'write' | 'synced write' | 'sync' | 'names' | 'sync names';

/** The shortest and the longest that each usually takes. */
const DURATIONS_US: Readonly<Record<OperationKind, readonly [number, number]>> = {
  read: [50, 500],
  write: [10, 200],
  'synced write': [80, 2000],
  sync: [100, 5000],
  names: [20, 500],
  'sync names': [100, 5000],
};

export interface DiskCounters {
  readonly operations: Record<OperationKind, number>;
  bytesRead: number;
  bytesWritten: number;
}

export interface HeldLock {
  readonly owner: EventOwner;
}

interface Operation {
  readonly owner: EventOwner;
  /** As much as may have happened when nobody waits for it any more. */
  readonly abandon: () => void;
  isOver: boolean;
}

export class SimulatedDisk {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly faults: DiskFaults;
  readonly tree: FolderTree;
  /** Who holds which lock. */
  readonly locks: Map<string, HeldLock> = new Map<string, HeldLock>();
  readonly counters: DiskCounters = {
    operations: { read: 0, write: 0, 'synced write': 0, sync: 0, names: 0, 'sync names': 0 },
    bytesRead: 0,
    bytesWritten: 0,
  };
  capacityBytes: number = CAPACITY_BYTES;
  private pages = 0;
  private readonly inFlight = new Set<Operation>();
  private readonly handles = new Map<FileNode, EventOwner[]>();

  constructor(scheduler: Scheduler, random: SeededRandom) {
    this.scheduler = scheduler;
    this.random = random;
    this.faults = new DiskFaults(random.fork('faults'));
    this.tree = new FolderTree((file) => this.free(file));
  }

  // ── what a test does to it ───────────────────────────────────────────────────────────────────────────────────────

  /**
   * The power goes and comes back; the machine's processes are gone by then. Operations in flight happened or did not;
   * nobody hears of them.
   */
  powerCut(keep: Keep = 'seeded'): void {
    for (const owners of this.handles.values()) {
      for (const owner of owners) assert(!owner.isAlive, 'no process outlives the power');
    }
    this.abandonOperations(() => true);
    this.handles.clear();
    this.locks.clear();
    const keptShare = this.random.pick([0, 0.2, 0.5, 0.8, 1]);
    this.tree.cut(() => keep === 'all' || (keep === 'seeded' && this.random.chance(keptShare)));
    this.pages = 0;
    for (const file of this.tree.files()) {
      file.handles = 0;
      this.cutFile(file, keep);
      this.pages += file.content.pageCount;
    }
  }

  /** The process is gone: what it had open is closed, what it had asked for may still happen. */
  processGone(owner: EventOwner): void {
    this.abandonOperations((each) => each.owner === owner);
    for (const [file, owners] of this.handles) {
      for (const each of owners) if (each === owner) this.closed(file, owner);
    }
    for (const [path, lock] of this.locks) if (lock.owner === owner) this.locks.delete(path);
  }

  /** Changes one bit of the file on the device. */
  flipBit(path: string, position: number, bit: number): void {
    this.tree.file(path).content.flipBit(position, bit);
  }

  /** The file's bytes as they would be after a power cut that loses everything it can. */
  durableBytes(path: string): Buffer {
    const file = this.tree.file(path);
    return (file.contentBefore ?? file.content).durableImage();
  }

  get openFiles(): number {
    let count = 0;
    for (const owners of this.handles.values()) count += owners.length;
    return count;
  }

  get freeBytes(): number {
    return Math.max(0, this.capacityBytes - this.pages * PAGE_BYTES);
  }

  // ── what sessions ask for ────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Does something after a while, then tells `done`. `perform` takes effect and gives the result or throws a
   * SystemError; `abandon` takes such effect as it may have had when the process or the power goes before.
   */
  submit<T>(
    owner: EventOwner,
    kind: OperationKind,
    perform: () => T,
    abandon: () => void,
    done: (error: SystemError | null, result: T | null) => void,
  ): void {
    const operation: Operation = { owner, abandon, isOver: false };
    this.inFlight.add(operation);
    this.scheduler.after(this.durationUs(kind), null, kind, () => {
      if (operation.isOver) return;
      this.inFlight.delete(operation);
      this.counters.operations[kind]++;
      const [error, result] = outcomeOf(perform);
      this.scheduler.after(0, owner, `${kind} ${error?.code ?? 'done'}`, () => done(error, result));
    });
  }

  newFile(): FileNode {
    return new FileNode(new FileContent(this.random));
  }

  /** Makes the file empty; until that is synced, a power cut may bring back what it was. */
  empty(file: FileNode): void {
    this.pages -= file.content.pageCount;
    file.contentBefore ??= file.content;
    file.content = new FileContent(this.random);
  }

  opened(file: FileNode, owner: EventOwner): void {
    file.handles++;
    const owners = this.handles.get(file);
    if (owners === undefined) this.handles.set(file, [owner]);
    else owners.push(owner);
  }

  closed(file: FileNode, owner: EventOwner): void {
    const owners = (this.handles.get(file) ?? []).slice();
    owners.splice(owners.indexOf(owner), 1);
    if (owners.length > 0) this.handles.set(file, owners);
    else this.handles.delete(file);
    file.handles--;
    if (file.isGone) this.free(file);
  }

  /** Writes as many of the bytes as there is room for; how many these were. Throws ENOSPC when there is none. */
  write(file: FileNode, path: string, bytes: Uint8Array, position: number): number {
    const length = this.fitting(file, bytes.length, position);
    if (length === 0 && bytes.length > 0) throw new SystemError('ENOSPC', `write '${path}'`);
    this.pages += file.content.newPagesFor(position, length);
    file.content.write(bytes.subarray(0, length), position);
    this.counters.bytesWritten += length;
    return length;
  }

  private fitting(file: FileNode, length: number, position: number): number {
    let fits = length;
    while (fits > 0 && file.content.newPagesFor(position, fits) * PAGE_BYTES > this.freeBytes) {
      // Up to the beginning of the last page that the write would need.
      fits = Math.max(0, Math.floor((position + fits - 1) / PAGE_BYTES) * PAGE_BYTES - position);
    }
    return fits;
  }

  private durationUs(kind: OperationKind): number {
    const [shortest, longest] = DURATIONS_US[kind];
    const usual = shortest + (longest - shortest) * this.random.fraction() ** 3;
    const maySlow = kind === 'sync' || kind === 'synced write' || kind === 'sync names';
    return maySlow && this.faults.isSlow() ? usual * SLOW_FACTOR : usual;
  }

  private abandonOperations(which: (operation: Operation) => boolean): void {
    for (const operation of this.inFlight) {
      if (!which(operation)) continue;
      this.inFlight.delete(operation);
      operation.isOver = true;
      if (this.random.chance(0.5)) outcomeOf(operation.abandon);
    }
  }

  private cutFile(file: FileNode, keep: Keep): void {
    const { contentBefore } = file;
    file.contentBefore = null;
    if (contentBefore !== null && (keep === 'none' || (keep === 'seeded' && this.random.chance(0.5)))) {
      file.content = contentBefore;
    }
    file.content.cut(keep);
  }

  private free(file: FileNode): void {
    this.pages -= file.content.pageCount;
  }
}

/** What an operation came to. Errors of the simulated system are results; others are not its own. */
function outcomeOf<T>(perform: () => T): [SystemError | null, T | null] {
  try {
    return [null, perform()];
  } catch (error) {
    if (error instanceof SystemError) return [error, null];
    throw error;
  }
}
