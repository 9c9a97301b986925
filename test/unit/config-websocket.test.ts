/**
 * `websocket` in the configuration: what it comes to, and what is wrong with it in the words of the real nats-server,
 * which is asked the same where there is one.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseOrigin } from '../../server/config/allowed-origin.ts';
import { interpretCommandLine } from '../../server/config/load.ts';
import type { ServerOptions } from '../../server/config/options.ts';
import { changedOptions, reloadRefusal } from '../../server/config/reload.ts';
import { diskSources } from '../../server/config/sources.ts';
import { absenceIsFailure, isAbsent, natsServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const target = natsServer();
const directory = temporaryDirectory(afterAll);
const environment = { PATH: '/bin', HOME: directory };
const sources = diskSources({ readFileNow: (path) => readFileSync(join(directory, path)) }, environment);

/** In a block that would do otherwise. */
function block(entries: string): string {
  return `websocket { port: -1, no_tls: true, ${entries} }`;
}

/** What `-t` says, of files that are right or have one mistake each. */
const FILES: readonly string[] = [
  block(''),
  'websocket: 5',
  'websocket { port: "x" }',
  'websocket { listen: "a:b" }',
  'ws { listen: "127.0.0.1:-1", net: "::1", ping_interval: "5s" }',
  block('no_tls: 1'),
  block('origins: 5'),
  block('allow_origin: "http://a", origins: [\n "https://b:1",\n 5,\n ]'),
  block('handshake_timeout: "x"'),
  block('handshake_timeout: true'),
  block('handshake_timeout: 1.5'),
  block('handshake_timeout: 3'),
  block('headers: 5'),
  block('headers: { a: 5 }'),
  block('headers: { a: b }'),
  block('compression: 5'),
  block('compress: true, same_origin: true, advertise: "a:1"'),
  block('authorization { foo: 5 }'),
  block('authorization { user: a, pass: b, token: c, timeout: abc }'),
  block('authentication { user: a, password: b, timeout: 0.5 }'),
  block('jwt_cookie: a, user_cookie: b, pass_cookie: c, token_cookie: d, no_auth_user: e'),
  block('user_cookie: 5'),
  block('ping_interval: "x"'),
  block('ping_interval: 5'),
  block('foo: 1'),
  'websocket { port: -1, tls { cert_file: "x" } }',
];

/** Files that are right in themselves, and with which a server can't run. */
const REFUSED: readonly string[] = [
  'websocket { port: -1 }',
  block('origins: "foo"'),
  block('origins: ["https://a", "foo:bar"]'),
  block('origins: "1http://a"'),
  block('origins: ":a"'),
  block('origins: ""'),
  block('origins: "ftp://foo"'),
  block('origins: "http://"'),
  block('origins: "http:///a"'),
  block('origins: "http://a:b:c"'),
  block('origins: "http://a:1x"'),
  block('origins: "http://[::1"'),
  block('origins: "http://[::1]x"'),
  block('origins: "/abc"'),
  block('origins: "//abc"'),
  block('origins: "http://a b"'),
  block('origins: "http://a^b"'),
  block('no_auth_user: foo'),
  `authorization { users: [ {user: a, password: b} ] }\n${block('no_auth_user: foo')}`,
  `authorization { users: [ {user: a, password: b} ] }\n${block('authorization { user: foo }')}`,
  `accounts { A { users: [ {user: a, password: b} ] } }\n${block('authorization { token: foo }')}`,
  block('jwt_cookie: foo'),
  block('headers: { Host: x }'),
  block('headers: { "Sec-WebSocket-Foo": x }'),
  block('headers: { "NATS-no-masking": x }'),
  block('origins: "foo", headers: { host: x }, no_auth_user: x'),
];

const label = isAbsent(target) ? target.absent : target.version;

describe.skipIf(isAbsent(target) && !absenceIsFailure())(`like nats-server (${label})`, () => {
  function answers(args: readonly string[], config: string): { theirs: unknown; ours: unknown } {
    if (isAbsent(target)) throw new Error(target.absent);
    writeFileSync(join(directory, 'a.conf'), config);
    const [program = '', ...first] = target.command;
    const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { cwd: directory, env: environment });
    return {
      theirs: { kind: 'exit', code: status, stdout: stdout.toString(), stderr: stderr.toString() },
      ours: interpretCommandLine(args, sources),
    };
  }

  test.each(FILES.map((text) => [text]))('%j', (config) => {
    const { theirs, ours } = answers(['-t', '-c', 'a.conf'], config);
    expect(ours).toEqual(theirs);
  });

  test.each(REFUSED.map((text) => [text]))('%j', (config) => {
    const { theirs, ours } = answers(['-c', 'a.conf'], config);
    expect(theirs).toMatchObject({ code: 1 });
    expect(ours).toEqual(theirs);
  });
});

function optionsOf(config: string): ServerOptions {
  writeFileSync(join(directory, 'a.conf'), config);
  const outcome = interpretCommandLine(['-c', 'a.conf'], sources);
  if (outcome.kind !== 'start') throw new Error(`not taken: ${JSON.stringify(outcome)}`);
  return outcome.options;
}

test('nobody is accepted where nothing is configured', () => {
  expect(optionsOf('port: -1').websocket).toMatchObject({ port: null, host: '' });
});

test('whatever else is said of a port that is not opened does not count', () => {
  const config = 'websocket { origins: ["foo"], headers: { host: a }, no_auth_user: x }';
  expect(optionsOf(config).websocket.port).toBeNull();
});

test('every option finds its place', () => {
  const config = block(`host: "::1", advertise: "a:1", same_origin: true, origin: "http://a", handshake_timeout: 3,
    compression: true, authorization { user: u, pass: p, timeout: 0.5 }, user_cookie: uc, pass_cookie: pc,
    token_cookie: tc, headers: { "X-A": b }, ping_interval: "7s"`);
  expect(optionsOf(config).websocket).toEqual({
    host: '::1',
    port: 0,
    advertise: 'a:1',
    allowsNonTls: true,
    tls: null,
    isSameOrigin: true,
    allowedOrigins: ['http://a'],
    handshakeTimeoutMs: 3_000,
    compresses: true,
    authorization: { username: 'u', password: 'p', token: '', timeoutMs: 500 },
    noAuthUser: '',
    cookies: { jwt: '', user: 'uc', pass: 'pc', token: 'tc' },
    headers: { 'X-A': 'b' },
    pingIntervalMs: 7_000,
  });
});

test('a change needs a restart; which one is said, without secrets', () => {
  const change = (from: string, to: string): string | null =>
    reloadRefusal(changedOptions(optionsOf(block(from)), optionsOf(block(to))), () => true);
  expect(change('same_origin: false', 'same_origin: true')).toBe(
    'config reload not supported for Websocket: field "SameOrigin": old=false, new=true',
  );
  expect(change('authorization { token: hush }', 'authorization { token: quiet }')).toBe(
    'config reload not supported for Websocket: field "Token": old=[REDACTED], new=[REDACTED]',
  );
  expect(change('', '')).toBeNull();
});

test.each([
  ['https://Example.com', { scheme: 'https', host: 'example.com', port: '443' }],
  ['HTTP://a:8080/x?y', { scheme: 'http', host: 'a', port: '8080' }],
  ['http://[::1]:80', { scheme: 'http', host: '::1', port: '80' }],
  ['null', 'parse "null": invalid URI for request'],
])('origin %s', (text, parts) => {
  expect(parseOrigin(text)).toEqual(parts);
});
