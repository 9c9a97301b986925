/** Where a bench runs: what of the machine decides its absolute figures. Ratios carry over to other machines better. */
import { closeSync, fdatasyncSync, openSync, statfsSync, writeSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder, removeFolder } from './children.ts';
import { median } from './figures.ts';

const SYNCS = 100;
const SYNCED_BYTES = 4_096;
/** What statfs calls a file system in memory. */
const TMPFS = 0x01021994;

/** Whether the folder for temporary files, where servers store, is memory and not a disk. */
export function storesInMemory(): boolean {
  return statfsSync(tmpdir()).type === TMPFS;
}

/** Processors, kernel, and what a sync costs in the folder for temporary files. */
export function machineDescription(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  const sync = `fdatasync of 4 KiB in ${tmpdir()}: ${Math.round(syncUs())} us`;
  return `${processors.length} x ${model}, Linux ${release()}, ${sync}`;
}

function syncUs(): number {
  const folder = makeFolder();
  const file = openSync(join(folder, 'synced'), 'w');
  try {
    const block = Buffer.alloc(SYNCED_BYTES);
    const timesMs = Array.from({ length: SYNCS }, () => {
      writeSync(file, block);
      const startedMs = performance.now();
      fdatasyncSync(file);
      return performance.now() - startedMs;
    });
    return median(timesMs) * 1000;
  } finally {
    closeSync(file);
    removeFolder(folder);
  }
}
