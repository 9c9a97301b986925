/**
 * How a stream is cut into reads: each connection has its own largest piece, from single bytes to what fits into the
 * read buffer, and below it every order of magnitude is as likely. After a thousand reads it stops being stingy, so
 * that a long transfer in single bytes does not take a simulation's whole time.
 */

import type { SeededRandom } from './seeded-random.ts';

export const READ_BYTES = 65_536;

const LARGEST_PIECES: readonly number[] = [1, 7, 64, 1024, 16_384, READ_BYTES, READ_BYTES];
const STINGY_READS = 1000;

export class ReadSizes {
  private readonly random: SeededRandom;
  private readonly largest: number;
  private reads = 0;

  /** `largest` where the seed is not to choose it. */
  constructor(random: SeededRandom, largest: number | null) {
    this.random = random;
    this.largest = largest ?? random.pick(LARGEST_PIECES);
  }

  /** At most how many bytes the next read may give. */
  next(): number {
    return this.random.magnitude(this.reads++ < STINGY_READS ? this.largest : READ_BYTES);
  }
}
