/** What the log says of clients that are told of an error, as nats-server says it. */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const RESTRICTED = `authorization { users: [
  { user: a, password: secret, permissions: { publish: "x", subscribe: "y" } } ] }`;
const TOKEN = 'authentication error - Token "[REDACTED]"';
const ACCOUNT = 'accounts { A { users: [ { user: a, password: secret } ], limits: { max_conn: 1 } } }';

/** The log's lines about clients at this level, without time, address and number; several alike count once. */
function linesOf({ log }: RunningServer, level: string): string[] {
  const lines = log.split('\n').map((line) => /\[(\w+)\] \S+ - cid:\d+ - (.*)$/.exec(line));
  return [...new Set(lines.filter((each) => each?.[1] === level).map((each) => each?.[2] ?? ''))];
}

describeTargets('the log about clients', (target) => {
  const asA = { user: 'a', pass: 'secret' };
  const who = '"$G/user:a" - ';

  test.each<[string, string, object, string, readonly string[]]>([
    [
      'may not publish or subscribe',
      RESTRICTED,
      asA,
      'PUB z 1\r\na\r\nSUB z 1\r\nSUB z q 2\r\nPUB x _R_.x 1\r\na\r\n',
      [
        `${who}Publish Violation - Subject "z"`,
        `${who}Subscription Violation - Subject "z", SID 1`,
        `${who}Subscription Violation - Subject "z", Queue: "q", SID 2`,
        `${who}Publish Violation - Reply "_R_.x"`,
      ],
    ],
    [
      'subscribe to too much, once in a while',
      'max_subscriptions: 1',
      {},
      'SUB a 1\r\nSUB b 2\r\nSUB c 3\r\n',
      ['maximum subscriptions exceeded'],
    ],
    [
      'subscribe to too many tokens',
      'max_subscription_tokens: 2',
      {},
      'SUB a.b.c 1\r\n',
      ['Subscription Violation Too Many Tokens - Subject "a.b.c", SID 1'],
    ],
    [
      'send a line that is too long',
      'max_control_line: 50',
      {},
      `PUB ${'a'.repeat(100)} 1\r\na\r\n`,
      ['maximum control line exceeded'],
    ],
  ])('that %s', async (_, config, connect, said, lines) => {
    const server = await serve(target, config);
    const client = await clientOf(server, connect);
    client.send(said);
    await until(() => linesOf(server, 'ERR').length >= lines.length, 'the lines');
    expect(linesOf(server, 'ERR')).toEqual(lines);
  });

  test.each([
    ['a protocol that there is not', {}, { protocol: 2 }, 'invalid client protocol'],
    ['no responders without headers', {}, { no_responders: true }, 'no responders requires headers support'],
    ['a token that is wrong', { config: 'authorization { token: secret }' }, { auth_token: 'other' }, TOKEN],
  ])('that want %s', async (_, { config }: { config?: string }, connect, line) => {
    const server = await serve(target, config);
    const client = await dial(server.address());
    await client.line();
    client.send(`CONNECT ${JSON.stringify({ verbose: false, ...connect })}\r\nPING\r\n`);
    await until(() => client.ended, 'the end');
    await until(() => linesOf(server, 'ERR').length > 0, 'the line');
    expect(linesOf(server, 'ERR')).toEqual([line]);
  });

  test('that are too many', async () => {
    const server = await serve(target, 'max_connections: 1');
    await clientOf(server);
    await dial(server.address());
    await until(() => linesOf(server, 'ERR').length > 0, 'the line');
    expect(linesOf(server, 'ERR')).toEqual(['maximum connections exceeded']);

    const other = await serve(target, ACCOUNT);
    await clientOf(other, asA);
    const client = await dial(other.address());
    client.send(`CONNECT ${JSON.stringify(asA)}\r\n`);
    await until(() => linesOf(other, 'ERR').length > 0, 'the line');
    expect(linesOf(other, 'ERR')[0]).toContain('maximum account active connections exceeded');
  });

  test('says of those that say nothing in time only where debugging is on', async () => {
    const server = await serve(target, 'debug: true\nauthorization { user: a, password: b, timeout: 0.2 }');
    const client = await dial(server.address());
    await until(() => client.ended, 'the end');
    await until(() => linesOf(server, 'DBG').includes('Authentication Timeout'), 'the line');
    expect(linesOf(server, 'ERR')).toEqual([]);
  });
});
