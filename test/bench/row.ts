/** A row of the bench: a load, and how to put it on one server. */
import type { Sample } from './figures.ts';
import type { NatsCli } from './nats-cli.ts';
import type { Contender, ContenderName, Programs } from './programs.ts';

/** What a run has at hand. */
export interface Bench {
  readonly programs: Programs;
  readonly cli: NatsCli;
  /** So many messages, connections … at `--scale` 1; never fewer than 100. */
  readonly count: (atScaleOne: number) => number;
}

export interface Row {
  readonly name: string;
  /** What is done, in a few words. */
  readonly title: string;
  /** One line of the table that all message rows share, or a table of its own. */
  readonly table: 'shared' | 'own';
  /** More rounds than this tell nothing new. */
  readonly roundsMax: number;
  /** Whether the figures say something only with the store on a disk. */
  readonly needsDisk: boolean;
  /** The one contender that it is about, where it is about one. */
  readonly only?: ContenderName;
  /** Starts a server, loads it, and stops it. */
  readonly measure: (bench: Bench, contender: Contender) => Promise<Sample>;
}
