/** A server that runs out of file descriptors says so, and not thousands of times. */
import { describe, expect, it } from 'vitest';
import { AcceptFailures } from '../../server/connection/accept-failures.ts';
import { Log } from '../../server/io/log.ts';

describe('connections that could not be accepted', () => {
  it('are logged at once, and then counted', () => {
    const lines: string[] = [];
    let nowMs = 5;
    const clock = { monotonicMs: () => nowMs, wallMs: () => nowMs };
    const quiet = { debug: false, trace: false, time: false, utc: false };
    const failures = new AcceptFailures(new Log((line) => lines.push(line), clock, 1, quiet), clock);
    const error = new Error('accept EMFILE');
    for (let i = 0; i < 1000; i++) failures.note(error);
    nowMs += 10_000;
    for (let i = 0; i < 1000; i++) failures.note(error);
    nowMs += 20_000;
    failures.note(error);
    nowMs += 20_000;
    failures.note(error);
    expect(lines).toEqual([
      '[1] [ERR] Error accepting a client connection: accept EMFILE\n',
      '[1] [ERR] Error accepting a client connection: accept EMFILE (999 more since the last report)\n',
      '[1] [ERR] Error accepting a client connection: accept EMFILE (999 more since the last report)\n',
      '[1] [ERR] Error accepting a client connection: accept EMFILE\n',
    ]);
  });
});
