/** Facts about the host and this process. */

import os from 'node:os';
import type { Host } from './io.ts';
import { loadSqliteAddon } from './native-addon.ts';

export class RealHost implements Host {
  readonly name: string = os.hostname();
  readonly processId: number = process.pid;
  readonly cores: number = os.availableParallelism();
  readonly temporaryDirectory: string = os.tmpdir();
  readonly environment: Readonly<Record<string, string | undefined>> = process.env;

  addresses(): string[] {
    const interfaces = Object.values(os.networkInterfaces());
    return interfaces.flatMap((addresses) => (addresses ?? []).map((each) => each.address));
  }

  memoryLimitBytes(): number {
    const limit = process.constrainedMemory();
    const total = os.totalmem();
    return limit > 0 && limit < total ? limit : total;
  }

  residentBytes(): number {
    return process.memoryUsage.rss();
  }

  cpuSeconds(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }

  sqliteAddon(storeDirectory: string): object {
    return loadSqliteAddon(storeDirectory);
  }

  collectGarbage(): number | null {
    if (globalThis.gc === undefined) return null;
    const before = performance.now();
    globalThis.gc();
    return performance.now() - before;
  }

  shrinkHeap(): void {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }
}
