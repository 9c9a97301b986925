/**
 * What a process uses, from /proc (Linux only): CPU time of all its threads, memory, threads.
 *
 * Resident memory counts pages of the program file too, which the kernel drops when it needs them and which several
 * processes share; `own` pages (RssAnon) are those that only this process has and that stay. 1 MB is 2^20 bytes here.
 */
import { readFileSync, writeFileSync } from 'node:fs';

/** The unit in which /proc counts CPU time; 100 on every Linux. */
const TICKS_PER_SECOND = 100;
/** Asks the kernel to measure the peak of resident memory from here on. */
const RESET_PEAK = '5';
const SAMPLE_MS = 20;

export class ProcessUsage {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#pid}/stat`, 'latin1');
    // The name of the program stands in parentheses and may hold anything; the third field follows it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  residentMb(): number {
    return this.#status('VmRSS') / 1024;
  }

  peakResidentMb(): number {
    return this.#status('VmHWM') / 1024;
  }

  ownMb(): number {
    return this.#status('RssAnon') / 1024;
  }

  threads(): number {
    return this.#status('Threads');
  }

  /** Bytes that the process caused to be written to a device, as far as the kernel knows. */
  writtenBytes(): number {
    const written = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${this.#pid}/io`, 'latin1'))?.[1];
    if (written === undefined) throw new Error(`the kernel tells no written bytes of process ${this.#pid}`);
    return Number(written);
  }

  resetPeak(): void {
    writeFileSync(`/proc/${this.#pid}/clear_refs`, RESET_PEAK);
  }

  #status(key: string): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'latin1');
    const value = new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1];
    if (value === undefined) throw new Error(`the kernel tells no ${key} of process ${this.#pid}`);
    return Number(value);
  }
}

export interface Peaks {
  readonly residentMb: number;
  readonly ownMb: number;
  readonly threads: number;
}

/** The most that a process uses while `work` runs, looked at every 20 ms. */
export async function peaksDuring<T>(usage: ProcessUsage, work: () => Promise<T>): Promise<[T, Peaks]> {
  let peaks: Peaks = { residentMb: 0, ownMb: 0, threads: 0 };
  const look = (): void => {
    peaks = {
      residentMb: Math.max(peaks.residentMb, usage.residentMb()),
      ownMb: Math.max(peaks.ownMb, usage.ownMb()),
      threads: Math.max(peaks.threads, usage.threads()),
    };
  };
  let failure: unknown = null;
  const timer = setInterval(() => {
    try {
      look();
    } catch (error) {
      failure = error;
      clearInterval(timer);
    }
  }, SAMPLE_MS);
  try {
    const result = await work();
    if (failure !== null) throw failure;
    look();
    return [result, peaks];
  } finally {
    clearInterval(timer);
  }
}
