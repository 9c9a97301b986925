/** Expectations about the JSON of an INFO line: a partial match, since most of its values belong to one server only. */
import type { Matcher } from '../helpers/wire-client.ts';

export type InfoPattern = Readonly<Record<string, unknown>>;

/** Takes one INFO line that has the fields of `pattern`; the reason of a mismatch goes to `report`. */
export function infoMatcher(pattern: InfoPattern, report: (reason: string) => void): Matcher {
  return (received) => {
    const line = received.toString('utf8');
    const end = line.indexOf('\r\n');
    if (end < 0) return 'INFO '.startsWith(line.slice(0, 5)) ? 'more' : 'mismatch';
    if (!line.startsWith('INFO ')) return 'mismatch';
    const info = JSON.parse(line.slice(5, end)) as Record<string, unknown>;
    const wrong = Object.entries(pattern).filter(([field, expected]) => !fits(info[field], expected));
    if (wrong.length === 0) return Buffer.byteLength(line.slice(0, end)) + 2;
    report(wrong.map(([field]) => `${field} is ${JSON.stringify(info[field]) ?? 'absent'}`).join(', '));
    return 'mismatch';
  };
}

function fits(actual: unknown, expected: unknown): boolean {
  if (expected === '<absent>') return actual === undefined;
  if (expected === '<number>') return typeof actual === 'number';
  if (typeof expected === 'string' && /^\/.*\/$/.test(expected)) {
    return typeof actual === 'string' && new RegExp(expected.slice(1, -1)).test(actual);
  }
  return JSON.stringify(actual) === JSON.stringify(expected);
}
