/** A configuration that changes while the server runs, on nats-server and petiole alike. */
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { reload } from '../helpers/config-reload.ts';
import { clientOf, describeTargets, page, serve } from '../helpers/describe-targets.ts';
import { dialTls } from '../helpers/tls-client.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const APPLIED = /^Reloaded server configuration/;

describeTargets('a reload', (target) => {
  test('of limits holds from the next operation on, for those who are there', async () => {
    const server = await serve(target, 'max_payload: 1000');
    const client = await clientOf(server);
    expect(await reload(server, 'max_payload: 10\nping_interval: "1m"\nping_max: 3\nwrite_deadline: "5s"')).toMatch(
      /^Reloaded server configuration \(sha256:[0-9a-f]{64}\)$/,
    );
    expect(server.log).toMatch(/Reloaded: max_payload = 10\n/);
    expect(server.log).toMatch(/Reloaded: ping_interval = 1m0s\n/);
    expect(server.log).toMatch(/Reloaded: ping_max = 3\n/);
    expect(server.log).toMatch(/Reloaded: write_deadline = 5s\n/);
    client.send('PUB a 11\r\n');
    await client.expect(`-ERR 'Maximum Payload Violation'\r\n`);
    const later = await dial(server.address());
    expect(await later.line()).toContain('"max_payload":10,');
    await later.close();
  });

  test('shows in monitoring when it was, and what the configuration is now', async () => {
    const server = await serve(target, 'http: "127.0.0.1:-1"');
    type Shown = { start: string; config_load_time: string; config_digest: string; max_payload: number };
    const before = (await page(server, '/varz')).body as Shown;
    await reload(server, 'http: "127.0.0.1:-1", max_payload: 10');
    const after = (await page(server, '/varz')).body as Shown;
    expect(after.max_payload).toBe(10);
    expect(after.start).toBe(before.start);
    expect(Date.parse(after.config_load_time)).toBeGreaterThan(Date.parse(before.config_load_time));
    expect(server.log).toContain(after.config_digest);
    expect(after.config_digest).not.toBe(before.config_digest);
  });

  test('that lowers max_connections closes who is too many', async () => {
    const server = await serve(target, 'max_connections: 10');
    const clients = [await clientOf(server), await clientOf(server), await clientOf(server)];
    await reload(server, 'max_connections: 2');
    expect(server.log).toContain('Reloaded: max_connections = 2\n');
    expect(server.log).toContain('Closed 1 connections to fall within max_connections');
    for (const client of clients) client.send('PING\r\n');
    const answers = await Promise.all(clients.map((client) => client.line()));
    expect(answers.filter((line) => line.startsWith('PONG'))).toHaveLength(2);
    expect(answers.filter((line) => line.startsWith(`-ERR 'maximum connections exceeded'`))).toHaveLength(1);
  });

  test('turns debug lines on and off', async () => {
    const server = await serve(target, 'debug: false');
    await reload(server, 'debug: true');
    await clientOf(server);
    await until(() => server.log.includes('Client connection created'), 'a debug line');
    expect(server.log).toContain('Reloaded: debug = true\n');
    await reload(server, 'debug: false');
    const { length } = server.log;
    await clientOf(server);
    expect(server.log.slice(length)).not.toContain('Client connection created');
  });

  test('traces clients that are there, and no more, also in the middle of a message', async () => {
    const server = await serve(target, 'debug: false');
    const client = await clientOf(server);
    client.send('SUB a 1\r\nPUB a 5\r\nhe');
    await reload(server, 'trace: true');
    client.send('llo\r\nPUB a 2\r\nhi\r\n');
    await client.expect('MSG a 1 5\r\nhello\r\nMSG a 1 2\r\nhi\r\n');
    await until(() => server.log.includes('->> [MSG a 1 2]'), 'the trace');
    expect(server.log).toContain('<<- [PUB a 2]');
    expect(server.log).toContain('<<- MSG_PAYLOAD: ["hi"]');
    await reload(server, 'trace: false');
    const { length } = server.log;
    client.send('PUB a 3\r\nyes\r\n');
    await client.expect('MSG a 1 3\r\nyes\r\n');
    expect(server.log.slice(length)).toBe('');
  });

  test('says that users and accounts were looked at, even without a change', async () => {
    const server = await serve(target, 'max_payload: 1000');
    await reload(server, 'max_payload: 1000');
    const lines = [...server.log.matchAll(/\[INF\] (Reloaded: .*)/g)].map(([, line]) => line);
    expect(new Set(lines)).toEqual(new Set(['Reloaded: authorization users', 'Reloaded: accounts']));
  });

  test('is refused as a whole when one change can not be made', async () => {
    const server = await serve(target, 'max_payload: 1000');
    const failure = await reload(server, 'max_payload: 10\nmax_pending: 5MB');
    expect(failure).toBe(
      'Failed to reload server configuration: config reload not supported for MaxPending: old=67108864, new=5242880',
    );
    const client = await clientOf(server);
    client.send('SUB a 1\r\nPUB a 11\r\nhello world\r\nPING\r\n');
    await client.expect('MSG a 1 11\r\nhello world\r\nPONG\r\n');
  });

  test('is refused when what clients would be told is no address', async () => {
    const server = await serve(target, 'client_advertise: "a:1"');
    expect(await reload(server, 'client_advertise: "a:b"')).toBe(
      'Failed to reload server configuration: invalid ClientAdvertise value of a:b, err=strconv.Atoi: parsing "b": invalid syntax',
    );
    expect(await reload(server, 'client_advertise: "b"')).toMatch(/^Reloaded server configuration/);
    const client = await dial(server.address());
    expect(await client.line()).toContain(`"host":"b","port":${server.address().port},`);
    await client.close();
    expect(await reload(server, 'debug: false')).toMatch(/^Reloaded server configuration/);
    const late = await dial(server.address());
    expect(await late.line()).toContain(`"host":"127.0.0.1","port":${server.address().port},`);
    await late.close();
  });

  test('is refused, with the place, when the file is wrong', async () => {
    const server = await serve(target, 'max_payload: 1000');
    const failure = await reload(server, 'max_payload: 10\nwrong: 1');
    expect(failure).toMatch(/^Failed to reload server configuration: \S+server\.conf:2:1: unknown field "wrong"/);
    const client = await dial(server.address());
    expect(await client.line()).toContain('"max_payload":1000,');
    await client.close();
  });

  test('goes over to another log file, and SIGUSR1 opens it anew', async () => {
    const server = await serve(target, 'debug: false');
    const file = join(server.directory, 'petiole.log');
    writeFileSync(join(server.directory, 'server.conf'), `log_file: "${file}"`);
    server.signal('SIGHUP');
    await until(
      () => existsSync(file) && readFileSync(file, 'utf8').includes('Reloaded server configuration'),
      'the file',
    );
    renameSync(file, `${file}.1`);
    server.signal('SIGUSR1');
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('File log re-opened'), 'the new file');
    expect(readFileSync(file, 'utf8')).not.toContain('Reloaded server configuration');
  });
});

