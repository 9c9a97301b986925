/**
 * Prometheus' text format (0.0.4): families, each with what it is and its samples.
 *
 *     # HELP jetstream_consumer_num_pending Messages that …
 *     # TYPE jetstream_consumer_num_pending gauge
 *     jetstream_consumer_num_pending{stream_name="S",consumer_name="c"} 17
 *
 * All samples of a family stand together, but are found asset by asset: lines wait here until all of them are there.
 * There may be tens of thousands, so they become bytes piece by piece. What is one line of a family is a string made
 * once; labels that many samples have in common are given as text that was escaped once.
 */

import { Buffer } from 'node:buffer';
import type { LatencyCounts } from '../../io/latency-counts.ts';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Lines that become bytes in one piece. */
const LINES_PER_PIECE = 256;

/** `name="value"` for each, with commas; a label without a value is one that is not there. */
export function labels(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== '');
  return pairs.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',');
}

/** Both, either of which may be empty. */
export function joined(common: string, own: string): string {
  return common === '' || own === '' ? common + own : `${common},${own}`;
}

export class MetricText {
  private readonly families = new Map<string, string[]>();
  /** Characters of all lines. */
  length = 0;

  /** The family with this name, which is described once. */
  family(name: string, type: MetricType, help: string): Family {
    let lines = this.families.get(name);
    if (lines === undefined) {
      lines = [];
      this.families.set(name, lines);
      this.add(lines, `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`);
    }
    const all = lines;
    return new Family(name, (line) => this.add(all, line));
  }

  /** One sample of a family that has no more. */
  gauge(name: string, help: string, labelText: string, value: number): void {
    this.family(name, 'gauge', help).sample(labelText, value);
  }

  counter(name: string, help: string, labelText: string, value: number): void {
    this.family(name, 'counter', help).sample(labelText, value);
  }

  /** In seconds. */
  histogram(name: string, help: string, labelText: string, latency: LatencyCounts): void {
    const family = this.family(name, 'histogram', help);
    let count = 0;
    for (const [at, boundMs] of [...latency.boundsMs, Infinity].entries()) {
      count += latency.counts[at] as number;
      family.sample(joined(labelText, `le="${numberText(boundMs / 1000)}"`), count, '_bucket');
    }
    family.sample(labelText, latency.sumMs / 1000, '_sum');
    family.sample(labelText, count, '_count');
  }

  /** The bytes of everything, family by family. */
  *encode(): Generator<void, Uint8Array> {
    const pieces: Buffer[] = [];
    for (const lines of this.families.values()) {
      for (let at = 0; at < lines.length; at += LINES_PER_PIECE) {
        pieces.push(Buffer.from(lines.slice(at, at + LINES_PER_PIECE).join('')));
        yield;
      }
    }
    return Buffer.concat(pieces);
  }

  private add(lines: string[], line: string): void {
    lines.push(line);
    this.length += line.length;
  }
}

export class Family {
  private readonly name: string;
  private readonly add: (line: string) => void;

  constructor(name: string, add: (line: string) => void) {
    this.name = name;
    this.add = add;
  }

  /** `suffix`: of a histogram's parts. */
  sample(labelText: string, value: number, suffix = ''): void {
    const shown = labelText === '' ? '' : `{${labelText}}`;
    this.add(`${this.name}${suffix}${shown} ${numberText(value)}\n`);
  }
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  if (!/[\\"\n]/.test(text)) return text;
  return escapeHelp(text).replaceAll('"', '\\"');
}
