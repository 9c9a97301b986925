/**
 * `npm run bench`: petiole beside nats-server, on this machine, under the same load, in alternating rounds. All traffic
 * stays on 127.0.0.1. Linux only.
 *
 * Standard output is the report; what the build says and which row runs goes to standard error. The exit code is 0 if
 * every round of every row went well.
 */
import { writeFileSync } from 'node:fs';
import { cleanUpAtExit } from './children.ts';
import { compare } from './comparison.ts';
import type { Comparison } from './comparison.ts';
import { machineDescription, storesInMemory } from './machine.ts';
import { NatsCli } from './nats-cli.ts';
import { readOptions, USAGE } from './options.ts';
import type { BenchOptions } from './options.ts';
import { preparePrograms } from './programs.ts';
import { ownTable, sharedHead, sharedLine } from './report.ts';
import type { Bench, Row } from './row.ts';
import { listOfRows, rowsNamed } from './rows.ts';

/** Below this nothing is measured but noise. */
const COUNT_MIN = 100;

try {
  const options = readOptions(process.argv.slice(2));
  if (options.showsUsage) print(USAGE);
  else if (options.listsRows) print(listOfRows());
  else await run(options, rowsNamed(options.only));
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
// A round that failed may have left connections open: nobody waits for them.
process.exit();

async function run(options: BenchOptions, rows: readonly Row[]): Promise<void> {
  if (storesInMemory() && rows.some(({ needsDisk }) => needsDisk)) {
    throw new Error('the folder for temporary files is in memory: set TMPDIR to a folder on a disk');
  }
  cleanUpAtExit();
  const programs = preparePrograms(options);
  const bench: Bench = {
    programs,
    cli: new NatsCli(programs.natsCli),
    count: (atScaleOne) => Math.max(COUNT_MIN, Math.round(atScaleOne * options.scale)),
  };
  const machine = machineDescription();
  print(`${programs.description}\n${machine}\n`);
  const comparisons: Record<string, Comparison> = {};
  let isInSharedTable = false;
  for (const row of rows) {
    process.stderr.write(`${row.name}: ${row.title}\n`);
    const comparison = await compare(bench, row, options.rounds);
    if (row.table === 'own') print(`${ownTable(row, comparison)}\n`);
    else print(`${isInSharedTable ? '' : `${sharedHead()}\n`}${sharedLine(row, comparison)}\n`);
    isInSharedTable = row.table === 'shared';
    if (comparison.petiole.failures.length + comparison['nats-server'].failures.length > 0) process.exitCode = 1;

    comparisons[row.name] = comparison;
    if (options.jsonFile !== undefined) {
      writeFileSync(
        options.jsonFile,
        `${JSON.stringify({ machine, programs, scale: options.scale, rows: comparisons }, null, 2)}\n`,
      );
    }
  }
}

function print(text: string): void {
  process.stdout.write(text);
}
