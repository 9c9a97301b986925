/**
 * The log, in the format that tools around nats-server read:
 *
 *     [pid] 2026/11/29 21:56:36.984523 [INF] Server is ready
 *
 * or, where the configuration asks for it, as an object a line:
 *
 *     {"time":"2026-11-29T21:56:36.984523Z","level":"INF","pid":4711,"msg":"Server is ready"}
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
  /** Each line is an object, whose time is always UTC. */
  readonly json?: boolean;
}

export type LogSink = (line: string) => void;

export class Log {
  debugEnabled = false;
  traceEnabled = false;
  private readonly sink: LogSink;
  private readonly clock: Clock;
  private readonly processId: number;
  private options: LogOptions;

  constructor(sink: LogSink, clock: Clock, processId: number, options: LogOptions) {
    this.sink = sink;
    this.clock = clock;
    this.processId = processId;
    this.options = options;
    this.configure(options);
  }

  /** Writes according to these options from now on. */
  configure(options: LogOptions): void {
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
    const { time, utc, json } = this.options;
    if (json === true) {
      const moment = time ? { time: isoTime(this.clock.wallMs()) } : {};
      this.sink(`${JSON.stringify({ ...moment, level: label, pid: this.processId, msg: text })}\n`);
      return;
    }
    const shown = time ? ` ${timestamp(this.clock.wallMs(), utc)}` : '';
    this.sink(`[${this.processId}]${shown} [${label}] ${text}\n`);
  }
}

/** `2026/11/29 21:56:36.984523` */
function timestamp(wallMs: number, utc: boolean): string {
  const offsetMs = utc ? 0 : new Date(wallMs).getTimezoneOffset() * 60_000;
  const shown = isoTime(wallMs - offsetMs);
  return `${shown.slice(0, 10).replaceAll('-', '/')} ${shown.slice(11, 26)}`;
}

/** `2026-11-29T21:56:36.984523Z` */
function isoTime(wallMs: number): string {
  const whole = Math.floor(wallMs);
  const micros = Math.floor((wallMs - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, 23)}${String(micros).padStart(3, '0')}Z`;
}
