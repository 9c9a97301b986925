/**
 * The log, in the format that tools around nats-server read:
 *
 *     [pid] 2026/11/29 21:56:36.984523 [INF] Server is ready
 *
 * Labels are INF, WRN, ERR, FTL, DBG, TRC. Lines go to standard error or to a file; where they go is the sink's matter.
 */

import type { Clock } from './io.ts';

export interface LogOptions {
  readonly debug: boolean;
  readonly trace: boolean;
  /** Date and time in front of each line. */
  readonly time: boolean;
  readonly utc: boolean;
}

export type LogSink = (line: string) => void;

export class Log {
  readonly debugEnabled: boolean;
  readonly traceEnabled: boolean;
  private readonly sink: LogSink;
  private readonly clock: Clock;
  private readonly prefix: string;
  private readonly options: LogOptions;

  constructor(sink: LogSink, clock: Clock, processId: number, options: LogOptions) {
    this.sink = sink;
    this.clock = clock;
    this.prefix = `[${processId}]`;
    this.options = options;
    this.debugEnabled = options.debug;
    this.traceEnabled = options.trace;
  }

  notice(text: string): void {
    this.line('INF', text);
  }

  warn(text: string): void {
    this.line('WRN', text);
  }

  error(text: string): void {
    this.line('ERR', text);
  }

  fatal(text: string): void {
    this.line('FTL', text);
  }

  debug(text: string): void {
    if (this.debugEnabled) this.line('DBG', text);
  }

  trace(text: string): void {
    if (this.traceEnabled) this.line('TRC', text);
  }

  private line(label: string, text: string): void {
    const time = this.options.time ? ` ${timestamp(this.clock.wallMs(), this.options.utc)}` : '';
    this.sink(`${this.prefix}${time} [${label}] ${text}\n`);
  }
}

/** `2026/11/29 21:56:36.984523` */
function timestamp(wallMs: number, utc: boolean): string {
  const whole = Math.floor(wallMs);
  const micros = Math.floor((wallMs - whole) * 1000);
  const shown = new Date(utc ? whole : whole - new Date(whole).getTimezoneOffset() * 60_000).toISOString();
  return `${shown.slice(0, 10).replaceAll('-', '/')} ${shown.slice(11, 23)}${String(micros).padStart(3, '0')}`;
}
