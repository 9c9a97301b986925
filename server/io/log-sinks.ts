/**
 * Where log lines go: standard error, or a file that can be opened anew after it was moved away.
 *
 * A file with a limit is rotated by the line that takes it beyond: it is renamed after the moment, a new one begins, and
 * `onRotated` gets the name of the old one. Of the old ones, as many stay as `filesMax` says, the current one counted;
 * what cannot be removed is tried again the next time.
 */

import fs from 'node:fs';
import path from 'node:path';
import type { LogSink } from './log.ts';

const FILE_MODE = 0o640;
/** What is behind the name of a rotated file and its dot. */
const STAMP = /^\d{4}\.\d\d\.\d\d\.\d\d\.\d\d\.\d\d\.\d{9}$/;

export interface ReopenableSink {
  readonly write: LogSink;
  /** Opens the file anew under its name. False when the log does not go to a file. */
  reopen(): boolean;
  close(): void;
}

export interface LogFileLimits {
  /** Bytes; 0 never rotates. */
  readonly bytesMax: number;
  /** 0 keeps all. */
  readonly filesMax: number;
}

export interface LogFileEvents {
  rotated(backup: string): void;
  purged(backup: string): void;
  failed(what: string): void;
}

export function standardErrorSink(): ReopenableSink {
  const write = (line: string): void => {
    process.stderr.write(line);
  };
  return { write, reopen: () => false, close: () => undefined };
}

/** One place to write to, behind which the sink can change. */
export class LogDestination implements ReopenableSink {
  sink: ReopenableSink;

  constructor(sink: ReopenableSink) {
    this.sink = sink;
  }

  readonly write = (line: string): void => this.sink.write(line);

  reopen(): boolean {
    return this.sink.reopen();
  }

  /** Closes the present sink and writes to this one from now on. */
  goOver(sink: ReopenableSink): void {
    this.sink.close();
    this.sink = sink;
  }

  close(): void {
    this.sink.close();
  }
}

/** Appends to the file. Throws when it can't be opened. */
export function fileSink(file: string): ReopenableSink {
  return new LogFile(file);
}

export class LogFile implements ReopenableSink {
  /** Hears of rotations once it is set, and none is done before. */
  events: LogFileEvents | null = null;
  private readonly file: string;
  private readonly limits: LogFileLimits;
  private descriptor: number;
  private bytes: number;
  private limit: number;

  constructor(file: string, limits: LogFileLimits = { bytesMax: 0, filesMax: 0 }) {
    this.file = file;
    this.limits = limits;
    this.limit = limits.bytesMax;
    this.descriptor = fs.openSync(file, 'a', FILE_MODE);
    this.bytes = fs.fstatSync(this.descriptor).size;
  }

  readonly write = (line: string): void => {
    this.bytes += fs.writeSync(this.descriptor, line);
    if (this.limit > 0 && this.bytes > this.limit && this.events !== null) this.rotate(this.events);
  };

  reopen(): boolean {
    const reopened = fs.openSync(this.file, 'a', FILE_MODE);
    fs.closeSync(this.descriptor);
    this.descriptor = reopened;
    this.bytes = fs.fstatSync(reopened).size;
    return true;
  }

  close(): void {
    fs.closeSync(this.descriptor);
  }

  private rotate(events: LogFileEvents): void {
    // What is told from here on must not rotate again.
    this.limit = 0;
    const backup = `${this.file}.${stamp()}`;
    try {
      fs.renameSync(this.file, backup);
      this.reopen();
    } catch (error) {
      events.failed(`Unable to rotate logfile (${(error as Error).message}), will attempt next rotation`);
      this.limit = this.bytes + this.limits.bytesMax;
      return;
    }
    events.rotated(backup);
    if (this.limits.filesMax > 0) this.purge(events);
    this.limit = this.limits.bytesMax;
  }

  private purge(events: LogFileEvents): void {
    const folder = path.dirname(this.file);
    const begin = `${path.basename(this.file)}.`;
    try {
      const backups = fs
        .readdirSync(folder)
        .filter((name) => name.startsWith(begin) && STAMP.test(name.slice(begin.length)));
      const surplus = Math.max(0, backups.length - (this.limits.filesMax - 1));
      for (const name of backups.toSorted().slice(0, surplus)) {
        fs.rmSync(path.join(folder, name));
        events.purged(name);
      }
    } catch (error) {
      events.failed(`Unable to remove backup log files (${(error as Error).message}), will attempt next rotation`);
    }
  }
}

/** `2026.11.29.21.56.36.984523000`, in local time, and never the same twice. */
function stamp(): string {
  const now = performance.timeOrigin + performance.now();
  const whole = Math.floor(now);
  const local = new Date(whole - new Date(whole).getTimezoneOffset() * 60_000).toISOString();
  const nanoseconds = Math.floor((now % 1_000) * 1e6);
  return `${local.slice(0, 19).replaceAll(/[-:T]/g, '.')}.${String(nanoseconds).padStart(9, '0')}`;
}