function users(...lines: string[]): string {
  return `authorization { users: [ ${lines.join('\n')} ] }`;
}

describeTargets('a reload of users', (target) => {
  const ANN = '{ user: ann, password: a }';

  test('closes those who are gone or have another password, and nobody else', async () => {
    const server = await serve(target, users(ANN, '{ user: joe, password: j }', '{ user: sue, password: s }'));
    const ann = await clientOf(server, { user: 'ann', pass: 'a' });
    const joe = await clientOf(server, { user: 'joe', pass: 'j' });
    const sue = await clientOf(server, { user: 'sue', pass: 's' });
    await reload(server, users(ANN, '{ user: sue, password: t }'));
    await sue.expect(`-ERR 'Authorization Violation'\r\n`);
    await joe.closed();
    await sue.closed();
    ann.send('PING\r\n');
    await ann.expect('PONG\r\n');
    expect(server.log).toContain('Reloaded: authorization users\n');
    expect(server.log).toMatch(/authentication error - User "sue"/);
    expect(server.log).not.toMatch(/authentication error - User "joe"/);
  });

  test('takes subscriptions away that are not allowed any more', async () => {
    const before = '{ user: ann, password: a }';
    const server = await serve(target, users(before));
    const ann = await clientOf(server, { user: 'ann', pass: 'a' });
    ann.send('SUB x.1 1\r\nSUB y.1 q 2\r\nSUB z.1 3\r\nPING\r\n');
    await ann.expect('PONG\r\n');
    const rules = 'permissions: { subscribe: ["x.>"], publish: ["x.>", "z.>"] }';
    await reload(server, users(`{ user: ann, password: a, ${rules} }`));
    const errors = [await ann.line(), await ann.line()].toSorted();
    expect(errors.map((line) => line.trim())).toEqual([
      `-ERR 'Permissions Violation for Subscription to "y.1" using queue "q" (sid "2")'`,
      `-ERR 'Permissions Violation for Subscription to "z.1" (sid "3")'`,
    ]);
    expect(server.log).toContain('Removed sub "y.1" using queue "q" (sid "2") for User "ann" - not authorized');
    expect(server.log).toContain('Removed sub "z.1" (sid "3") for User "ann" - not authorized');
    ann.send('PUB z.1 0\r\n\r\nPUB x.1 0\r\n\r\nPUB y.1 0\r\n\r\n');
    await ann.expect(`MSG x.1 1 0\r\n\r\n-ERR 'Permissions Violation for Publish to "y.1"'\r\n`);
  });

  test('asks for credentials from then on', async () => {
    const server = await serve(target, 'debug: false');
    const nobody = await clientOf(server);
    await reload(server, users(ANN));
    await nobody.expect(`-ERR 'Authorization Violation'\r\n`);
    const later = await dial(server.address());
    expect(await later.line()).toContain('"auth_required":true');
    await later.close();
  });

  test('of an account takes its users, limits and mappings on', async () => {
    const account = (more: string): string =>
      `accounts { A { users: [ ${ANN} ], ${more} }, B { users: [{ user: bob, password: b }] } }`;
    const server = await serve(target, account(''));
    const ann = await clientOf(server, { user: 'ann', pass: 'a' });
    const bob = await clientOf(server, { user: 'bob', pass: 'b' });
    expect(await reload(server, account('mappings { in: out }'))).toMatch(/^Reloaded server configuration/);
    ann.send('SUB out 1\r\nPUB in 0\r\n\r\n');
    await ann.expect('MSG out 1 0\r\n\r\n');
    bob.send('SUB out 1\r\nPUB in 0\r\n\r\nPING\r\n');
    await bob.expect('PONG\r\n');
  });

  test('moves nobody: who belongs to another account is closed, and comes back', async () => {
    const one = `accounts { A { users: [ ${ANN} ] }, B { users: [{ user: bob, password: b }] } }`;
    const two = `accounts { A { users: [{ user: bob, password: b }] }, B { users: [ ${ANN} ] } }`;
    const server = await serve(target, one);
    const ann = await clientOf(server, { user: 'ann', pass: 'a' });
    await reload(server, two);
    await ann.closed();
    expect(server.log).not.toContain('authentication error');
  });
});

