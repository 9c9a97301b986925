/**
 * Days and dates, by arithmetic: in the Gregorian calendar stretched over all years. Pure rooms have no calendar of the
 * host.
 */

const DAYS_FROM_YEAR_0_TO_1970 = 719_528;
/** 1 January 1970 was a Thursday. */
const WEEKDAY_OF_DAY_0 = 4;

/** Months and days from 1. */
export interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Days from 1 January 1970 to a date; a day beyond the month is one of the next. */
export function daysSince1970(year: number, month: number, day: number): number {
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  // Year 0 is a leap year; the years before `year` have a day more for each leap day among them.
  let days = year * 365 + leapDays + 1 - DAYS_FROM_YEAR_0_TO_1970 + day - 1;
  for (let earlier = 1; earlier < month; earlier++) days += daysInMonth(year, earlier);
  return days;
}

/** The date so many days after 1 January 1970. */
export function dateOf(days: number): CalendarDate {
  // A year has 365.2425 days; the guess is one too high at most, just before a year begins.
  let year = Math.floor((days + DAYS_FROM_YEAR_0_TO_1970 + 1) / 365.2425);
  if (daysSince1970(year, 1, 1) > days) year--;
  let rest = days - daysSince1970(year, 1, 1);
  let month = 1;
  for (; rest >= daysInMonth(year, month); month++) rest -= daysInMonth(year, month);
  return { year, month, day: rest + 1 };
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** 0 for a Sunday. */
export function weekdayOf(days: number): number {
  return (((days + WEEKDAY_OF_DAY_0) % 7) + 7) % 7;
}
