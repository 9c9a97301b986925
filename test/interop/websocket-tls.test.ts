/** The WebSocket port with TLS, on nats-server and petiole alike. */
/* oxlint-disable vitest/expect-expect -- the clients assert */
import { createHash, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { clientOf, describeTargets, page, serve } from '../helpers/describe-targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { type Ask, enter, knock, request } from '../helpers/web-client.ts';

const directory = temporaryDirectory(afterAll);
const authority = new TestAuthority(directory);
const ours = authority.issueServer();
const other = authority.issueServer('other');
const joe = authority.issue('joe', '/O=petiole/CN=joe', 'email:joe@example.com');

const TRUSTING: Ask = { authority: authority.certificate };
const JOE: Ask = { ...TRUSTING, certificate: joe };
const CONNECT = 'CONNECT {"verbose":false}\r\nPING\r\n';

function block(tls = '', more = '', server = ours): string {
  const files = `cert_file: "${server.certFile}", key_file: "${server.keyFile}", ca_file: "${authority.file}"`;
  return `websocket { listen: "127.0.0.1:-1", tls { ${files}\n ${tls} }\n${more} }\n`;
}

describeTargets('WebSocket over TLS', (target) => {
  test('is served, and INFO says so', async () => {
    const server = await serve(target, `http: "127.0.0.1:-1"\n${block()}`);
    expect(server.log).toMatch(/Listening for websocket clients on wss:\/\/127\.0\.0\.1:\d+/);
    expect(server.log).not.toContain('Websocket not configured with TLS');
    const client = await enter(await server.listening('websocket'), TRUSTING);
    expect(client.info).toMatchObject({ tls_required: true, tls_available: true });
    const payload = 'x'.repeat(900_000);
    client.say(`CONNECT {"verbose":false}\r\nSUB a 1\r\nPUB a 900000\r\n${payload}\r\nPING\r\n`);
    await client.expect(`MSG a 1 900000\r\n${payload}\r\n`);
    await client.expect('PONG\r\n');
    const { body } = await page(server, '/connz');
    expect(body).toMatchObject({ connections: [{ type: 'websocket', tls_version: '1.3' }] });
    // Others go on without.
    await clientOf(server);
  });

  test('closes who speaks in clear', async () => {
    const server = await serve(target, block());
    const client = await knock(await server.listening('websocket'));
    client.send('GET / HTTP/1.1\r\n\r\n');
    await client.ends();
    expect(client.answer).not.toContain('101');
  });

  test('wants a certificate where it verifies', async () => {
    const address = await (await serve(target, block('verify: true'))).listening('websocket');
    const client = await enter(address, JOE);
    client.say(CONNECT);
    await client.expect('PONG\r\n');
    const stranger = await knock(address, TRUSTING);
    stranger.send(request());
    await stranger.ends();
    expect(stranger.answer).toBe('');
  });

  test('takes the user from the certificate', async () => {
    const users = 'authorization { users: [ {user: "joe@example.com"}, {user: ann, password: p} ] }\n';
    const server = await serve(target, `http: "127.0.0.1:-1"\n${users}${block('verify_and_map: true')}`);
    const client = await enter(await server.listening('websocket'), JOE);
    client.say(CONNECT);
    await client.expect('PONG\r\n');
    const { body } = await page(server, '/connz?auth=1');
    expect(body).toMatchObject({ connections: [{ authorized_user: 'joe@example.com' }] });
  });

  test('compares origins with https', async () => {
    const address = await (await serve(target, block('', 'same_origin: true'))).listening('websocket');
    const from = (Origin: string): Ask => ({ ...TRUSTING, headers: { Host: 'example.com', Origin } });
    await enter(address, from('https://example.com'));
    await expect(enter(address, from('http://example.com'))).rejects.toThrow('403');
  });

  test('shows another certificate once that is configured', async () => {
    const server = await serve(target, block());
    const address = await server.listening('websocket');
    const digest = (pem: string): string => new X509Certificate(pem).fingerprint256;
    const shown = async (): Promise<string> => {
      const { socket } = await enter(address, TRUSTING);
      return (socket as unknown as { getPeerCertificate(): { fingerprint256: string } }).getPeerCertificate()
        .fingerprint256;
    };
    expect(await shown()).toBe(digest(ours.certificate));
    writeFileSync(join(server.directory, 'server.conf'), block('', '', other));
    server.signal('SIGHUP');
    await until(() => server.log.includes('Reloaded server configuration'), 'the reload');
    expect(await shown()).toBe(digest(other.certificate));
  });
});

// nats-server looks at pinned certificates of this port on reloads alone.
describeTargets('pinned certificates', (target) => {
  test('are shown in /varz', async () => {
    const key = new X509Certificate(joe.certificate).publicKey.export({ type: 'spki', format: 'der' });
    const digest = createHash('sha256').update(key).digest('hex');
    const server = await serve(target, `http: "127.0.0.1:-1"\n${block(`verify: true, pinned_certs: ["${digest}"]`)}`);
    const { body } = await page(server, '/varz');
    expect(body).toMatchObject({ websocket: { tls_pinned_certs: [digest], tls_cert_not_after: expect.any(String) } });
    await enter(await server.listening('websocket'), JOE);
  });
});
