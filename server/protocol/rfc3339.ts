/**
 * Moments as Go reads and writes them in JSON: RFC 3339 with up to nine decimals, in the zone they came with.
 *
 *     2026-03-01T12:30:00.25+02:00      no zeros at the end of the decimals; `Z` where the offset is none
 *     0001-01-01T00:00:00Z              Go's zero time, which stands for "never"
 *
 * Reading is as lenient as Go's (an hour of one digit, a comma for the point, an offset of 24:60), and what can't be
 * read is told in Go's words. Texts and messages are strings of bytes.
 */

import { dateOf, daysInMonth, daysSince1970 } from './calendar.ts';

/** A moment: nanoseconds don't fit into one number. */
export interface Moment {
  /** Whole seconds since 1970, UTC; rounded down before it. */
  readonly seconds: number;
  /** 0 to 999,999,999 */
  readonly nanoseconds: number;
}

/** A moment as somebody wrote it: with the zone that it is shown in again. */
export interface Timestamp extends Moment {
  readonly offsetMinutes: number;
}

const SECONDS_PER_DAY = 86_400;

/** The zero time, which stands for "never". */
export const ZERO_TIME: Timestamp = { seconds: -62_135_596_800, nanoseconds: 0, offsetMinutes: 0 };

export function isZeroTime(moment: Moment): boolean {
  return moment.seconds === ZERO_TIME.seconds && moment.nanoseconds === 0;
}

interface Element {
  /** What stands before it. */
  readonly separator: string;
  readonly pattern: RegExp;
  /** How Go's layout spells it. */
  readonly layout: string;
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

const LAYOUT = '2006-01-02T15:04:05Z07:00';
const ELEMENTS: readonly Element[] = [
  { separator: '', pattern: /^\d{4}/, layout: '2006', name: 'year', min: 0, max: 9999 },
  { separator: '-', pattern: /^\d{2}/, layout: '01', name: 'month', min: 1, max: 12 },
  // The length of the month is looked at when everything has been read.
  { separator: '-', pattern: /^\d{2}/, layout: '02', name: 'day', min: 0, max: 99 },
  { separator: 'T', pattern: /^\d{1,2}/, layout: '15', name: 'hour', min: 0, max: 23 },
  { separator: ':', pattern: /^\d{2}/, layout: '04', name: 'minute', min: 0, max: 59 },
  { separator: ':', pattern: /^\d{2}/, layout: '05', name: 'second', min: 0, max: 59 },
];

/** The moment that `text` spells; a string says in Go's words why it spells none. */
export function parseTime(text: string): Timestamp | string {
  const numbers: number[] = [];
  let rest = text;
  for (const { separator, pattern, layout, name, min, max } of ELEMENTS) {
    if (!rest.startsWith(separator)) return cannotParse(text, rest, separator);
    rest = rest.slice(separator.length);
    const digits = pattern.exec(rest)?.[0];
    if (digits === undefined) return cannotParse(text, rest, layout);
    const number = Number(digits);
    if (number < min || number > max) return `parsing time ${quote(text)}: ${name} out of range`;
    numbers.push(number);
    rest = rest.slice(digits.length);
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const fraction = /^[.,]\d+/.exec(rest)?.[0] ?? '';
  const zone = parseZone(text, rest.slice(fraction.length));
  if (typeof zone === 'string') return zone;
  if (day < 1 || day > daysInMonth(year, month)) return `parsing time ${quote(text)}: day out of range`;
  return {
    seconds: daysSince1970(year, month, day) * SECONDS_PER_DAY + (hour * 60 + minute - zone) * 60 + second,
    nanoseconds: Number(fraction.slice(1, 10).padEnd(9, '0')),
    offsetMinutes: zone,
  };
}

/** The offset in minutes that ends `text`. */
function parseZone(text: string, zone: string): number | string {
  const tooMuch = (rest: string): string => `parsing time ${quote(text)}: extra text: ${quote(rest)}`;
  if (zone.startsWith('Z')) return zone.length === 1 ? 0 : tooMuch(zone.slice(1));
  const [, sign = '', hours = '', minutes = ''] = /^(.)(\d\d):(..)/s.exec(zone) ?? [];
  if (Number(hours) > 24) return `parsing time ${quote(text)}: time zone offset hour out of range`;
  if (Number(minutes) > 60) return `parsing time ${quote(text)}: time zone offset minute out of range`;
  if (!/^[-+]$/.test(sign) || !/^\d\d$/.test(minutes)) return cannotParse(text, zone, 'Z07:00');
  if (zone.length > 6) return tooMuch(zone.slice(6));
  const offsetMinutes = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? 0 - offsetMinutes : offsetMinutes;
}

/** RFC 3339 with as many decimals as it needs, in the moment's own zone if it has one, else in UTC. */
export function formatTime(moment: Moment & { readonly offsetMinutes?: number }): string {
  const offsetMinutes = moment.offsetMinutes ?? 0;
  const seconds = moment.seconds + offsetMinutes * 60;
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const ofDay = seconds - days * SECONDS_PER_DAY;
  const clock = [ofDay / 3600, (ofDay / 60) % 60, ofDay % 60].map(twoDigits).join(':');
  const decimals = String(moment.nanoseconds).padStart(9, '0').replace(/0+$/, '');
  const fraction = decimals === '' ? '' : `.${decimals}`;
  return `${formatDate(days)}T${clock}${fraction}${formatZone(offsetMinutes)}`;
}

function formatZone(offsetMinutes: number): string {
  if (offsetMinutes === 0) return 'Z';
  const size = Math.abs(offsetMinutes);
  return `${offsetMinutes < 0 ? '-' : '+'}${twoDigits(size / 60)}:${twoDigits(size % 60)}`;
}

function formatDate(days: number): string {
  const { year, month, day } = dateOf(days);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}

function cannotParse(text: string, rest: string, layout: string): string {
  return `parsing time ${quote(text)} as ${quote(LAYOUT)}: cannot parse ${quote(rest)} as ${quote(layout)}`;
}

/** Quotes as Go's time package does, byte by byte. */
function quote(bytes: string): string {
  const escaped = bytes.replaceAll(/["\\]|[^ -\u007f]/g, (byte) =>
    byte === '"' || byte === '\\' ? `\\${byte}` : `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `"${escaped}"`;
}
