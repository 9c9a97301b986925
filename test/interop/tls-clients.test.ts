/** Clients over TLS, on nats-server and petiole alike: the handshake's order, what is refused, what is told. */
import { createHash, X509Certificate } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { describeTargets, page, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { dialTls, type TlsClient } from '../helpers/tls-client.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const directory = temporaryDirectory(afterAll);
const authority = new TestAuthority(directory);
const stranger = new TestAuthority(directory, 'stranger').issue('other', '/CN=other', 'DNS:other');
const ours = authority.issueServer();
const joe = authority.issue('joe', '/O=petiole/CN=joe', 'email:joe@example.com');

function tlsBlock(more = ''): string {
  return `debug: true\ntls { cert_file: "${ours.certFile}", key_file: "${ours.keyFile}", ca_file: "${authority.file}"\n${more} }\n`;
}

async function talk(client: TlsClient): Promise<void> {
  client.send('CONNECT {"verbose":false}\r\nSUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n');
  await client.sees('MSG a 1 2\r\nhi\r\nPONG\r\n');
}

async function logged(server: RunningServer, text: string | RegExp): Promise<void> {
  await until(() => (typeof text === 'string' ? server.log.includes(text) : text.test(server.log)), String(text));
}

describeTargets('a server with TLS', (target) => {
  test('says in INFO that it is required, shakes hands, and serves', async () => {
    const server = await serve(target, tlsBlock());
    const client = await dialTls(server.address(), { authority });
    expect(client.clear).toMatch(/"tls_required":true/);
    expect(client.clear).not.toMatch(/tls_verify|tls_available/);
    await talk(client);
    expect(server.log).toContain('TLS required for client connections');
    await logged(server, 'TLS version 1.3, cipher suite TLS_AES');
  });

  test('carries large messages both ways', async () => {
    const server = await serve(target, tlsBlock());
    const client = await dialTls(server.address(), { authority });
    const payload = 'x'.repeat(900_000);
    client.send(`CONNECT {"verbose":false}\r\nSUB a 1\r\nPUB a 900000\r\n${payload}\r\nPING\r\n`);
    await client.sees('PONG\r\n');
    expect(client.received).toContain(`MSG a 1 900000\r\n${payload}\r\n`);
  });

  test('closes who speaks in clear', async () => {
    const server = await serve(target, tlsBlock());
    const client = await dial(server.address());
    await client.line();
    client.send('CONNECT {}\r\nPING\r\n');
    // What it says, if anything, is an alert of TLS.
    await until(() => /TLS handshake error: tls: first record does not look/.test(server.log), 'the error');
    await logged(server, 'Client connection closed: TLS Handshake Failure');
    await client.close();
    expect(server.log).not.toContain('TLS handshake complete');
  });

  test('closes who says nothing, after the timeout and without a word', async () => {
    const server = await serve(target, tlsBlock('timeout: 0.2'));
    const client = await dial(server.address());
    await client.line();
    await client.closed();
    await logged(server, 'Client connection closed: TLS Handshake Failure');
    expect(server.log).not.toContain('TLS handshake complete');
  });

  test('wants a certificate where it verifies', async () => {
    const server = await serve(target, tlsBlock('verify: true'));
    const client = await dialTls(server.address(), { authority, certificate: joe });
    expect(client.clear).toMatch(/"tls_required":true,"tls_verify":true/);
    await talk(client);
    await dialTls(server.address(), { authority });
    await logged(server, `TLS handshake error: tls: client didn't provide a certificate`);
    await dialTls(server.address(), { authority, certificate: stranger });
    await logged(
      server,
      /TLS handshake error: tls: failed to verify certificate: x509: certificate signed by unknown authority.*\(CN=other SHA-256: [0-9a-f]{64}\)/,
    );
  });

  test('takes only pinned certificates where there are some', async () => {
    const key = new X509Certificate(joe.certificate).publicKey.export({ type: 'spki', format: 'der' });
    const digest = createHash('sha256').update(key).digest('hex');
    const server = await serve(target, tlsBlock(`verify: true, pinned_certs: ["${digest}"]`));
    await talk(await dialTls(server.address(), { authority, certificate: joe }));
    const ann = authority.issue('ann', '/CN=ann', 'email:ann@example.com');
    await dialTls(server.address(), { authority, certificate: ann });
    await logged(server, 'TLS handshake error: certificate not pinned');
    expect(server.log.match(/TLS handshake complete/g)).toHaveLength(1);
  });

  test.each([
    ['an e-mail address', 'joe@example.com'],
    ['a distinguished name', 'CN=joe,O=petiole'],
    ['a distinguished name in another order', 'O=petiole,CN=joe'],
  ])('takes the user from the certificate: %s', async (_what, name) => {
    const rules = 'permissions: { publish: ["mine"], subscribe: [">"] }';
    const users = `authorization { users: [ { user: "other" }, { user: "${name}", ${rules} } ] }\n`;
    const server = await serve(target, users + tlsBlock('verify_and_map: true'));
    const client = await dialTls(server.address(), { authority, certificate: joe });
    expect(client.clear).toMatch(/"tls_verify":true/);
    client.send('CONNECT {"verbose":false}\r\nPUB mine 0\r\n\r\nPUB theirs 0\r\n\r\n');
    await client.sees(`-ERR 'Permissions Violation for Publish to "theirs"'`);
    expect(client.received).not.toContain('mine');
  });

  test('refuses whose certificate is no user', async () => {
    const users = 'authorization { users: [ { user: "other" } ] }\n';
    const server = await serve(target, users + tlsBlock('verify_and_map: true'));
    const client = await dialTls(server.address(), { authority, certificate: joe });
    client.send('CONNECT {"verbose":false,"user":"other"}\r\nPING\r\n');
    await client.sees(`-ERR 'Authorization Violation'`);
    expect(server.log).toContain('authentication error');
  });

  test.each([
    ['no password where the user has one', 'password: "secret"', ''],
    ['another password', 'password: "secret"', ',"pass":"guess"'],
    ['a password where the user has none', '', ',"user":"joe","pass":"guess"'],
  ])('refuses whose certificate is a user, but who says %s', async (_what, password, says) => {
    const users = `authorization { users: [ { user: "joe@example.com", ${password} } ] }\n`;
    const server = await serve(target, users + tlsBlock('verify_and_map: true'));
    const client = await dialTls(server.address(), { authority, certificate: joe });
    client.send(`CONNECT {"verbose":false${says}}\r\nPING\r\n`);
    await client.sees(`-ERR 'Authorization Violation'`);
    expect(client.received).not.toContain('PONG');
  });

  test('takes a certificate and the password of its user, whatever name is said', async () => {
    const users = 'authorization { users: [ { user: "joe@example.com", password: "secret" } ] }\n';
    const server = await serve(target, users + tlsBlock('verify_and_map: true'));
    const client = await dialTls(server.address(), { authority, certificate: joe });
    client.send('CONNECT {"verbose":false,"user":"other","pass":"secret"}\r\nPING\r\n');
    await client.sees('PONG\r\n');
    expect(client.received).not.toContain('-ERR');
    expect(server.log).toContain('[WRN] User "other" found in connect proto, but user required from cert');
    const nameless = await dialTls(server.address(), { authority, certificate: joe });
    nameless.send('CONNECT {"verbose":false,"pass":"secret"}\r\nPING\r\n');
    await nameless.sees('PONG\r\n');
    expect(server.log.match(/found in connect proto/g)).toHaveLength(1);
  });

  test.each(['websocket', 'leafnodes'])(
    'does not take a name for who is known by a certificate at %s',
    async (port) => {
      const block = tlsBlock('verify_and_map: true').replace('debug: true\n', '');
      const users = `authorization { users: [ { user: "joe@example.com" }, { user: "nobody" } ] }\nno_auth_user: "nobody"\n`;
      const server = await serve(target, `${users}${port} { listen: "127.0.0.1:-1"\n ${block} }\n`);
      const answer = async (user: string): Promise<string> => {
        const client = await dial(server.address());
        await client.line();
        client.send(`CONNECT {"verbose":false,"user":"${user}","pass":""}\r\nPING\r\n`);
        const first = await client.line();
        await client.close();
        return first;
      };
      expect(await answer('joe@example.com')).toContain('Authorization Violation');
      expect(await answer('nobody')).toContain('PONG');
    },
  );

  test('shakes hands first where it is told to', async () => {
    const server = await serve(target, `http: "127.0.0.1:-1"\n${tlsBlock('handshake_first: true')}`);
    const client = await dialTls(server.address(), { authority, isFirst: true });
    await client.sees(/^INFO .*"tls_required":true/);
    await talk(client);
    expect(server.log).toContain('Clients that are not using "TLS Handshake First" option will fail to connect');
    const { body } = await page(server, '/connz');
    expect(body).toMatchObject({ connections: [{ tls_version: '1.3', tls_first: true }] });
  });

  test('waits a moment for those who shake hands first, then greets the others', async () => {
    const server = await serve(target, tlsBlock('handshake_first: "300ms"'));
    const first = await dialTls(server.address(), { authority, isFirst: true });
    await first.sees(/^INFO /);
    await talk(first);
    const later = await dialTls(server.address(), { authority });
    expect(later.clear).toMatch(/"tls_required":true/);
    await talk(later);
  });

  test('takes clients without TLS where that is allowed', async () => {
    const server = await serve(target, `allow_non_tls: true\n${tlsBlock()}`);
    const plain = await dial(server.address());
    const info = await plain.line();
    expect(info).toMatch(/"tls_available":true/);
    expect(info).not.toMatch(/tls_required/);
    plain.send('CONNECT {"verbose":false}\r\nPING\r\n');
    await plain.expect('PONG\r\n');
    await plain.close();
    await talk(await dialTls(server.address(), { authority }));
    expect(server.log).toContain('TLS available for client connections');
  });

  test('tells those who shook hands first that they had to, also where others need not', async () => {
    const server = await serve(target, `allow_non_tls: true\n${tlsBlock('handshake_first: "300ms"')}`);
    const first = await dialTls(server.address(), { authority, isFirst: true });
    await first.sees(/^INFO .*\r\n/);
    expect(first.received).toMatch(/"tls_required":true/);
    expect(first.received).toMatch(/"tls_available":true/);
    const later = await dial(server.address());
    expect(await later.line()).not.toMatch(/tls_required/);
    await later.close();
  });

  test('slows handshakes down to a rate', async () => {
    const server = await serve(target, tlsBlock('connection_rate_limit: 2'));
    await talk(await dialTls(server.address(), { authority }));
    await talk(await dialTls(server.address(), { authority }));
    const client = connect(server.address().port, '127.0.0.1');
    let text = '';
    client.on('data', (bytes) => (text += bytes.toString()));
    await until(
      () => text.includes(`-ERR 'Connection throttling is active. Please try again later.'\r\n`),
      'the error',
    );
    client.destroy();
    expect(server.log.match(/TLS handshake complete/g)).toHaveLength(2);
  });

  test('shows in monitoring what is encrypted, and how', async () => {
    const remote = `{ url: "tls://127.0.0.1:1", tls { ca_file: "${authority.file}", timeout: 4 } }`;
    const config = `http: "127.0.0.1:-1"\nleafnodes { remotes: [ ${remote} ] }\n`;
    const server = await serve(target, config + tlsBlock('verify: true, timeout: 3'));
    await talk(await dialTls(server.address(), { authority, certificate: joe }));
    const [validUntil] = new Date(new X509Certificate(ours.certificate).validTo).toISOString().split('.');
    const shownOfServer = {
      tls_required: true,
      tls_verify: true,
      tls_timeout: 3,
      tls_cert_not_after: `${validUntil}Z`,
    };
    const leaf = { remotes: [{ local_account: '$G', tls_timeout: 4, urls: ['127.0.0.1:1'] }] };
    expect((await page(server, '/varz')).body).toMatchObject({ ...shownOfServer, leaf });
    const connection = { tls_version: '1.3', tls_cipher_suite: 'TLS_AES_128_GCM_SHA256' };
    expect((await page(server, '/connz')).body).toMatchObject({ connections: [connection] });
    expect(JSON.stringify((await page(server, '/connz')).body)).not.toMatch(/tls_peer_certs|tls_first/);
    const { raw, publicKey } = new X509Certificate(joe.certificate);
    const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    const spki = digest(publicKey.export({ type: 'spki', format: 'der' }));
    // nats-server lists the authority's too, if the client sent it.
    const shown = { subject: 'CN=joe,O=petiole', spki_sha256: spki, cert_sha256: digest(raw) };
    expect((await page(server, '/connz?auth=1')).body).toMatchObject({
      connections: [{ ...connection, tls_peer_certs: expect.arrayContaining([shown]) }],
    });
  });

  test('serves monitoring over TLS', async () => {
    const server = await serve(target, `https: "127.0.0.1:-1"\n${tlsBlock('verify: true')}`);
    const { port } = await server.listening('monitor');
    expect(server.log).toContain('Starting https monitor on 127.0.0.1:');
    const { get } = await import('node:https');
    const status = await new Promise((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path: '/healthz', ca: authority.certificate }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
    });
    expect(status).toBe(200);
  });
});
