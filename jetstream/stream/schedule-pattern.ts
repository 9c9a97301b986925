/**
 * When a scheduled message comes due, as `Nats-Schedule` says it:
 *
 *     @at 2026-03-01T12:30:00Z       once
 *     @every 5m                      again and again, from a second on
 *     @hourly @daily @weekly @monthly @yearly …, or a cron pattern of six fields, in a time zone if one is named
 *
 * Times are whole milliseconds: a moment within one is rounded up.
 *
 * Source: ADR-51.
 */

import { parseDuration } from '../../server/config/duration.ts';
import { isZeroTime, parseTime } from '../../server/protocol/rfc3339.ts';
import { timeZone, type TimeZone, UTC } from '../../server/protocol/time-zone.ts';
import { type Cron, nextOf, parseCron } from './cron.ts';

const EVERY_MS_MIN = 1000;

const PREDEFINED: Readonly<Record<string, string | undefined>> = {
  '@yearly': '0 0 0 1 1 *',
  '@annually': '0 0 0 1 1 *',
  '@monthly': '0 0 0 1 * *',
  '@weekly': '0 0 0 * * 0',
  '@daily': '0 0 0 * * *',
  '@midnight': '0 0 0 * * *',
  '@hourly': '0 0 * * * *',
};

export type Pattern =
  | { readonly kind: 'once'; readonly atMs: number }
  | { readonly kind: 'every'; readonly ms: number }
  | { readonly kind: 'cron'; readonly cron: Cron; readonly zone: TimeZone };

/**
 * What the headers say: `null`: nothing; what is wrong with them otherwise. `zone`: the name of a time zone, empty where
 * the header is without a value, `null` where there is none.
 */
export function parsePattern(text: string | null, zoneName: string | null): Pattern | 'zone' | 'pattern' | null {
  const zone = zoneName === null ? null : zoneName === '' ? 'zone' : (timeZone(zoneName) ?? 'zone');
  if (zone === 'zone') return 'zone';
  if (text === null) return null;
  if (text.startsWith('@at ')) return zone === null ? once(text.slice(4)) : 'pattern';
  if (text.startsWith('@every ')) return zone === null ? every(text.slice(7)) : 'pattern';
  const cron = parseCron(PREDEFINED[text] ?? text);
  return cron === null ? 'pattern' : { kind: 'cron', cron, zone: zone ?? UTC };
}

/** When it comes due after `ms`; a cron pattern may have no such moment: `null`. */
export function dueAfter(pattern: Pattern, ms: number): number | null {
  switch (pattern.kind) {
    case 'once':
      return pattern.atMs;
    case 'every':
      return Math.round(ms / 1000) * 1000 + pattern.ms;
    case 'cron': {
      const next = nextOf(pattern.cron, Math.floor(ms / 1000), pattern.zone);
      return next === null ? null : next * 1000;
    }
  }
}

/** When it comes due the next time behind `dueMs`, and not before now: what was missed is not made up for. */
export function dueAgain(pattern: Pattern, dueMs: number, nowMs: number): number | null {
  const next = dueAfter(pattern, dueMs);
  return next !== null && next < nowMs ? dueAfter(pattern, Math.round(nowMs / 1000) * 1000) : next;
}

function once(text: string): Pattern | 'pattern' | null {
  const time = parseTime(text);
  if (typeof time === 'string') return 'pattern';
  // Go's zero time is none.
  if (isZeroTime(time)) return null;
  return { kind: 'once', atMs: time.seconds * 1000 + Math.ceil(time.nanoseconds / 1e6) };
}

function every(text: string): Pattern | 'pattern' {
  let ms: number;
  try {
    ms = parseDuration(text);
  } catch {
    return 'pattern';
  }
  return ms < EVERY_MS_MIN ? 'pattern' : { kind: 'every', ms };
}
