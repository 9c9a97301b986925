/** What the log says of clients when everything is traced, line by line as nats-server says it. */
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';
import type { WireClient } from '../helpers/wire-client.ts';

/** Sends each piece by itself and waits until the server has answered the PING behind it. */
async function converse(client: WireClient, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    client.send(`${piece}PING\r\n`);
    await client.take(
      (received) => {
        const end = received.indexOf('PONG\r\n');
        return end < 0 ? 'more' : end + 'PONG\r\n'.length;
      },
      `the PONG behind ${JSON.stringify(piece)}`,
    );
  }
}

/** The log's lines with these labels about its only client, from there on where its address and number end. */
function linesOf(server: RunningServer, labels: RegExp): string[] {
  return server.log
    .split('\n')
    .filter((line) => labels.test(line) && !/<<- \[PING\]|->> \[PONG\]/.test(line))
    .map((line) => /\] \S+ - cid:\d+ - (.*)$/.exec(line)?.[1])
    .filter((line) => line !== undefined);
}

async function tracedSession(server: RunningServer, pieces: readonly string[]): Promise<WireClient> {
  const client = await dial(server.address());
  await client.line();
  await converse(client, pieces);
  return client;
}

const QUIET = '"verbose":false,"pedantic":false';

describeTargets('a trace', (target) => {
  test('shows what came and what went, and who it was', async () => {
    const server = await serve(target, 'mappings: { "m.a": "n.b" }', { flags: ['-V'] });
    const client = await tracedSession(server, [
      `CONNECT {${QUIET},"user":"joe","name":"n\\"a","lang":"go","version":"1.2","headers":true,"no_responders":true}\r\n`,
      'sub  foo  1 \r\nSUB bar q 2\r\nUNSUB 2 1\r\n',
      'PUB foo 5\r\nhello\r\nPUB  foo r.1  0\r\n\r\nHPUB foo 12 14\r\nNATS/1.0\r\n\r\nhi\r\n',
      'SUB _INBOX.2 9\r\nPUB none _INBOX.2 2\r\nhi\r\n',
      'PUB bar 2\r\n\0"\r\nPUB m.a 3\r\nabc\r\nPONG\r\n+OK\r\nINFO {}\r\nUNSUB 77\r\n',
      'SUB a..b 4\r\n',
    ]);
    client.send('PUB foo bar baz\r\n');
    await client.cut();
    const who = '"v1.2:go:n\\"a" - "$G/user:joe"';
    await until(() => server.log.includes('DELSUB 9'), 'the last subscription to end');
    const lines = linesOf(server, /\[TRC\]/).map((line) => line.replace(`${who} - `, '* '));
    expect(lines.slice(0, -2)).toEqual([
      `<<- [CONNECT {${QUIET},"user":"joe","name":"n\\"a","lang":"go","version":"1.2","headers":true,"no_responders":true}]`,
      '* <<- [SUB foo  1 ]',
      '* <<- [SUB bar q 2]',
      '* <<- [UNSUB 2 1]',
      '* <<- [PUB foo 5]',
      '* <<- MSG_PAYLOAD: ["hello"]',
      '* ->> [MSG foo 1 5]',
      '* ->> MSG_PAYLOAD: ["hello"]',
      '* <<- [PUB foo r.1  0]',
      '* ->> [MSG foo 1 r.1 0]',
      '* <<- [HPUB foo 12 14]',
      '* <<- MSG_PAYLOAD: ["NATS/1.0\\r\\n\\r\\nhi"]',
      '* ->> [HMSG foo 1 12 14]',
      '* ->> MSG_PAYLOAD: ["NATS/1.0\\r\\n\\r\\nhi"]',
      '* <<- [SUB _INBOX.2 9]',
      '* <<- [PUB none _INBOX.2 2]',
      '* <<- MSG_PAYLOAD: ["hi"]',
      '* <<- [PUB bar 2]',
      '* <<- MSG_PAYLOAD: ["\\x00\\""]',
      '* ->> [MSG bar 2 2]',
      '* ->> MSG_PAYLOAD: ["\\x00\\""]',
      '* <-> [DELSUB 2]',
      '* <<- [PUB m.a 3]',
      '* <<- [MAPPING m.a -> n.b]',
      '* <<- MSG_PAYLOAD: ["abc"]',
      '* <<- [PONG]',
      '* <<- [UNSUB 77]',
      '* <<- [SUB a..b 4]',
      '* ->> [-ERR Invalid Subject]',
      '* <<- [PUB foo bar baz]',
    ]);
    // Which of them ends first is nobody's business.
    expect(lines.slice(-2).toSorted()).toEqual(['* <-> [DELSUB 1]', '* <-> [DELSUB 9]']);
  });

  test('hides what clients prove themselves with', async () => {
    const server = await serve(target, undefined, { flags: ['-V'] });
    const secrets = '"pass":"s3cret","auth_token":"t0ken","nkey":"UABC","sig" : "s1g"';
    await tracedSession(server, [`CONNECT {${QUIET},${secrets},"password":"x"}\r\n`]);
    const shown = secrets.replaceAll(/s3cret|t0ken|UABC|s1g/g, '[REDACTED]');
    await expect
      .poll(() => linesOf(server, /\[TRC\]/))
      .toEqual([`<<- [CONNECT {${QUIET},${shown},"password":"[REDACTED]"}]`]);
  });

  test('shows no more of a payload than it should', async () => {
    const server = await serve(target, 'max_traced_msg_len: 4', { flags: ['-V'] });
    await tracedSession(server, [
      `CONNECT {${QUIET}}\r\n`,
      'PUB foo 4\r\n1234\r\nPUB foo 5\r\n12"45\r\nPUB foo 0\r\n\r\n',
    ]);
    await expect
      .poll(() => linesOf(server, /\[TRC\]/).filter((line) => line.includes('PAYLOAD')))
      .toEqual(['<<- MSG_PAYLOAD: ["1234"]', '<<- MSG_PAYLOAD: ["12\\"4..."]']);
  });

  test('shows headers alone where that is wanted', async () => {
    const server = await serve(target, 'trace_headers: true');
    await tracedSession(server, [
      `CONNECT {${QUIET},"headers":true}\r\nSUB foo 1\r\n`,
      'PUB foo 2\r\nhi\r\nHPUB foo 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nhi\r\n',
    ]);
    await expect
      .poll(() => linesOf(server, /\[TRC\]/).filter((line) => line.includes('PAYLOAD')))
      .toEqual(['<<- MSG_PAYLOAD: ["NATS/1.0\\r\\nA: b"]', '->> MSG_PAYLOAD: ["NATS/1.0\\r\\nA: b"]']);
  });
});

