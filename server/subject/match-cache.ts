/**
 * Answers of recent matches, found by the subject's bytes. A miss is normal (inboxes, ids in subjects) and must cost
 * little, so a subject is admitted only on its second miss: the first leaves its hash at the door, and one-off subjects
 * evict nothing.
 *
 *     slot = hash of the subject      entries[slot] → { bytes, receivers, generations }      door[slot] → last hash missed
 *
 * An entry is valid while two generations stand as they did when it was made: the root's (bumped by a pattern that
 * begins with a wildcard) and that of its first token (bumped by a pattern beginning with that token). A literal
 * subscription drops the one entry of its own subject.
 *
 * Bounds: SLOTS_MAX entries, RECEIVERS_MAX receivers and BYTES_MAX bytes of subjects held by all of them together; beyond
 * that the cache starts anew.
 */

import type { Receivers } from './receivers.ts';
import { hashBytes, slotOf } from './subject-hash.ts';

const SLOTS_MIN = 256;
const SLOTS_MAX = 16_384;
const RECEIVERS_MAX = 262_144;
const BYTES_MAX = 4_194_304;
const GENERATIONS = 1024;
const DOT = 0x2e;

export interface CacheEntry {
  readonly hash: number;
  readonly bytes: Uint8Array;
  readonly receivers: Receivers;
  readonly rootGeneration: number;
  readonly tokenSlot: number;
  readonly tokenGeneration: number;
}

export class MatchCache {
  private readonly seed: number;
  private entries: (CacheEntry | null)[] = emptyEntries(SLOTS_MIN);
  private door = new Int32Array(SLOTS_MIN);
  private mask = SLOTS_MIN - 1;
  private readonly tokenGenerations = new Int32Array(GENERATIONS);
  private rootGeneration = 0;
  private receiversHeld = 0;
  private bytesHeld = 0;
  size = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  find(buffer: Uint8Array, start: number, end: number, hash: number): CacheEntry | null {
    const entry = this.entries[slotOf(hash, this.mask)] as CacheEntry | null;
    if (entry === null || entry.hash !== hash || !this.isCurrent(entry)) return null;
    return bytesEqual(entry.bytes, buffer, start, end) ? entry : null;
  }

  /** Tells of a miss: keeps a copy of the answer if the same subject was missed before. */
  missed(buffer: Uint8Array, start: number, end: number, hash: number, receivers: Receivers): void {
    const slot = slotOf(hash, this.mask);
    if (this.door[slot] !== hash) {
      this.door[slot] = hash;
      return;
    }
    this.admit(buffer, start, end, hash, receivers);
  }

  /** A literal subscription came or went. */
  dropLiteral(hash: number): void {
    const slot = slotOf(hash, this.mask);
    const entry = this.entries[slot] as CacheEntry | null;
    if (entry !== null && entry.hash === hash) this.evict(slot, entry);
  }

  /** A subscription with wildcards came or went; `tokenHash` is that of its first token, `null` if that is one. */
  dropPattern(tokenHash: number | null): void {
    if (tokenHash === null) this.rootGeneration = (this.rootGeneration + 1) | 0;
    else {
      const slot = slotOf(tokenHash, GENERATIONS - 1);
      this.tokenGenerations[slot] = ((this.tokenGenerations[slot] as number) + 1) | 0;
    }
  }

  /** How many messages one becomes: the largest and the sum over the valid entries. A queue group gets one. */
  fanout(): { max: number; total: number; entries: number } {
    const seen = { max: 0, total: 0, entries: 0 };
    for (const entry of this.entries) {
      if (entry === null || !this.isCurrent(entry)) continue;
      const count = entry.receivers.plain.length + entry.receivers.groups.length;
      seen.entries++;
      seen.total += count;
      if (count > seen.max) seen.max = count;
    }
    return seen;
  }

  private isCurrent(entry: CacheEntry): boolean {
    return (
      entry.rootGeneration === this.rootGeneration && entry.tokenGeneration === this.tokenGenerations[entry.tokenSlot]
    );
  }

  private admit(buffer: Uint8Array, start: number, end: number, hash: number, receivers: Receivers): void {
    const slot = slotOf(hash, this.mask);
    const old = this.entries[slot] as CacheEntry | null;
    if (old !== null) {
      if (old.hash !== hash && this.isCurrent(old) && this.mask + 1 < SLOTS_MAX) {
        this.grow();
        this.admit(buffer, start, end, hash, receivers);
        return;
      }
      this.evict(slot, old);
    }
    const { count } = receivers;
    if (this.receiversHeld + count > RECEIVERS_MAX || this.bytesHeld + end - start > BYTES_MAX) this.clear();
    if (count > RECEIVERS_MAX) return;
    let tokenEnd = start;
    while (tokenEnd < end && buffer[tokenEnd] !== DOT) tokenEnd++;
    const tokenSlot = slotOf(hashBytes(buffer, start, tokenEnd, this.seed), GENERATIONS - 1);
    this.entries[slot] = {
      hash,
      bytes: Uint8Array.prototype.slice.call(buffer, start, end),
      receivers: receivers.copy(),
      rootGeneration: this.rootGeneration,
      tokenSlot,
      tokenGeneration: this.tokenGenerations[tokenSlot] as number,
    };
    this.receiversHeld += count;
    this.bytesHeld += end - start;
    this.size++;
  }

  private evict(slot: number, entry: CacheEntry): void {
    this.entries[slot] = null;
    this.receiversHeld -= entry.receivers.count;
    this.bytesHeld -= entry.bytes.length;
    this.size--;
  }

  private clear(): void {
    this.entries.fill(null);
    this.receiversHeld = 0;
    this.bytesHeld = 0;
    this.size = 0;
  }

  private grow(): void {
    const old = this.entries;
    this.mask = (this.mask + 1) * 4 - 1;
    this.entries = emptyEntries(this.mask + 1);
    this.door = new Int32Array(this.mask + 1);
    for (const entry of old) if (entry !== null) this.entries[slotOf(entry.hash, this.mask)] = entry;
  }
}

function emptyEntries(length: number): (CacheEntry | null)[] {
  const entries: (CacheEntry | null)[] = [];
  for (let i = 0; i < length; i++) entries.push(null);
  return entries;
}

/** Whether `bytes` is exactly `buffer[start, end)`. */
export function bytesEqual(bytes: Uint8Array, buffer: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (bytes.length !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[i] !== buffer[start + i]) return false;
  return true;
}
