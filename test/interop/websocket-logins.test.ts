/** Who may connect to the WebSocket port, and what is told of those who do: nats-server and petiole alike. */
/* oxlint-disable vitest/expect-expect -- the clients assert */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientOf, describeTargets, page, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { type Ask, ask, enter, frame, type WebClient } from '../helpers/web-client.ts';

function block(entries = ''): string {
  return `websocket { listen: "127.0.0.1:-1", no_tls: true\n ${entries} }\n`;
}

const USERS = `authorization { users: [
  {user: any, password: p}
  {user: web, password: p, allowed_connection_types: [WEBSOCKET]}
  {user: tcp, password: p, allowed_connection_types: ["STANDARD"]}
  {user: leaf, password: p, allowed_connection_types: [LEAFNODE, LEAFNODE_WS]}
] }\n`;

/** What comes of a login: `PONG`, or the text of the error. */
async function outcome(server: RunningServer, login: object, how: Ask = {}): Promise<string> {
  const client = await enter(await server.listening('websocket'), how);
  return outcomeOf(client, login);
}

async function outcomeOf(client: WebClient, login: object): Promise<string> {
  client.say(`CONNECT ${JSON.stringify({ verbose: false, ...login })}\r\nPING\r\n`);
  const answered = /PONG|-ERR '.*'/;
  await until(() => answered.test(client.received), 'an answer to CONNECT');
  return answered.exec(client.received)?.[0] ?? '';
}

const VIOLATION = `-ERR 'Authorization Violation'`;

describeTargets('logins over WebSocket', (target) => {
  test('are of users that may log in there', async () => {
    const server = await serve(target, USERS + block());
    const client = await enter(await server.listening('websocket'));
    expect(client.info.auth_required).toBe(true);
    expect(await outcomeOf(client, { user: 'any', pass: 'p' })).toBe('PONG');
    expect(await outcome(server, { user: 'web', pass: 'p' })).toBe('PONG');
    expect(await outcome(server, { user: 'web', pass: 'q' })).toBe(VIOLATION);
    expect(await outcome(server, { user: 'tcp', pass: 'p' })).toBe(VIOLATION);
    expect(await outcome(server, { user: 'leaf', pass: 'p' })).toBe(VIOLATION);
    expect(await outcome(server, {})).toBe(VIOLATION);
    await expect(clientOf(server, { user: 'web', pass: 'p' })).rejects.toThrow('Authorization Violation');
  });

  test('are not needed where there is a user for those without, there alone', async () => {
    const server = await serve(target, USERS + block('no_auth_user: web'));
    const client = await enter(await server.listening('websocket'));
    expect(client.info.auth_required).toBe(true);
    expect(await outcomeOf(client, {})).toBe('PONG');
    expect(await outcome(server, { user: 'any', pass: 'q' })).toBe(VIOLATION);
    await expect(clientOf(server)).rejects.toThrow('Authorization Violation');
  });

  test('are of a user of this port alone, if it has one', async () => {
    const server = await serve(target, block('authorization { user: u, pass: p }'));
    const client = await enter(await server.listening('websocket'));
    expect(client.info.auth_required).toBe(true);
    expect(await outcomeOf(client, { user: 'u', pass: 'p' })).toBe('PONG');
    expect(await outcome(server, { user: 'u', pass: 'q' })).toBe(VIOLATION);
    expect(await outcome(server, {})).toBe(VIOLATION);
    await clientOf(server);
  });

  test('are by a token of this port, if it has one', async () => {
    const config = `authorization { user: a, password: b }\n${block('authorization { token: t }')}`;
    const server = await serve(target, config);
    expect(await outcome(server, { auth_token: 't' })).toBe('PONG');
    expect(await outcome(server, { user: 'a', pass: 'b' })).toBe(VIOLATION);
    await clientOf(server, { user: 'a', pass: 'b' });
  });

  test('have to come in time, which is longer or shorter there', async () => {
    const config = `authorization { user: a, password: b, timeout: 60 }\n${block('authorization { user: a, timeout: 0.2 }')}`;
    const client = await enter(await (await serve(target, config)).listening('websocket'));
    await client.ends();
    expect(client.received).toContain(`-ERR 'Authentication Timeout'`);
    expect([client.closeStatus, client.close?.toString('utf8', 2)]).toEqual([1008, 'Authentication Timeout']);
  });

  test('are taken from cookies where CONNECT says nothing', async () => {
    const server = await serve(target, USERS + block('user_cookie: "u", pass_cookie: p, token_cookie: t'));
    const cookies = (text: string): Ask => ({ headers: { Cookie: text } });
    expect(await outcome(server, {}, cookies('x=y; u=web; p="p"'))).toBe('PONG');
    expect(await outcome(server, { pass: 'p' }, cookies('u=web'))).toBe('PONG');
    expect(await outcome(server, { user: 'any' }, cookies('u=web; p=p'))).toBe('PONG');
    expect(await outcome(server, {}, cookies('u=web; p=q'))).toBe(VIOLATION);
    expect(await outcome(server, {}, cookies('U=web; P=p'))).toBe(VIOLATION);
  });

  test('are by a token in a cookie', async () => {
    const server = await serve(target, `authorization { token: secret }\n${block('token_cookie: t')}`);
    expect(await outcome(server, {}, { headers: { Cookie: 't=secret' } })).toBe('PONG');
    expect(await outcome(server, {})).toBe(VIOLATION);
  });
});

