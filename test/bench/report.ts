/**
 * What a bench prints: Markdown, so that it can be read as it is and pasted elsewhere. A cell says petiole's figure,
 * nats-server's, and in parentheses the one divided by the other.
 */
import type { Comparison } from './comparison.ts';
import { FIGURES } from './figures.ts';
import type { FigureName } from './figures.ts';
import type { Row } from './row.ts';

interface Column {
  readonly figure: FigureName;
  readonly title: string;
  readonly width: number;
}

const NAME_WIDTH = 23;

const COLUMNS: readonly Column[] = [
  { figure: 'rate', title: 'messages/s', width: 29 },
  { figure: 'cpuUs', title: 'CPU us/message', width: 22 },
  { figure: 'peakMb', title: 'peak MB', width: 9 },
  { figure: 'ownMb', title: 'own MB', width: 9 },
  { figure: 'p50Us', title: 'p50 us', width: 18 },
  { figure: 'p99Us', title: 'p99 us', width: 13 },
];

/** Columns without a ratio: they say whether a promise is kept, not by how much it is. */
const WITHOUT_RATIO: ReadonlySet<FigureName> = new Set<FigureName>(['peakMb', 'ownMb', 'p99Us']);

const NOTHING = '-';

/** The head of the table that message rows share. */
export function sharedHead(): string {
  const titles = ['row'.padEnd(NAME_WIDTH), ...COLUMNS.map(({ title, width }) => title.padEnd(width))];
  const rules = ['-'.repeat(NAME_WIDTH), ...COLUMNS.map(({ width }) => '-'.repeat(width))];
  return `\npetiole / nats-server (ratio)\n\n${lineOf(titles)}\n${lineOf(rules)}`;
}

export function sharedLine({ name }: Row, comparison: Comparison): string {
  const cells = COLUMNS.map(({ figure, width }) => cellOf(figure, comparison).padEnd(width));
  return [lineOf([name.padEnd(NAME_WIDTH), ...cells]), ...failuresOf(comparison)].join('\n');
}

/** A table of its own for a row that measures other things. */
export function ownTable({ name, title }: Row, comparison: Comparison): string {
  const { petiole, 'nats-server': natsServer } = comparison;
  const measured = { ...natsServer.figures, ...petiole.figures };
  const lines = (Object.keys(FIGURES) as FigureName[])
    .filter((figure) => figure in measured)
    .map((figure) => {
      const [ours, theirs] = [shown(figure, petiole.figures[figure]), shown(figure, natsServer.figures[figure])];
      const cells = [ours.padStart(10), theirs.padStart(11), ratioOf(figure, comparison).padStart(6)];
      return lineOf([FIGURES[figure].label.padEnd(32), ...cells]);
    });
  const head = [
    lineOf([name.padEnd(32), 'petiole'.padStart(10), 'nats-server', 'ratio'.padStart(6)]),
    lineOf(['-'.repeat(32), `${'-'.repeat(9)}:`, `${'-'.repeat(10)}:`, `${'-'.repeat(5)}:`]),
  ];
  return [`\n${name}: ${title}\n`, ...head, ...lines, ...failuresOf(comparison)].join('\n');
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function cellOf(figure: FigureName, comparison: Comparison): string {
  const ours = comparison.petiole.figures[figure];
  const theirs = comparison['nats-server'].figures[figure];
  if (ours === undefined && theirs === undefined) return NOTHING;
  const pair = `${shown(figure, ours)} / ${shown(figure, theirs)}`;
  return WITHOUT_RATIO.has(figure) ? pair : `${pair} (${ratioOf(figure, comparison)})`;
}

function shown(figure: FigureName, value: number | undefined): string {
  if (value === undefined) return NOTHING;
  const { decimals } = FIGURES[figure];
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function ratioOf(figure: FigureName, comparison: Comparison): string {
  const ours = comparison.petiole.figures[figure];
  const theirs = comparison['nats-server'].figures[figure];
  return ours === undefined || theirs === undefined || theirs === 0 ? NOTHING : (ours / theirs).toFixed(2);
}

function failuresOf(comparison: Comparison): string[] {
  const failures = [...comparison.petiole.failures, ...comparison['nats-server'].failures];
  return failures.map((failure) => `    FAILED ${failure.replaceAll('\n', '\n      ')}`);
}
