/** What is measured: a closed table of figures, with how each is called and shown. */

export type FigureName =
  | 'rate'
  | 'cpuUs'
  | 'peakMb'
  | 'ownMb'
  | 'p50Us'
  | 'p99Us'
  | 'p999Us'
  | 'longestUs'
  | 'healedMs'
  | 'healedLongMs'
  | 'dialsPeak'
  | 'dialsPeakLong'
  | 'threads'
  | 'startMs'
  | 'startStoreMs'
  | 'idleMb'
  | 'idleOwnMb'
  | 'idleOwnStoreMb'
  | 'idleThreads'
  | 'programMb'
  | 'compressedMb'
  | 'loadedMb'
  | 'loadedOwnMb'
  | 'kbPerConnection'
  | 'bytesPerSubscription'
  | 'acceptS'
  | 'subscribeS'
  | 'fanOutMs'
  | 'fanOutCpuMs'
  | 'reached'
  | 'afterBurstMb'
  | 'writtenPerByte'
  | 'idleWrittenKb'
  | 'idleCpuMs';

export interface Figure {
  readonly label: string;
  readonly decimals: number;
}

export const FIGURES: Readonly<Record<FigureName, Figure>> = {
  rate: { label: 'messages a second', decimals: 0 },
  cpuUs: { label: 'CPU per message, us', decimals: 2 },
  peakMb: { label: 'peak resident set, MB', decimals: 0 },
  ownMb: { label: 'peak own pages, MB', decimals: 0 },
  p50Us: { label: 'median latency, us', decimals: 0 },
  p99Us: { label: '99th percentile, us', decimals: 0 },
  p999Us: { label: '99.9th percentile, us', decimals: 0 },
  healedMs: { label: 'until all flowed again, ms', decimals: 0 },
  dialsPeak: { label: 'most dials in a second', decimals: 0 },
  healedLongMs: { label: 'the same after a long outage, ms', decimals: 0 },
  dialsPeakLong: { label: 'most dials in a second of that', decimals: 0 },
  longestUs: { label: 'longest, us', decimals: 0 },
  startMs: { label: 'start to INFO, ms', decimals: 0 },
  startStoreMs: { label: 'the same with JetStream, ms', decimals: 0 },
  idleMb: { label: 'idle resident set, MB', decimals: 1 },
  idleOwnMb: { label: 'idle own pages, MB', decimals: 1 },
  idleOwnStoreMb: { label: 'the same with JetStream, MB', decimals: 1 },
  idleThreads: { label: 'idle threads', decimals: 0 },
  threads: { label: 'threads under load', decimals: 0 },
  programMb: { label: 'program file, million bytes', decimals: 1 },
  compressedMb: { label: 'the same as xz', decimals: 1 },
  loadedMb: { label: 'resident set with them, MB', decimals: 0 },
  loadedOwnMb: { label: 'own pages with them, MB', decimals: 0 },
  kbPerConnection: { label: 'memory per connection, KB', decimals: 1 },
  bytesPerSubscription: { label: 'memory per subscription, B', decimals: 0 },
  acceptS: { label: 'accepting all, s', decimals: 2 },
  subscribeS: { label: 'subscribing all, s', decimals: 2 },
  fanOutMs: { label: 'one message to all, ms', decimals: 0 },
  fanOutCpuMs: { label: 'CPU of that, ms', decimals: 0 },
  reached: { label: 'connections it reached', decimals: 0 },
  afterBurstMb: { label: 'resident set after the burst, MB', decimals: 0 },
  writtenPerByte: { label: 'bytes written per payload byte', decimals: 2 },
  idleWrittenKb: { label: 'written while idle, KB', decimals: 0 },
  idleCpuMs: { label: 'CPU while idle, ms', decimals: 0 },
};

/** What one run of one row measured on one server. */
export type Sample = Readonly<Partial<Record<FigureName, number>>>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('there is no median of nothing');
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** The median of each figure that all samples have. */
export function medians(samples: readonly Sample[]): Sample {
  const [first = {}, ...others] = samples;
  const names = Object.keys(first) as FigureName[];
  const shared = names.filter((name) => others.every((sample) => sample[name] !== undefined));
  return Object.fromEntries(shared.map((name) => [name, median(samples.map((sample) => sample[name] ?? 0))]));
}