describeTargets('origins', (target) => {
  async function answersTo(config: string, origins: readonly string[]): Promise<number[]> {
    const address = await (await serve(target, block(config))).listening('websocket');
    const statuses: number[] = [];
    for (const Origin of origins) {
      const client = await ask(address, { headers: { Origin, Host: 'Example.com:8080' } });
      statuses.push(client.status);
    }
    return statuses;
  }

  test('do not matter unless something is said of them', async () => {
    expect(await answersTo('', ['https://a.b', 'what?'])).toEqual([101, 101]);
  });

  test('have to be the host that was asked', async () => {
    const origins = [
      'http://example.com:8080',
      'https://example.com:8080',
      'http://example.com',
      'http://other:8080',
      '',
    ];
    expect(await answersTo('same_origin: true', origins)).toEqual([101, 403, 403, 403, 101]);
  });

  test('have to be in the list', async () => {
    const origins = [
      'https://A.example',
      'https://a.example:443',
      'http://a.example',
      'http://b:81',
      'http://b',
      'nope',
    ];
    const config = 'allowed_origins: ["https://a.example", "http://b:81"]';
    expect(await answersTo(config, origins)).toEqual([101, 101, 403, 101, 403, 403]);
  });
});

describeTargets('what is told of clients over WebSocket', (target) => {
  test('/connz names their kind', async () => {
    const server = await serve(target, `http: "127.0.0.1:-1"\n${block()}`);
    const client = await enter(await server.listening('websocket'));
    client.say('CONNECT {"verbose":false,"name":"browser"}\r\nSUB a 1\r\nPING\r\n');
    await client.expect('PONG\r\n');
    const { body } = await page(server, '/connz');
    expect(body).toMatchObject({
      connections: [{ kind: 'Client', type: 'websocket', ip: '127.0.0.1', name: 'browser', subscriptions: 1 }],
    });
  });

  test('the log names them, and for whom a proxy speaks', async () => {
    const server = await serve(target, `debug: true\n${block()}`);
    const address = await server.listening('websocket');
    const from = (text: string): Ask => ({ headers: { 'X-Forwarded-For': text } });
    for (const [text, shown] of [
      ['10.1.2.3', '10.1.2.3/127.0.0.1'],
      ['2001:db8::1', '[2001:db8::1]/127.0.0.1'],
      ['10.1.2.3, 10.4.5.6', '127.0.0.1'],
      ['300.1.2.3', '127.0.0.1'],
    ] as const) {
      const client = await enter(address, from(text));
      const port = client.socket.localPort;
      await until(() => server.log.includes(` ${shown}:${port} - wid:`), `the log to say ${shown}`);
      client.send(frame('', { code: 8 }));
      await client.ends();
    }
  });

  test('/varz shows what is configured', async () => {
    const config = block(`advertise: "web.example:443", compression: true, handshake_timeout: "3s", same_origin: true
      allowed_origins: ["http://a"], authorization { user: u, pass: p, timeout: 1.5 }`);
    const server = await serve(target, `http: "127.0.0.1:-1"\n${config}`);
    const { port } = await server.listening('websocket');
    const { body } = await page(server, '/varz');
    expect((body as { websocket: unknown }).websocket).toEqual({
      host: '127.0.0.1',
      port,
      advertise: 'web.example:443',
      handshake_timeout: 3_000_000_000,
      auth_timeout: 1.5,
      no_tls: true,
      same_origin: true,
      allowed_origins: ['http://a'],
      compression: true,
    });
    const none = await serve(target, 'http: "127.0.0.1:-1"');
    expect(((await page(none, '/varz')).body as { websocket: unknown }).websocket).toEqual({});
  });

  test('the ports file names the port', async () => {
    const server = await serve(target, `ports_file_dir: "."\n${block()}`);
    const { port } = await server.listening('websocket');
    const { directory } = server;
    const file = await until(() => readdirSync(directory).find((name) => name.endsWith('.ports')), 'the ports file');
    const text = await until(() => readFileSync(join(directory, file), 'utf8') || null, 'its content');
    expect((JSON.parse(text) as { websocket: string[] }).websocket).toEqual([`ws://127.0.0.1:${port}`]);
  });

  test('they are pinged as often as the block says', async () => {
    const server = await serve(target, block('ping_interval: "300ms"'));
    const client = await enter(await server.listening('websocket'));
    client.say('CONNECT {"verbose":false}\r\nPING\r\n');
    await client.expect('PONG\r\nPING\r\n');
    client.say('PONG\r\n');
    await client.expect('PONG\r\nPING\r\nPING\r\n');
  });
});

