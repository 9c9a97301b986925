/** Moments as Go reads and writes them. */
import { describe, expect, it } from 'vitest';
import { formatTime, isZeroTime, parseTime, type Timestamp, ZERO_TIME } from '../../server/protocol/rfc3339.ts';

describe('a moment', () => {
  it.each([
    ['2024-05-06T07:08:09Z', 1_714_979_289, 0, 0, '2024-05-06T07:08:09Z'],
    ['2024-05-06T07:08:09.1Z', 1_714_979_289, 100_000_000, 0, '2024-05-06T07:08:09.1Z'],
    ['2024-05-06T07:08:09,120Z', 1_714_979_289, 120_000_000, 0, '2024-05-06T07:08:09.12Z'],
    ['2024-05-06T07:08:09.1234567899Z', 1_714_979_289, 123_456_789, 0, '2024-05-06T07:08:09.123456789Z'],
    ['2024-05-06T7:08:09+00:00', 1_714_979_289, 0, 0, '2024-05-06T07:08:09Z'],
    ['2024-05-06T09:08:09+02:00', 1_714_979_289, 0, 120, '2024-05-06T09:08:09+02:00'],
    ['2024-05-05T23:38:09-07:30', 1_714_979_289, 0, -450, '2024-05-05T23:38:09-07:30'],
    ['1969-12-31T23:59:59.5Z', -1, 500_000_000, 0, '1969-12-31T23:59:59.5Z'],
    ['2000-02-29T00:00:00Z', 951_782_400, 0, 0, '2000-02-29T00:00:00Z'],
    ['0000-01-01T00:00:00Z', -62_167_219_200, 0, 0, '0000-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59Z', 253_402_300_799, 0, 0, '9999-12-31T23:59:59Z'],
  ])('%s', (text, seconds, nanoseconds, offsetMinutes, shown) => {
    const time = parseTime(text) as Timestamp;
    expect(time).toEqual({ seconds, nanoseconds, offsetMinutes });
    expect(formatTime(time)).toBe(shown);
  });

  it('is shown in UTC when it has no zone', () => {
    expect(formatTime({ seconds: 1_714_979_289, nanoseconds: 7 })).toBe('2024-05-06T07:08:09.000000007Z');
  });

  it('that is zero is the one of Go', () => {
    expect(formatTime(ZERO_TIME)).toBe('0001-01-01T00:00:00Z');
    expect(isZeroTime(parseTime('0001-01-01T00:00:00Z') as Timestamp)).toBe(true);
    expect(isZeroTime(parseTime('0001-01-01T00:00:00.1Z') as Timestamp)).toBe(false);
  });

  it('is that of the calendar on each day of 1600 to 2400', () => {
    const first = Date.UTC(1600, 0, 1) / 86_400_000;
    const days = Array.from({ length: 292_194 }, (_, day) => first + day);
    const wrong = days.filter((day) => {
      const text = new Date(day * 86_400_000).toISOString().replace('.000Z', 'Z');
      const isShown = formatTime({ seconds: day * 86_400, nanoseconds: 0 }) === text;
      return !isShown || (parseTime(text) as Timestamp).seconds !== day * 86_400;
    });
    expect(wrong).toEqual([]);
  });
});

describe('a text that is no moment', () => {
  const layout = 'as "2006-01-02T15:04:05Z07:00": cannot parse';

  it.each([
    ['', `parsing time "" ${layout} "" as "2006"`],
    ['yesterday', `parsing time "yesterday" ${layout} "yesterday" as "2006"`],
    ['2024', `parsing time "2024" ${layout} "" as "-"`],
    ['2024-5-06T07:08:09Z', `parsing time "2024-5-06T07:08:09Z" ${layout} "5-06T07:08:09Z" as "01"`],
    ['2024-13-06T07:08:09Z', 'parsing time "2024-13-06T07:08:09Z": month out of range'],
    ['2024-00-06T07:08:09Z', 'parsing time "2024-00-06T07:08:09Z": month out of range'],
    ['2023-02-29T07:08:09Z', 'parsing time "2023-02-29T07:08:09Z": day out of range'],
    ['1900-02-29T07:08:09Z', 'parsing time "1900-02-29T07:08:09Z": day out of range'],
    ['2024-05-06 07:08:09Z', `parsing time "2024-05-06 07:08:09Z" ${layout} " 07:08:09Z" as "T"`],
    ['2024-05-06T24:08:09Z', 'parsing time "2024-05-06T24:08:09Z": hour out of range'],
    ['2024-05-06T07:60:09Z', 'parsing time "2024-05-06T07:60:09Z": minute out of range'],
    ['2024-05-06T07:08:60Z', 'parsing time "2024-05-06T07:08:60Z": second out of range'],
    ['2024-05-06T07:08:09', `parsing time "2024-05-06T07:08:09" ${layout} "" as "Z07:00"`],
    ['2024-05-06T07:08:09.Z', `parsing time "2024-05-06T07:08:09.Z" ${layout} ".Z" as "Z07:00"`],
    ['2024-05-06T07:08:09*02:00', `parsing time "2024-05-06T07:08:09*02:00" ${layout} "*02:00" as "Z07:00"`],
    ['2024-05-06T07:08:09+25:00', 'parsing time "2024-05-06T07:08:09+25:00": time zone offset hour out of range'],
    ['2024-05-06T07:08:09+02:61', 'parsing time "2024-05-06T07:08:09+02:61": time zone offset minute out of range'],
    ['2024-05-06T07:08:09Zx', 'parsing time "2024-05-06T07:08:09Zx": extra text: "x"'],
    ['2024-05-06T07:08:09+02:00x', 'parsing time "2024-05-06T07:08:09+02:00x": extra text: "x"'],
    ['"\\\u00e9', `parsing time "\\"\\\\\\xe9" ${layout} "\\"\\\\\\xe9" as "2006"`],
  ])('%s', (text, error) => {
    expect(parseTime(text)).toBe(error);
  });
});
