/**
 * What a clock on the wall of some time zone shows. Zones have the names of the IANA data base, as Go takes them:
 * `Europe/Berlin`, `UTC`, in their own upper and lower case.
 *
 * Bound: ZONES_MAX zones are remembered; making one takes a while.
 */

const ZONES_MAX = 64;
const NAME = /^[A-Z][A-Za-z0-9_+-]*(?:\/[A-Z][A-Za-z0-9_+-]*)*$/;
const OFFSET = /^(?:GMT|UTC)(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

export interface TimeZone {
  /** Seconds by which its clocks are ahead of UTC at this moment, in seconds since 1970. */
  offsetAt(seconds: number): number;
}

export const UTC: TimeZone = { offsetAt: () => 0 };

const known = new Map<string, TimeZone>([['UTC', UTC]]);

/** The zone with this name; `null`: there is none. */
export function timeZone(name: string): TimeZone | null {
  const found = known.get(name);
  if (found !== undefined) return found;
  const zone = namedZone(name);
  if (zone === null) return null;
  const [oldest] = known.keys();
  if (known.size >= ZONES_MAX && oldest !== undefined) known.delete(oldest);
  known.set(name, zone);
  return zone;
}

/** The moment at which the zone's clocks show this time, given in seconds as if it were UTC; one of two, or near a gap. */
export function momentOf(wallSeconds: number, zone: TimeZone): number {
  const offset = zone.offsetAt(wallSeconds);
  const guess = wallSeconds - offset;
  const offsetThen = zone.offsetAt(guess);
  return offsetThen === offset ? guess : wallSeconds - offsetThen;
}

function namedZone(name: string): TimeZone | null {
  if (!NAME.test(name)) return null;
  const options: Intl.DateTimeFormatOptions = { timeZone: name, timeZoneName: 'longOffset' };
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', options);
  } catch {
    return null;
  }
  return { offsetAt: (seconds) => offsetIn(format.formatToParts(seconds * 1000)) };
}

function offsetIn(parts: readonly Intl.DateTimeFormatPart[]): number {
  const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(text) ?? [];
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -size : size;
}