describeTargets('the log', (target) => {
  test.each([
    ['{"lang":"x"}', '"x" - '],
    ['{"name":"b","version":"2"}', '"v2:b" - '],
    ['{"auth_token":"abc"}', '"$G/token" - '],
    ['{"nkey":"abc","lang":"x"}', '"x" - "$G/nkey:abc" - '],
    ['{}', ''],
  ])('says of a client with %s who it is, also after it said something else', async (connect, who) => {
    const server = await serve(target, undefined, { flags: ['-D'] });
    const client = await tracedSession(server, [`CONNECT ${connect}\r\n`, 'CONNECT {"name":"other"}\r\n']);
    client.send("-ERR 'oops'\r\n");
    await client.cut();
    await until(() => server.log.includes('connection closed'), 'the end of the client');
    expect(linesOf(server, /\[(DBG|ERR)\]/)).toEqual([
      'Client connection created',
      `${who}Client Error 'oops'`,
      `${who}Client connection closed: Parse Error`,
    ]);
  });

  test('names the user that those become who say nothing', async () => {
    const config = 'authorization { users: [ { user: guest, password: guest } ] }\nno_auth_user: guest';
    const server = await serve(target, config, { flags: ['-D'] });
    for (const first of ['CONNECT {"name":"w"}\r\n', 'CONNECT {"user":"guest","pass":"guest"}\r\n', '']) {
      const client = await tracedSession(server, [first]);
      client.send("-ERR 'oops'\r\n");
      await client.cut();
    }
    await until(() => (server.log.match(/connection closed/g) ?? []).length === 3, 'the end of the clients');
    expect(linesOf(server, /\[ERR\]/)).toEqual([
      `"w" - "$G/user:guest" - Client Error 'oops'`,
      `"$G/user:guest" - Client Error 'oops'`,
      `Client Error 'oops'`,
    ]);
  });
});
