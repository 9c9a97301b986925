/**
 * Randomness that one seed determines: xoshiro128**, its state filled by splitmix32. Not for secrets.
 *
 * `fork` gives a generator of its own for one purpose, which depends on the seed and the purpose's name and on nothing
 * that was drawn before: more draws in one place change nothing in another, so that a failure stays one when something
 * unrelated is added.
 */

import { Buffer } from 'node:buffer';
import type { Random } from '../io.ts';

const UINT32 = 2 ** 32;
const GOLDEN = 0x9e3779b9;

export class SeededRandom implements Random {
  private readonly seed: number;
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  /** Any non-negative safe integer is a seed. */
  constructor(seed: number) {
    this.seed = seed;
    const low = seed >>> 0;
    const high = Math.floor(seed / UINT32) >>> 0;
    this.a = splitmix(low, 1);
    this.b = splitmix(low ^ high, 2);
    this.c = splitmix(high, 3);
    // Never all zero, the one state that the generator can't leave.
    this.d = splitmix(low + high, 4) | 1;
  }

  /** A number in [0, 1) with 53 random bits. */
  readonly fraction = (): number => ((this.uint32() >>> 5) * 2 ** 26 + (this.uint32() >>> 6)) / 2 ** 53;

  /** A whole number in [0, 2^32). */
  uint32(): number {
    const { b } = this;
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    this.c ^= this.a;
    this.d ^= b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = rotate(this.d, 11);
    return result;
  }

  /** A whole number in [0, count), count at most 2^32. */
  below(count: number): number {
    return Math.floor((this.uint32() / UINT32) * count);
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.uint32() < probability * UINT32;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** A whole number in [1, max] of which each order of magnitude is as likely as another. */
  magnitude(max: number): number {
    return Math.min(max, Math.floor((max + 1) ** this.fraction()));
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count);
    for (let i = 0; i < count; i++) bytes[i] = this.uint32() >>> 24;
    return bytes;
  }

  /** A generator for one purpose, determined by the seed and the purpose's name alone. */
  fork(purpose: string): SeededRandom {
    let hash = splitmix(this.seed >>> 0, Math.floor(this.seed / UINT32));
    for (let i = 0; i < purpose.length; i++) hash = splitmix(hash, purpose.charCodeAt(i));
    return new SeededRandom(hash * 2 ** 20 + (splitmix(hash, 0) >>> 12));
  }
}

function splitmix(value: number, step: number): number {
  let mixed = (value + Math.imul(step + 1, GOLDEN)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
