/**
 * The bytes of one simulated file, as the page cache has them and as the device has them.
 *
 *     page 4 KiB = 8 sectors     current ── what reads see
 *                                durable ── what is there after a power cut
 *                                dirty, syncing, lost ── a bit per sector
 *
 * Written sectors are dirty until a sync that began after the write has returned. A sector that is overwritten while a
 * sync covers it goes to the device in the form that the sync covers, and sometimes a dirty one goes by itself, so that
 * the device may hold any version since the last sync. The size is durable and volatile in the same way.
 *
 * Pages are copied when written and shared until then, zeros among all files, so that a file of 64 MiB of zeros costs
 * its table of pages.
 */

import type { SeededRandom } from './seeded-random.ts';

export const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;
const SECTORS = PAGE_BYTES / SECTOR_BYTES;
const ZEROS = new Uint8Array(PAGE_BYTES);

/** How often a dirty sector has reached the device before it is overwritten. */
const WRITE_BACK_CHANCE = 0.125;

/** What becomes of that which was not synced when the power goes. */
export type Keep = 'none' | 'all' | 'seeded';

interface Page {
  current: Uint8Array;
  durable: Uint8Array;
  dirty: number;
  syncing: number;
  /** Sectors that a failed sync left in memory only: taken for clean, and not on the device. */
  lost: number;
}

export class FileContent {
  private readonly random: SeededRandom;
  private readonly pages = new Map<number, Page>();
  private readonly dirtyPages = new Set<number>();
  private currentBytes = 0;
  private durableBytes = 0;
  private syncingBytes = 0;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  get bytes(): number {
    return this.currentBytes;
  }

  get pageCount(): number {
    return this.pages.size;
  }

  /** How many pages a write would need that the file has not got. */
  newPagesFor(position: number, length: number): number {
    let count = 0;
    const end = position + length;
    for (let index = Math.floor(position / PAGE_BYTES); index * PAGE_BYTES < end; index++) {
      if (!this.pages.has(index)) count++;
    }
    return count;
  }

  write(bytes: Uint8Array, position: number): void {
    forEachPage(position, bytes.length, (index, from, length, at) => {
      this.writePage(index, from, bytes.subarray(at, at + length));
    });
    this.currentBytes = Math.max(this.currentBytes, position + bytes.length);
  }

  /** Reads up to `length` bytes into `target[at]`; fewer at the end of the file. */
  read(target: Uint8Array, at: number, length: number, position: number): number {
    const count = Math.max(0, Math.min(length, this.currentBytes - position));
    forEachPage(position, count, (index, from, pageLength, offset) => {
      const current = this.pages.get(index)?.current ?? ZEROS;
      target.set(current.subarray(from, from + pageLength), at + offset);
    });
    return count;
  }

  // ── durability ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** What was just written is on the device: a synced write has returned. */
  syncRange(position: number, length: number): void {
    forEachPage(position, length, (index, from, pageLength) => {
      const page = this.pages.get(index);
      if (page !== undefined) this.writeBack(index, page, sectorMask(from, pageLength) & page.dirty);
    });
    this.durableBytes = Math.max(this.durableBytes, position + length);
  }

  /** A sync begins: it covers what has been written until now. */
  beginSync(): void {
    for (const index of this.dirtyPages) {
      const page = this.pages.get(index) as Page;
      page.syncing = page.dirty;
    }
    this.syncingBytes = this.currentBytes;
  }

  endSync(): void {
    for (const index of this.dirtyPages) {
      const page = this.pages.get(index) as Page;
      this.writeBack(index, page, page.syncing);
    }
    this.durableBytes = Math.max(this.durableBytes, this.syncingBytes);
  }

  /**
   * The sync fails. As on Linux, what it covered is then on the device, or only in memory and taken for clean, or gone
   * from both; no later sync brings it back.
   */
  failSync(): void {
    for (const index of this.dirtyPages) {
      const page = this.pages.get(index) as Page;
      for (let sector = 0; sector < SECTORS; sector++) {
        const bit = 1 << sector;
        if ((page.syncing & bit) !== 0) this.loseSector(index, page, sector);
      }
    }
  }

  /** The power goes: what was not synced is kept or lost, sector by sector, and a sector may be torn. */
  cut(keep: Keep): void {
    const keptShare = this.random.pick([0, 0.1, 0.5, 0.9, 1]);
    for (const page of this.pages.values()) {
      for (let sector = 0; sector < SECTORS; sector++) {
        if ((page.dirty & (1 << sector)) === 0) continue;
        const isKept = keep === 'all' || (keep === 'seeded' && this.random.chance(keptShare));
        if (isKept) page.durable = this.afterCut(page, sector, keep);
      }
      page.current = page.durable;
      page.dirty = 0;
      page.syncing = 0;
      page.lost = 0;
    }
    this.dirtyPages.clear();
    this.shrinkTo(this.bytesAfterCut(keep));
  }

  /** Changes one bit on the device, as wear does. */
  flipBit(position: number, bit: number): void {
    const page = this.pages.get(Math.floor(position / PAGE_BYTES));
    if (page === undefined) return;
    const offset = position % PAGE_BYTES;
    const isClean = ((page.dirty | page.lost) & sectorMask(offset, 1)) === 0;
    const wasShared = page.current === page.durable;
    page.durable = Uint8Array.from(page.durable);
    page.durable[offset] = (page.durable[offset] as number) ^ (1 << bit);
    if (!isClean) return;
    page.current = wasShared ? page.durable : Uint8Array.from(page.current);
    page.current[offset] = page.durable[offset];
  }

