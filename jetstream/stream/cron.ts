/**
 * Cron patterns of six fields, and when they come due next:
 *
 *     second minute hour day-of-month month day-of-week
 *     0-59   0-59   0-23 1-31         1-12  0-6             months and days of the week also by three letters
 *
 *     *  ?            any            5-10       from 5 to 10
 *     5               5              5-10/2     every second of them
 *     5,10-12         these          5/10 * /10  from 5, or from the first, to the last by tens
 *
 * A field is a mask of what it allows. Where neither day field is open (`*`, `?`), one of them is enough.
 *
 * Source: ADR-51; robfig/cron, whose patterns nats-server takes.
 */

import { dateOf, daysInMonth, daysSince1970, weekdayOf } from '../../server/protocol/calendar.ts';
import { momentOf, type TimeZone } from '../../server/protocol/time-zone.ts';

const DAY = 86_400;
const HOUR = 3600;
const YEARS_MAX = 5;

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: WEEKDAYS },
];

interface Allowed {
  readonly values: ReadonlySet<number>;
  readonly isOpen: boolean;
}

export interface Cron {
  readonly second: Allowed;
  readonly minute: Allowed;
  readonly hour: Allowed;
  readonly dayOfMonth: Allowed;
  readonly month: Allowed;
  readonly dayOfWeek: Allowed;
}

/** The pattern; `null`: it is none. */
export function parseCron(pattern: string): Cron | null {
  const texts = pattern.split(/\s+/).filter((text) => text !== '');
  if (texts.length !== FIELDS.length) return null;
  const fields = FIELDS.map((field, at) => parseField(texts[at] as string, field));
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (!second || !minute || !hour || !dayOfMonth || !month || !dayOfWeek) return null;
  return { second, minute, hour, dayOfMonth, month, dayOfWeek };
}

function parseField(text: string, field: Field): Allowed | null {
  const values = new Set<number>();
  let isOpen = false;
  for (const part of text.split(',').filter((each) => each !== '')) {
    const range = parseRange(part, field);
    if (range === null) return null;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
    isOpen ||= range.isOpen;
  }
  return values.size === 0 ? null : { values, isOpen };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly isOpen: boolean;
}

function parseRange(text: string, field: Field): Range | null {
  const [span = '', stepText, ...tooMany] = text.split('/');
  const ends = span.split('-');
  const isAny = ends[0] === '*' || ends[0] === '?';
  const step = stepText === undefined ? 1 : numberIn(stepText, []);
  const from = isAny ? field.min : numberIn(ends[0] as string, field.names ?? []);
  const end = isAny ? field.max : ends[1] === undefined ? from : numberIn(ends[1], field.names ?? []);
  const hasTooMany = tooMany.length > 0 || (!isAny && ends.length > 2);
  if (hasTooMany || step === null || from === null || end === null) return null;
  const to = stepText !== undefined && ends.length === 1 ? field.max : end;
  if (step === 0 || from < field.min || to > field.max || from > to) return null;
  return { from, to, step, isOpen: isAny && step <= 1 };
}

/** A number, or the place of a name: months begin with 1, days of the week with 0. */
function numberIn(text: string, names: readonly string[]): number | null {
  const at = names.indexOf(text.toLowerCase());
  if (at >= 0) return names === MONTHS ? at + 1 : at;
  return /^\+?\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The first second behind `after`, in seconds since 1970, that the pattern allows; `null`: none within five years. */
export function nextOf(cron: Cron, after: number, zone: TimeZone): number | null {
  const wall = (moment: number): number => moment + zone.offsetAt(moment);
  const first = Math.floor(after) + 1;
  const lastYear = dateOf(Math.floor(wall(first) / DAY)).year + YEARS_MAX;
  let moment = first;
  for (;;) {
    const seconds = wall(moment);
    const days = Math.floor(seconds / DAY);
    const { year, month, day } = dateOf(days);
    if (year > lastYear) return null;
    if (!cron.month.values.has(month)) moment = laterOf(moment, momentOf(nextMonth(year, month) * DAY, zone));
    else if (!allowsDay(cron, day, weekdayOf(days))) moment = laterOf(moment, momentOf((days + 1) * DAY, zone));
    else {
      const ofDay = seconds - days * DAY;
      const step = waitOfDay(cron, ofDay);
      if (step === 0) return moment;
      moment += step;
    }
  }
}

/** A change of clocks must not lead backwards. */
function laterOf(moment: number, next: number): number {
  return next > moment ? next : moment + HOUR;
}

function nextMonth(year: number, month: number): number {
  return daysSince1970(year, month, daysInMonth(year, month) + 1);
}

function allowsDay({ dayOfMonth, dayOfWeek }: Cron, day: number, weekday: number): boolean {
  const [isDay, isWeekday] = [dayOfMonth.values.has(day), dayOfWeek.values.has(weekday)];
  return dayOfMonth.isOpen || dayOfWeek.isOpen ? isDay && isWeekday : isDay || isWeekday;
}

/** Seconds until the next hour, minute or second begins that may be one; 0: this second is one. */
function waitOfDay({ hour, minute, second }: Cron, ofDay: number): number {
  if (!hour.values.has(Math.floor(ofDay / HOUR))) return HOUR - (ofDay % HOUR);
  if (!minute.values.has(Math.floor(ofDay / 60) % 60)) return 60 - (ofDay % 60);
  return second.values.has(ofDay % 60) ? 0 : 1;
}