describeTargets('a reload with TLS', (target) => {
  test('shows another certificate to new clients, and keeps the old ones', async () => {
    const place = await serve(target, 'debug: false');
    const authority = new TestAuthority(place.directory);
    const one = authority.issue('one', '/CN=one', 'DNS:localhost');
    const two = authority.issue('two', '/CN=two', 'DNS:localhost');
    const config = `tls { cert_file: "${one.certFile}", key_file: "${one.keyFile}" }`;
    const server = await serve(target, config);
    const early = await dialTls(server.address(), { authority });
    early.send('CONNECT {"verbose":false}\r\nPING\r\n');
    await early.sees('PONG\r\n');
    expect(early.socket?.getPeerCertificate().subject.CN).toBe('one');
    copyFileSync(two.certFile, one.certFile);
    // The key does not fit yet.
    expect(await reload(server, config)).toContain('tls: private key does not match public key');
    copyFileSync(two.keyFile, one.keyFile);
    expect(await reload(server, config)).toMatch(/^Reloaded server configuration/);
    expect(server.log).toContain('Reloaded: tls = enabled\n');
    const late = await dialTls(server.address(), { authority });
    late.send('CONNECT {"verbose":false}\r\nPING\r\n');
    await late.sees('PONG\r\n');
    expect(late.socket?.getPeerCertificate().subject.CN).toBe('two');
    early.send('PING\r\n');
    await early.sees(/PONG\r\nPONG\r\n|PONG\r\n.*PONG\r\n/s);
  });

  test('keeps who is known by a certificate, whatever name it said, while its user is there', async () => {
    const place = await serve(target, 'debug: false');
    const authority = new TestAuthority(place.directory);
    const { certFile, keyFile } = authority.issueServer();
    const tls = `tls { cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${authority.file}", verify_and_map: true }`;
    const known = (...names: string[]): string =>
      `authorization { users: [ ${names.map((name) => `{ user: "${name}" }`).join(', ')} ] }\n${tls}`;
    const server = await serve(target, known('CN=joe', 'CN=sue'));
    const certificate = authority.issue('joe', '/CN=joe', 'DNS:joe');
    const joe = await dialTls(server.address(), { authority, certificate });
    joe.send('CONNECT {"verbose":false,"user":"anybody"}\r\nPING\r\n');
    await joe.sees('PONG\r\n');
    expect(await reload(server, known('CN=joe'))).toMatch(APPLIED);
    joe.send('SUB a 1\r\nPUB a 2\r\nhi\r\n');
    await joe.sees('MSG a 1 2\r\nhi\r\n');
    expect(await reload(server, known('CN=sue'))).toMatch(APPLIED);
    await until(() => joe.isClosed, "the end of joe's connection");
    expect(joe.received).not.toContain('-ERR');
  });

  test('encrypts new clients from then on, or no more, and keeps those who are there', async () => {
    const place = await serve(target, 'debug: false');
    const authority = new TestAuthority(place.directory);
    const { certFile, keyFile } = authority.issueServer();
    const config = `tls { cert_file: "${certFile}", key_file: "${keyFile}", timeout: 1 }`;
    const server = await serve(target, 'debug: false');
    const clear = await clientOf(server);
    expect(await reload(server, config)).toMatch(/^Reloaded server configuration/);
    expect(server.log).toContain('Reloaded: tls = enabled\n');
    const encrypted = await dialTls(server.address(), { authority });
    expect(encrypted.clear).toContain('"tls_required":true');
    encrypted.send('CONNECT {"verbose":false}\r\nSUB a 1\r\nPING\r\n');
    await encrypted.sees('PONG\r\n');
    clear.send('PUB a 2\r\nhi\r\n');
    await encrypted.sees('MSG a 1 2\r\nhi\r\n');
    const plain = await dial(server.address());
    expect(await plain.line()).toContain('"tls_required":true');
    plain.send('CONNECT {"verbose":false}\r\nPING\r\n');
    await plain.cut();
    expect(await reload(server, 'debug: false')).toMatch(/^Reloaded server configuration/);
    expect(server.log).toContain('Reloaded: tls = disabled\n');
    expect(server.log).toContain('Reloaded: tls timeout = 2\n');
    const late = await dial(server.address());
    expect(await late.line()).not.toContain('tls_required');
    late.send('CONNECT {"verbose":false}\r\nPUB a 3\r\nyes\r\nPING\r\n');
    await late.expect('PONG\r\n');
    await encrypted.sees('MSG a 1 3\r\nyes\r\n');
    await late.close();
  });
});
