/**
 * What goes wrong on a simulated disk: errors at a rate that the seed decides on, and errors that a test asks for by
 * name. Nothing goes wrong unless it was asked for.
 */

import type { SeededRandom } from './seeded-random.ts';

export type FaultyOperation = 'read' | 'write' | 'sync';

/** How often an operation goes wrong, between 0 and 1. */
export interface FaultRates {
  readError: number;
  writeError: number;
  /** A write takes fewer bytes than it was given. */
  shortWrite: number;
  syncError: number;
  /** A sync or synced write takes a thousand times as long. */
  slowSync: number;
}

interface Planned {
  readonly operation: FaultyOperation;
  readonly code: string;
  readonly path: RegExp | null;
}

export class DiskFaults {
  readonly rates: FaultRates = { readError: 0, writeError: 0, shortWrite: 0, syncError: 0, slowSync: 0 };
  private readonly random: SeededRandom;
  private readonly planned: Planned[] = [];

  constructor(random: SeededRandom) {
    this.random = random;
  }

  /** The next such operation, on a path that matches where one is given, fails with the code. */
  failNext(operation: FaultyOperation, code = 'EIO', path: RegExp | null = null): void {
    this.planned.push({ operation, code, path });
  }

  /** The error that this operation meets, or `null`. */
  codeFor(operation: FaultyOperation, path: string): string | null {
    const at = this.planned.findIndex((each) => each.operation === operation && each.path?.test(path) !== false);
    if (at >= 0) return this.planned.splice(at, 1)[0]?.code ?? null;
    return this.random.chance(this.rateOf(operation)) ? 'EIO' : null;
  }

  /** How many of so many bytes a write takes. */
  written(length: number): number {
    return length > 1 && this.random.chance(this.rates.shortWrite) ? this.random.between(1, length - 1) : length;
  }

  isSlow(): boolean {
    return this.random.chance(this.rates.slowSync);
  }

  private rateOf(operation: FaultyOperation): number {
    const { readError, writeError, syncError } = this.rates;
    return { read: readError, write: writeError, sync: syncError }[operation];
  }
}
