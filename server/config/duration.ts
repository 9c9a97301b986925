/**
 * Durations as nats-server writes and reads them: `1h30m`, `2m0s`, `1.5s`, `100ms`.
 *
 * Options hold milliseconds with a fraction. That is exact for every whole number of milliseconds, and to the
 * nanosecond up to 49 days; whoever shows nanoseconds to a client asks `durationNs`.
 */

import { ConfigError } from './tree.ts';

const NS_PER_MS = 1_000_000n;
const UNITS_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: NS_PER_MS,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const INT64_MAX = 2n ** 63n - 1n;

/** Milliseconds of a duration's text. Throws a ConfigError with Go's words (`time: invalid duration "x"`). */
export function parseDuration(text: string): number {
  const [, sign = '', body = ''] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  if (body === '0') return 0;
  let ns = 0n;
  let rest = body;
  do {
    const [part, whole = '', , fraction = '', unit = ''] = /^(\d*)(\.(\d*))?([^\d.]*)/.exec(rest) ?? [''];
    if (whole === '' && fraction === '') throw new ConfigError(`time: invalid duration ${quoted(text)}`);
    if (unit === '') throw new ConfigError(`time: missing unit in duration ${quoted(text)}`);
    const unitNs = Object.hasOwn(UNITS_NS, unit) ? UNITS_NS[unit] : undefined;
    if (unitNs === undefined) throw new ConfigError(`time: unknown unit ${quoted(unit)} in duration ${quoted(text)}`);
    ns += BigInt(whole) * unitNs + (BigInt(fraction) * unitNs) / 10n ** BigInt(fraction.length);
    if (ns > INT64_MAX) throw new ConfigError(`time: invalid duration ${quoted(text)}`);
    rest = rest.slice(part.length);
  } while (rest !== '');
  return durationMs(sign === '-' ? -ns : ns);
}

export function durationMs(ns: bigint): number {
  return Number(ns / NS_PER_MS) + Number(ns % NS_PER_MS) / 1e6;
}

export function durationNs(ms: number): bigint {
  const whole = Math.trunc(ms);
  return BigInt(whole) * NS_PER_MS + BigInt(Math.round((ms - whole) * 1e6));
}

/** The text that Go prints for a duration: `2m0s`, `1.5s`, `100ms`, `0s`. */
export function formatDuration(ms: number): string {
  const ns = durationNs(ms);
  if (ns === 0n) return '0s';
  const sign = ns < 0n ? '-' : '';
  const size = ns < 0n ? -ns : ns;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < NS_PER_MS) return `${sign}${decimal(size, 1_000n)}\u00b5s`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, NS_PER_MS)}ms`;
  const seconds = decimal(size % UNITS_NS['m']!, 1_000_000_000n);
  const minutes = (size / UNITS_NS['m']!) % 60n;
  const hours = size / UNITS_NS['h']!;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

/** `value / unit` with as many decimals as it needs. */
function decimal(value: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1;
  const fraction = (value % unit).toString().padStart(digits, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}

/** Quotes as Go's time package does: what is not printable ASCII as the bytes of its UTF-8. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^ -\u007f]/gu, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  });
  return `"${escaped}"`;
}
