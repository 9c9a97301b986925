/**
 * What /metrics answers, read by a parser of Prometheus' text format. The parser takes nearly anything, so the page is
 * held against the grammar first: every line, each family in one piece, and no series twice, any of which makes a
 * Prometheus server throw the whole page away.
 */
// @ts-expect-error -- it comes without types
import untypedParser from 'parse-prometheus-text-format';

interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly ParsedSample[];
}

interface ParsedSample {
  readonly value?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly buckets?: Readonly<Record<string, string>>;
}

const parse = untypedParser as (text: string) => ParsedFamily[];

const NAME = String.raw`[a-zA-Z_:][a-zA-Z0-9_:]*`;
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"`;
const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN`;
const HELP = new RegExp(String.raw`^# HELP (${NAME}) \S.*$`);
const TYPE = new RegExp(String.raw`^# TYPE (${NAME}) (?:counter|gauge|histogram)$`);
const SAMPLE = new RegExp(String.raw`^(${NAME})(?:\{(?:${LABEL})(?:,${LABEL})*\})? (?:${NUMBER})$`);

export class PrometheusPage {
  private readonly families: ReadonlyMap<string, ParsedFamily>;

  /** Throws an error over a page that is not as it should be. */
  constructor(text: string) {
    check(text);
    this.families = new Map(parse(text).map((family) => [family.name, family]));
  }

  get names(): string[] {
    return [...this.families.keys()];
  }

  type(name: string): string | undefined {
    return this.families.get(name)?.type.toLowerCase();
  }

  /** The label sets of a family. */
  labels(name: string): Readonly<Record<string, string>>[] {
    return (this.families.get(name)?.metrics ?? []).map((sample) => sample.labels ?? {});
  }

  /** The value of the one series that has these labels among its own; undefined if there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = (this.families.get(name)?.metrics ?? []).filter((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels?.[label] === value),
    );
    if (found.length > 1) throw new Error(`${found.length} series of ${name} with ${JSON.stringify(labels)}`);
    return found[0] === undefined ? undefined : Number(found[0].value);
  }

  /** The counts of a histogram by their bound. */
  buckets(name: string): Readonly<Record<string, string>> {
    return this.families.get(name)?.metrics[0]?.buckets ?? {};
  }
}

function check(text: string): void {
  const series = new Set<string>();
  const families = new Set<string>();
  let family = '';
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, described] = HELP.exec(line) ?? [];
    if (described !== undefined) {
      if (families.has(described)) throw new Error(`a second family ${described}`);
      families.add(described);
      family = described;
      continue;
    }
    const name = (TYPE.exec(line) ?? SAMPLE.exec(line))?.[1];
    if (name?.replace(/_(?:bucket|sum|count)$/, '') !== family && name !== family)
      throw new Error(`unexpected: ${line}`);
    const key = line.startsWith('#') ? line : line.slice(0, line.lastIndexOf(' '));
    if (series.has(key)) throw new Error(`twice: ${key}`);
    series.add(key);
  }
}
