/** A log file with a limit: when it is rotated, what the old ones are called, and how many stay. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Log } from '../../server/io/log.ts';
import { LogFile } from '../../server/io/log-sinks.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const CLOCK = { wallMs: () => Date.UTC(2026, 10, 29, 12, 5, 6, 78) + 0.875, monotonicMs: () => 0 };
const OPTIONS = { debug: false, trace: false, time: false, utc: true };

function logTo(file: LogFile): { log: Log; purged: string[] } {
  const log = new Log(file.write, CLOCK, 42, OPTIONS);
  const purged: string[] = [];
  file.events = {
    rotated: (backup) => log.notice(`Rotated log, backup saved as ${JSON.stringify(backup)}`),
    purged: (name) => purged.push(name),
    failed: (what) => expect.fail(what),
  };
  return { log, purged };
}

test('the line that takes it beyond the limit is the last one', () => {
  const path = join(temporaryDirectory(), 'x.log');
  const { log } = logTo(new LogFile(path, { bytesMax: 150, filesMax: 0 }));
  const long = 'x'.repeat(130);
  log.notice(long);
  log.notice('five');
  log.notice('six');
  const [current = '', backup = ''] = readdirSync(join(path, '..')).toSorted();
  expect(current).toBe('x.log');
  expect(backup).toMatch(/^x\.log\.\d{4}\.\d\d\.\d\d\.\d\d\.\d\d\.\d\d\.\d{9}$/);
  expect(readFileSync(join(path, '..', backup), 'utf8')).toBe(`[42] [INF] ${long}\n[42] [INF] five\n`);
  expect(readFileSync(path, 'utf8')).toMatch(
    /^\[42\] \[INF\] Rotated log, backup saved as ".*"\n\[42\] \[INF\] six\n$/,
  );
});

test('as many files stay as are wanted, the current one among them, and nobody else loses any', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'x.log');
  writeFileSync(join(directory, 'x.log.old'), '');
  const { log, purged } = logTo(new LogFile(path, { bytesMax: 10, filesMax: 3 }));
  for (let i = 0; i < 5; i++) log.notice('more than ten bytes');
  const names = readdirSync(directory);
  expect(names).toContain('x.log.old');
  expect(names.filter((name) => /^x\.log\.\d/.test(name))).toHaveLength(2);
  expect(purged).toHaveLength(3);
});

test('without a limit it is never rotated', () => {
  const path = join(temporaryDirectory(), 'x.log');
  const { log } = logTo(new LogFile(path));
  for (let i = 0; i < 100; i++) log.notice('more than ten bytes');
  expect(readdirSync(join(path, '..'))).toEqual(['x.log']);
});

test('a line can be an object', () => {
  const lines: string[] = [];
  const log = new Log((line) => lines.push(line), CLOCK, 42, { ...OPTIONS, time: true, json: true });
  log.warn('say "hi"');
  log.configure({ ...OPTIONS, json: true, debug: true });
  log.debug('x');
  expect(lines).toEqual([
    '{"time":"2026-11-29T12:05:06.078875Z","level":"WRN","pid":42,"msg":"say \\"hi\\""}\n',
    '{"level":"DBG","pid":42,"msg":"x"}\n',
  ]);
});
