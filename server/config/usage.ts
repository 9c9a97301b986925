/**
 * What `-h` shows: the flags by group, from the table of flags.
 */

import { FLAG_GROUPS, FLAGS } from './flag-table.ts';
import type { Flag } from './flag-table.ts';

const DOC_COLUMN = 37;

/** The whole text, with a line end before and two behind it. */
export function usageText(): string {
  const groups = FLAG_GROUPS.map(({ title, flags }) => `${title}:\n${flags.map(flagLine).join('')}`);
  const absent = FLAGS.filter(({ isAbsent }) => isAbsent).map(({ names }) => dashed(names.at(-1)!));
  const notYet = `Not supported yet:\n    ${absent.slice(0, 9).join(', ')},\n    ${absent.slice(9).join(', ')}\n`;
  return `\nUsage: nats-server [options]\n\n${[...groups, notYet].join('\n')}\n`;
}

function flagLine({ names, argument, doc }: Flag): string {
  const [first = '', ...more] = names.map(dashed);
  const indented = first.startsWith('--') ? `    ${first}` : first;
  const left = `    ${[indented, ...more].join(', ')}${argument === '' ? '' : ` ${argument}`}`;
  const isLong = left.length >= DOC_COLUMN;
  return isLong ? `${left}\n${' '.repeat(DOC_COLUMN)}${doc}\n` : `${left.padEnd(DOC_COLUMN)}${doc}\n`;
}

/** One dash for short names, two for words. */
function dashed(name: string): string {
  return name.length <= 2 || name === name.toUpperCase() ? `-${name}` : `--${name}`;
}
