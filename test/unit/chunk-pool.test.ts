/** Memory for what waits to be sent: chunks never overlap, come back, and a burst's memory goes when it is over. */
import { describe, expect, it } from 'vitest';
import { type Chunk, CHUNK_BYTES_MAX, CHUNK_SIZES, ChunkPool } from '../../server/connection/chunk-pool.ts';

const SLAB_BYTES = 64 * 1024 * 1024;
const KEPT_BYTES = 2 * 1024 * 1024;

function take(pool: ChunkPool, sizeClass: number, count: number): Chunk[] {
  return Array.from({ length: count }, () => pool.take(sizeClass));
}

/** Chunks that lie in one another, by the order of their starts. */
function overlaps(chunks: readonly Chunk[]): Chunk[] {
  const ordered = chunks.toSorted((a, b) => a.start - b.start);
  return ordered.filter((chunk, i) => {
    const next = ordered[i + 1];
    return next !== undefined && next.slab === chunk.slab && next.start < chunk.end;
  });
}

describe('the chunk pool', () => {
  it.each(CHUNK_SIZES.map((bytes, sizeClass) => [bytes, sizeClass]))('cuts chunks of %i bytes', (bytes, sizeClass) => {
    const pool = new ChunkPool();
    const chunks = take(pool, sizeClass, 200);
    expect(chunks.every((chunk) => chunk.end - chunk.start === bytes && chunk.position === chunk.start)).toBe(true);
    expect(overlaps(chunks)).toEqual([]);
    expect(new Set(chunks).size).toBe(200);
  });

  it('keeps chunks of all sizes apart, also after many were given back', () => {
    const pool = new ChunkPool();
    const held: Chunk[] = [];
    // A fixed but irregular order of sizes and of what is given back.
    for (let i = 0, state = 7; i < 5000; i++) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      if (state % 5 < 3) held.push(pool.take(state % CHUNK_SIZES.length));
      else for (const chunk of held.splice(state % Math.max(1, held.length), 1)) pool.give(chunk);
    }
    expect(held.length).toBeGreaterThan(100);
    expect(overlaps(held)).toEqual([]);
  });

  it('gives the warmest chunk next, empty', () => {
    const pool = new ChunkPool();
    const [first, second] = take(pool, 1, 2) as [Chunk, Chunk];
    second.position += 100;
    second.next = first;
    expect(second.bytes).toBe(100);
    pool.give(first);
    pool.give(second);
    const again = pool.take(1);
    expect(again).toBe(second);
    expect([again.bytes, again.next]).toEqual([0, null]);
  });

  it('stays in the pages it knows under steady load', () => {
    const pool = new ChunkPool();
    for (let turn = 0; turn < 1000; turn++) for (const chunk of take(pool, 0, 64)) pool.give(chunk);
    expect(pool.isOvergrown).toBe(false);
    expect(pool.take(0).slab.touchedBytes).toBe(CHUNK_BYTES_MAX);
  });

  it('cuts a free large chunk up before it touches another page', () => {
    const pool = new ChunkPool();
    pool.give(pool.take(3));
    const small = take(pool, 0, 64);
    expect(small[0]?.slab.touchedBytes).toBe(CHUNK_BYTES_MAX);
    expect(overlaps(small)).toEqual([]);
  });

  it('takes a second slab when the first is full', () => {
    const pool = new ChunkPool();
    const chunks = take(pool, 3, SLAB_BYTES / CHUNK_BYTES_MAX + 1);
    expect(new Set(chunks.map(({ slab }) => slab)).size).toBe(2);
    expect(overlaps(chunks)).toEqual([]);
  });
});

describe('after a burst', () => {
  it('only slabs of which nothing is in use are dropped', () => {
    const pool = new ChunkPool();
    const chunks = take(pool, 3, KEPT_BYTES / CHUNK_BYTES_MAX + 10);
    expect(pool.isOvergrown).toBe(true);
    expect(pool.dropUnused()).toBe(0);
    const [last, ...others] = chunks as [Chunk, ...Chunk[]];
    for (const each of others) pool.give(each);
    expect(pool.dropUnused()).toBe(0);
    pool.give(last);
    expect(pool.dropUnused()).toBe(chunks.length * CHUNK_BYTES_MAX);
    expect(pool.isOvergrown).toBe(false);
    expect(pool.dropUnused()).toBe(0);
    expect(pool.take(3).slab).not.toBe(last.slab);
  });

  it('a slab that was little used is kept', () => {
    const pool = new ChunkPool();
    const chunks = take(pool, 3, KEPT_BYTES / CHUNK_BYTES_MAX);
    for (const each of chunks) pool.give(each);
    expect(pool.isOvergrown).toBe(false);
    expect(pool.dropUnused()).toBe(0);
    expect(pool.take(3).slab).toBe(chunks[0]?.slab);
  });

  it('a chunk given back twice is noticed when nothing else is in use', () => {
    const pool = new ChunkPool();
    const chunk = pool.take(0);
    pool.give(chunk);
    expect(() => pool.give(chunk)).toThrow('given back once');
  });
});
