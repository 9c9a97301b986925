/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run bench -- [options]
    --only NAMES         Rows to run, separated by commas; a name stands for all that begin with it (default: all)
    --rounds N           How often each side runs each row, in turns; medians are shown (default: 5)
    --scale N            Multiplies the number of messages, connections and subscriptions (default: 1)
    --json FILE          Writes all figures here as well, after each row
    --petiole FILE       The petiole to measure (default: dist/petiole, which is built first)
    --nats-server FILE   What it is compared with (default: found in PATH or ~/go/bin)
    --nats FILE          The nats CLI, which is the load (default: found in PATH or ~/go/bin)
    --list               Lists the rows and ends
    --help               Shows this and ends
`;

export interface BenchOptions {
  /** Beginnings of names; empty stands for all rows. */
  readonly only: readonly string[];
  readonly rounds: number;
  readonly scale: number;
  readonly jsonFile: string | undefined;
  /** Programs that were named; the others are looked for. */
  readonly petiole: string | undefined;
  readonly natsServer: string | undefined;
  readonly natsCli: string | undefined;
  readonly listsRows: boolean;
  readonly showsUsage: boolean;
}

/** Throws an `Error` for people if the arguments are none of those in `USAGE`. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      rounds: { type: 'string', default: '5' },
      scale: { type: 'string', default: '1' },
      json: { type: 'string' },
      petiole: { type: 'string' },
      'nats-server': { type: 'string' },
      nats: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    only: values.only.split(',').filter((name) => name !== ''),
    rounds: numberOf('--rounds', values.rounds, Number.isInteger),
    scale: numberOf('--scale', values.scale, Number.isFinite),
    jsonFile: values.json,
    petiole: values.petiole,
    natsServer: values['nats-server'],
    natsCli: values.nats,
    listsRows: values.list,
    showsUsage: values.help,
  };
}

function numberOf(option: string, text: string, isValid: (value: number) => boolean): number {
  const value = Number(text);
  if (text === '' || !isValid(value) || value <= 0) throw new Error(`${option} wants a number above 0, not "${text}"`);
  return value;
}
