/**
 * nats-server#147, #494, #6891: a password that began with digits was taken for a number, or not at all. What is no
 * number is a string, with or without quotes. Of a number the error names the place; that quotes would help it leaves to
 * the reader.
 */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { startRefused } from '../helpers/targets.ts';

const STRINGS = ['4e2abc', '5ADI_x', '3xyz', '10s', '4e2', '"4242"', '"1.5"', "'007'", '"true"', '1a2b3c4d'];
const OTHERS = ['4242', '1.5', '5k', 'true', '2026-01-01T00:00:00Z'];

describeTargets('a password', (target) => {
  test('that is no number is a string', async () => {
    const users = STRINGS.map((password, i) => `{ user: u${i}, password: ${password} }`).join('\n');
    const server = await serve(target, `authorization { users: [ ${users} ] }`);
    for (const [i, password] of STRINGS.entries()) {
      const client = await clientOf(server, { user: `u${i}`, pass: password.replaceAll(/["']/g, '') });
      await client.quiet();
    }
  });

  test.each(OTHERS)('that is something else, as %s, refuses the start and names the place', async (password) => {
    const config = `# the second line\nauthorization { user: a, password: ${password} }`;
    const { code, log } = await startRefused(target, { config });
    expect(code).toBe(1);
    expect(log).toMatch(/server\.conf:2:\d+: interface conversion: interface \{\} is \S+, not string/);
  });
});