describeTargets('the WebSocket port', (target) => {
  test('is a reason not to start when somebody else has it', async () => {
    const { port } = await (await serve(target, block())).listening('websocket');
    const config = `websocket { listen: "127.0.0.1:${port}", no_tls: true }`;
    await expect(serve(target, config)).rejects.toThrow(
      `Unable to listen for websocket connections: listen tcp 127.0.0.1:${port}: bind: address already in use`,
    );
  });

  test('takes no leaves where leaves are not taken', async () => {
    const server = await serve(target, block());
    const client = await ask(await server.listening('websocket'), { path: '/leafnode' });
    await client.ends();
    await until(() => server.log.includes('Not configured to accept leaf node connections'), 'the log to say so');
  });

  test('counts its clients among all', async () => {
    const server = await serve(target, `max_connections: 1\n${block()}`);
    const address = await server.listening('websocket');
    await enter(address);
    const second = await enter(address);
    await second.ends();
    expect(second.received).toContain(`-ERR 'maximum connections exceeded'`);
    expect([second.closeStatus, second.close?.toString('utf8', 2)]).toEqual([1008, 'Maximum Connections Exceeded']);
  });

  test('stays as it is when the configuration is loaded again, and what would change needs a restart', async () => {
    const server = await serve(target, block());
    const { port } = await server.listening('websocket');
    server.signal('SIGHUP');
    await until(() => server.log.includes('Reloaded server configuration'), 'the reload');
    expect(await outcome(server, {})).toBe('PONG');
    writeFileSync(join(server.directory, 'server.conf'), block('compression: true'));
    server.signal('SIGHUP');
    const what = target.name === 'petiole' ? ' field "Compression": old=false, new=true' : '';
    await until(() => server.log.includes(`config reload not supported for Websocket:${what}`), 'the refusal');
    expect((await server.listening('websocket')).port).toBe(port);
  });
});
