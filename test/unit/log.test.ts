/** The lines of the log, in the form that tools read, and the file they go to. */
import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Log, type LogOptions } from '../../server/io/log.ts';
import { fileSink } from '../../server/io/log-sinks.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const NOON = Date.UTC(2026, 10, 29, 12, 5, 6, 78) + 0.875;

function lines(options: Partial<LogOptions>, write: (log: Log) => void): string[] {
  const written: string[] = [];
  const clock = { wallMs: () => NOON, monotonicMs: () => 0 };
  const whole = { debug: false, trace: false, time: true, utc: true, ...options };
  write(new Log((line) => written.push(line), clock, 42, whole));
  return written;
}

describe('a line of the log', () => {
  it('has process, time, label and text', () => {
    expect(lines({}, (log) => log.notice('Server is ready'))).toEqual([
      '[42] 2026/11/29 12:05:06.078875 [INF] Server is ready\n',
    ]);
    expect(lines({ time: false }, (log) => log.notice('x'))).toEqual(['[42] [INF] x\n']);
    expect(lines({ utc: false }, (log) => log.notice('x'))[0]).toMatch(
      /^\[42\] 2026\/11\/(28|29|30) \d\d:\d5:06\.078875 \[INF\] x\n$/,
    );
  });

  it.each<[Partial<LogOptions>, string[]]>([
    [{}, ['INF', 'WRN', 'ERR', 'FTL']],
    [{ debug: true }, ['INF', 'WRN', 'ERR', 'FTL', 'DBG']],
    [{ trace: true }, ['INF', 'WRN', 'ERR', 'FTL', 'TRC']],
  ])('is written where it is wanted: %j', (options, labels) => {
    const written = lines({ ...options, time: false }, (log) => {
      log.notice('x');
      log.warn('x');
      log.error('x');
      log.fatal('x');
      log.debug('x');
      log.trace('x');
    });
    expect(written).toEqual(labels.map((label) => `[42] [${label}] x\n`));
  });
});

describe('the log file', () => {
  it('is appended to, and opened anew under its name', () => {
    const path = join(temporaryDirectory(), 'petiole.log');
    const sink = fileSink(path);
    sink.write('one\n');
    renameSync(path, `${path}.1`);
    sink.write('two\n');
    expect(sink.reopen()).toBe(true);
    sink.write('three\n');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('one\ntwo\n');
    expect(readFileSync(path, 'utf8')).toBe('three\n');
    fileSink(path).write('four\n');
    expect(readFileSync(path, 'utf8')).toBe('three\nfour\n');
    expect(statSync(path).mode & 0o007).toBe(0);
  });

  it('that cannot be opened is an error at once', () => {
    expect(() => fileSink(join(temporaryDirectory(), 'missing', 'x.log'))).toThrow('ENOENT');
  });
});