  /** What would be there after a power cut that loses everything it can. */
  durableImage(): Buffer {
    const image = Buffer.alloc(this.durableBytes);
    for (const [index, { durable }] of this.pages) {
      image.set(durable.subarray(0, Math.max(0, image.length - index * PAGE_BYTES)), index * PAGE_BYTES);
    }
    return image;
  }

  // ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private writePage(index: number, from: number, bytes: Uint8Array): void {
    let page = this.pages.get(index);
    if (page === undefined) {
      page = { current: ZEROS, durable: ZEROS, dirty: 0, syncing: 0, lost: 0 };
      this.pages.set(index, page);
    }
    const mask = sectorMask(from, bytes.length);
    const overwritten = page.dirty & mask;
    if (overwritten !== 0) this.writeBackOverwritten(index, page, overwritten);
    if (bytes.length === PAGE_BYTES && isZero(bytes)) page.current = ZEROS;
    else {
      if (page.current === page.durable || page.current === ZEROS) page.current = Uint8Array.from(page.current);
      page.current.set(bytes, from);
    }
    page.dirty |= mask;
    page.lost &= ~mask;
    this.dirtyPages.add(index);
  }

  private writeBackOverwritten(index: number, page: Page, sectors: number): void {
    let toDevice = sectors & page.syncing;
    if (this.random.chance(WRITE_BACK_CHANCE)) toDevice |= sectors;
    if (toDevice !== 0) this.writeBack(index, page, toDevice);
  }

  /** These dirty sectors reach the device. */
  private writeBack(index: number, page: Page, sectors: number): void {
    if (sectors === 0) return;
    if (page.dirty === sectors && page.lost === 0) page.durable = page.current;
    else page.durable = mixed(page.durable, page.current, sectors);
    page.dirty &= ~sectors;
    page.syncing &= ~sectors;
    if (page.dirty === 0) this.dirtyPages.delete(index);
  }

  private loseSector(index: number, page: Page, sector: number): void {
    const bit = 1 << sector;
    const outcome = this.random.pick(['written', 'only in memory', 'gone'] as const);
    if (outcome === 'written') {
      this.writeBack(index, page, bit);
      return;
    }
    if (outcome === 'gone') page.current = mixed(page.current, page.durable, bit);
    else page.lost |= bit;
    page.dirty &= ~bit;
    page.syncing &= ~bit;
    if (page.dirty === 0) this.dirtyPages.delete(index);
  }

  /** The device's page when a sector that was on its way is kept, whole or torn at some byte. */
  private afterCut(page: Page, sector: number, keep: Keep): Uint8Array {
    const start = sector * SECTOR_BYTES;
    const isTorn = keep === 'seeded' && this.random.chance(0.1);
    const length = isTorn ? this.random.below(SECTOR_BYTES) : SECTOR_BYTES;
    const durable = Uint8Array.from(page.durable);
    durable.set(page.current.subarray(start, start + length), start);
    return durable;
  }

  private bytesAfterCut(keep: Keep): number {
    if (keep === 'none') return this.durableBytes;
    if (keep === 'all' || this.random.chance(0.4)) return this.currentBytes;
    if (this.random.chance(0.5)) return this.durableBytes;
    return this.random.between(this.durableBytes, this.currentBytes);
  }

  private shrinkTo(bytes: number): void {
    for (const [index, page] of this.pages) {
      const kept = bytes - index * PAGE_BYTES;
      if (kept >= PAGE_BYTES) continue;
      if (kept <= 0) this.pages.delete(index);
      else {
        page.durable = Uint8Array.from(page.durable).fill(0, kept);
        page.current = page.durable;
      }
    }
    this.currentBytes = bytes;
    this.durableBytes = bytes;
    this.syncingBytes = bytes;
  }
}

/** Calls `visit` for each page that the range touches: offset in the page, length there, offset in the range. */
function forEachPage(
  position: number,
  length: number,
  visit: (index: number, from: number, length: number, at: number) => void,
): void {
  let at = 0;
  while (at < length) {
    const from = (position + at) % PAGE_BYTES;
    const part = Math.min(PAGE_BYTES - from, length - at);
    visit((position + at - from) / PAGE_BYTES, from, part, at);
    at += part;
  }
}

/** A bit for each sector that the range within a page touches. */
function sectorMask(from: number, length: number): number {
  const first = Math.floor(from / SECTOR_BYTES);
  const end = Math.ceil((from + length) / SECTOR_BYTES);
  return 2 ** end - 2 ** first;
}

/** `base` with these sectors of `other`. */
function mixed(base: Uint8Array, other: Uint8Array, sectors: number): Uint8Array {
  const result = Uint8Array.from(base);
  for (let sector = 0; sector < SECTORS; sector++) {
    if ((sectors & (1 << sector)) === 0) continue;
    const start = sector * SECTOR_BYTES;
    result.set(other.subarray(start, start + SECTOR_BYTES), start);
  }
  return result;
}

function isZero(page: Uint8Array): boolean {
  return page[0] === 0 && Buffer.compare(page, ZEROS) === 0;
}
