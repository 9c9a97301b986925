/** Facts about one simulated machine and process. Code is not simulated: the SQLite addon is the real one. */

import type { Host } from '../io.ts';
import { loadSqliteAddon } from '../native-addon.ts';

const RESIDENT_BYTES = 50 * 1024 * 1024;

export class SimulatedHost implements Host {
  readonly name: string;
  readonly processId: number;
  readonly cores = 2;
  readonly temporaryDirectory = '/tmp';
  readonly environment: Readonly<Record<string, string | undefined>> = {};
  private readonly address: string;
  private readonly limitBytes: number;

  constructor(name: string, processId: number, address: string, memoryLimitBytes: number) {
    this.name = name;
    this.processId = processId;
    this.address = address;
    this.limitBytes = memoryLimitBytes;
  }

  addresses(): string[] {
    return [this.address];
  }

  memoryLimitBytes(): number {
    return this.limitBytes;
  }

  residentBytes(): number {
    return RESIDENT_BYTES;
  }

  cpuSeconds(): number {
    return 0;
  }

  sqliteAddon(): object {
    return loadSqliteAddon(null);
  }

  shrinkHeap(): void {
    // A simulated host has no heap of its own.
  }

  collectGarbage(): number {
    return 0;
  }
}
