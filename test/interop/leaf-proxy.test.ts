/** Leaf links through an HTTP proxy to a real hub, and what is said of a proxy that does not do its part. */
/* oxlint-disable vitest/expect-expect -- waiting for a condition asserts, too */
import { describe, expect, it } from 'vitest';
import { clientsAcross } from '../helpers/clients-across.ts';
import type { LeafProxyOptions, LeafRemoteOptions } from '../../server/config/options.ts';
import type { TlsOptions } from '../../server/config/transport-options.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { freePort } from '../helpers/free-port.ts';
import { type HttpProxy, startHttpProxy } from '../helpers/http-proxy.ts';
import { type LeafPetiole, remoteOptions, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { remoteConfig } from '../helpers/leaf-remote-config.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

function proxyOptions({ port }: { port: number }, more: Partial<LeafProxyOptions> = {}): LeafProxyOptions {
  return { host: '127.0.0.1', port, username: '', password: '', timeoutMs: 0, isEncrypted: false, tls: null, ...more };
}

/** A message each way. */
async function exchange(edge: LeafPetiole, hub: RealHub): Promise<void> {
  const { near, far } = await clientsAcross(edge, hub);
  far.send('PUB down 2\r\nhi\r\n');
  await near.expect('MSG down 1 2\r\nhi\r\n');
  near.send('PUB up 2\r\nho\r\n');
  await far.expect('MSG up 1 2\r\nho\r\n');
}

const WEBSOCKET = 'websocket { listen: "127.0.0.1:-1", no_tls: true }';

describeWithHub('a leaf link through an HTTP proxy', () => {
  it('passes messages on, what the hub said along with the answer included', async () => {
    const hub = await startHub();
    const proxy = await startHttpProxy();
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: { proxy: proxyOptions(proxy) } });
    await exchange(edge, hub);
    const target = `127.0.0.1:${hub.leafAddress.port}`;
    expect(proxy.requests).toEqual([`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nUser-Agent: petiole\r\n\r\n`]);
    expect(edge.errors).toEqual([]);
  });

  it('logs in to the proxy, and tells nobody how', async () => {
    const hub = await startHub();
    const proxy = await startHttpProxy();
    const login = { username: 'joe', password: 'pa:ss é' };
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: { proxy: proxyOptions(proxy, login) } });
    await exchange(edge, hub);
    const base64 = Buffer.from('joe:pa:ss é').toString('base64');
    expect(proxy.requests[0]).toContain(`\r\nProxy-Authorization: Basic ${base64}\r\n`);
    proxy.answer = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
    proxy.drop();
    await until(() => edge.logged('proxy CONNECT failed'), 'the failure');
    expect(edge.log.join('\n')).not.toMatch(new RegExp(`joe|pa:ss|${base64}`));
  });

  it('is encrypted to the hub, whose certificate is expected', async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const { certFile, keyFile } = authority.issue('server', '/CN=hub', 'DNS:localhost');
    const hub = await startHub({ leafnodes: `tls { cert_file: "${certFile}", key_file: "${keyFile}" }` });
    const proxy = await startHttpProxy();
    const remote = { ...remoteConfig(`tls { ca_file: "${authority.file}" }`), proxy: proxyOptions(proxy) };
    const edge = await startLeafPetiole({ urls: [`nats://localhost:${hub.leafAddress.port}`], remote });
    expect((await edge.link()).socket.tls?.version).toBe('1.3');
    await exchange(edge, hub);
  });

  it('is encrypted before INFO', async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const { certFile, keyFile } = authority.issue('server', '/CN=hub', 'DNS:localhost');
    const tls = `tls { cert_file: "${certFile}", key_file: "${keyFile}", handshake_first: true }`;
    const hub = await startHub({ leafnodes: tls });
    const proxy = await startHttpProxy();
    const config = remoteConfig(`tls { ca_file: "${authority.file}", handshake_first: true }`);
    const remote = { ...config, proxy: proxyOptions(proxy) };
    const edge = await startLeafPetiole({ urls: [`nats://localhost:${hub.leafAddress.port}`], remote });
    await exchange(edge, hub);
  });

  it('is not encrypted because a hub behind a proxy says so', async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const { certFile, keyFile } = authority.issue('server', '/CN=hub', 'DNS:localhost');
    const hub = await startHub({ leafnodes: `tls { cert_file: "${certFile}", key_file: "${keyFile}" }` });
    const proxy = await startHttpProxy();
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: { proxy: proxyOptions(proxy) } });
    await until(
      () => edge.logged('TLS configuration mismatch: Hub requires TLS but leafnode remote is not configured for TLS.'),
      'the mismatch to be told',
    );
  });

  it.each<Partial<LeafRemoteOptions>>([{}, { compressesFrames: true }])('goes over WebSocket, %o', async (options) => {
    const hub = await startHub({ config: WEBSOCKET });
    const { port } = await hub.server.listening('websocket');
    const proxy = await startHttpProxy();
    const remote = { ...options, proxy: proxyOptions(proxy) };
    const edge = await startLeafPetiole({ urls: [`ws://127.0.0.1:${port}`], remote });
    await exchange(edge, hub);
    expect(proxy.requests[0]).toMatch(`CONNECT 127.0.0.1:${port} HTTP/1.1`);
  });

  it('goes over encrypted WebSocket', async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const { certFile, keyFile } = authority.issue('server', '/CN=hub', 'DNS:localhost');
    const tls = `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`;
    const hub = await startHub({ config: `websocket { listen: "127.0.0.1:-1", ${tls} }` });
    const { port } = await hub.server.listening('websocket');
    const proxy = await startHttpProxy();
    const remote = { ...remoteConfig(`tls { ca_file: "${authority.file}" }`), proxy: proxyOptions(proxy) };
    const edge = await startLeafPetiole({ urls: [`wss://localhost:${port}`], remote });
    await exchange(edge, hub);
  });

  it('comes back when the proxy has dropped it', async () => {
    const hub = await startHub();
    const proxy = await startHttpProxy();
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: { proxy: proxyOptions(proxy) } });
    for (let round = 1; round <= 3; round++) {
      await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === round, 'a link', 10_000);
      proxy.drop();
    }
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === 4, 'the last link', 10_000);
    await exchange(edge, hub);
  });
});

interface Keys {
  /** Vouches for the hub. */
  readonly hub: TestAuthority;
  /** Vouches for the proxy, and nobody else. */
  readonly proxy: TestAuthority;
}

function makeKeys(): Keys {
  return { hub: new TestAuthority(temporaryDirectory()), proxy: new TestAuthority(temporaryDirectory()) };
}

/** A proxy over TLS, and how the remote comes to it. */
async function startTlsProxy({ proxy }: Keys, names = 'IP:127.0.0.1'): Promise<{ port: number; at: LeafProxyOptions }> {
  const { certificate, key } = proxy.issue('proxy', '/CN=proxy', names);
  const { port } = await startHttpProxy({ cert: certificate, key });
  return { port, at: proxyOptions({ port }, { isEncrypted: true, tls: clientTls(proxy) }) };
}

function clientTls(authority: TestAuthority, more = ''): TlsOptions {
  const { tls } = remoteConfig(`tls { ca_file: "${authority.file}", ${more} }`);
  if (!tls) throw new Error('no tls');
  return tls;
}

function hubTls(authority: TestAuthority, more = ''): string {
  const { certFile, keyFile } = authority.issue('server', '/CN=hub', 'DNS:localhost');
  return `tls { cert_file: "${certFile}", key_file: "${keyFile}", ${more} }`;
}

describeWithHub('a leaf link through a proxy over TLS', () => {
  it('passes messages on', async () => {
    const [hub, proxy] = [await startHub(), await startTlsProxy(makeKeys())];
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: { proxy: proxy.at } });
    await exchange(edge, hub);
    expect(edge.errors).toEqual([]);
  });

  it.each(['', 'handshake_first: true'])('is encrypted to the hub as well, %s', async (first) => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys.hub, first) });
    const proxy = await startTlsProxy(keys);
    const remote = { tls: clientTls(keys.hub, first), proxy: proxy.at };
    const edge = await startLeafPetiole({ urls: [`nats://localhost:${hub.leafAddress.port}`], remote });
    await exchange(edge, hub);
    const [near, far] = [await edge.client(), await hub.client()];
    near.send('SUB large 1\r\n');
    await hub.awaitInterest(edge.name, ['down', 'large']);
    const payload = 'x\r\n'.repeat(300_000);
    far.send(`PUB large ${payload.length}\r\n${payload}\r\n`);
    await near.expect(`MSG large 1 ${payload.length}\r\n${payload}\r\n`, 10_000);
    expect(edge.errors).toEqual([]);
  });

  it('goes over encrypted WebSocket', async () => {
    const keys = makeKeys();
    const hub = await startHub({ config: `websocket { listen: "127.0.0.1:-1", ${hubTls(keys.hub)} }` });
    const { port } = await hub.server.listening('websocket');
    const proxy = await startTlsProxy(keys);
    const remote = { tls: clientTls(keys.hub), proxy: proxy.at };
    const edge = await startLeafPetiole({ urls: [`wss://localhost:${port}`], remote });
    await exchange(edge, hub);
  });

  it('takes on other settings of it while it dials', async () => {
    const keys = makeKeys();
    const [hub, proxy] = [await startHub(), await startTlsProxy(keys)];
    const [before, after] = [{ ...proxy.at, tls: null }, proxy.at].map((at) =>
      remoteOptions([hub.url()], { proxy: at }),
    );
    if (!before || !after) throw new Error('unreachable');
    const edge = await startLeafPetiole({ urls: [], leafnodes: { remotes: [before] } });
    await until(() => edge.logged('(attempt 2): proxy TLS handshake failed: '), 'the refusal');
    edge.leafNodes.reconfigure([before], [after]);
    await exchange(edge, hub);
  });

  it.each<[string, (keys: Keys) => Partial<LeafProxyOptions>, string, RegExp]>([
    ['nobody vouches for', () => ({ tls: null }), 'IP:127.0.0.1', /x509: certificate signed by unknown authority/],
    ['is somebody else', () => ({}), 'DNS:elsewhere', /x509: certificate is not valid for 127\.0\.0\.1/],
  ])('is not made through one that %s', async (_, more, names, reason) => {
    const keys = makeKeys();
    const proxy = await startTlsProxy(keys, names);
    const remote = { proxy: { ...proxy.at, ...more(keys) } };
    const edge = await startLeafPetiole({ urls: ['nats://hub.example:7422'], remote });
    await until(() => edge.logged('(attempt 1): proxy TLS handshake failed: '), 'the refusal');
    expect(edge.logged(reason)).toBe(true);
    const trusting = { ...proxy.at, tls: clientTls(keys.proxy, 'insecure: true') };
    const hub = await startHub();
    const other = await startLeafPetiole({ urls: [hub.url()], remote: { proxy: trusting } });
    await other.link();
  });
});

/** Where the hub would be. */
const HUB = 'hub.example:7422';

async function startRefused(proxy: HttpProxy, more: Partial<LeafProxyOptions> = {}): Promise<LeafPetiole> {
  return startLeafPetiole({ urls: [`nats://${HUB}`], remote: { proxy: proxyOptions(proxy, more) } });
}

async function expectFailure(edge: LeafPetiole, text: string): Promise<void> {
  const where = `remote server "${HUB}"`;
  await until(() => edge.leafNodes.remoteSnapshots()[0]?.lastFailure, 'the attempt to fail');
  expect(edge.errors[0]).toContain(
    `Error trying to connect as leafnode to ${where} (attempt 1): ${text}, next attempt in `,
  );
  expect(edge.errors[0]).toMatch(/, next attempt in \d+\.\ds$/);
  await until(() => edge.logged('(attempt 2)'), 'the next attempt', 10_000);
}

describe('a proxy that', () => {
  it.each<[string, string | Buffer, boolean, string]>([
    [
      'wants a login',
      'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n',
      false,
      'proxy CONNECT failed: 407 Proxy Authentication Required',
    ],
    [
      'cannot reach the hub',
      'HTTP/1.0 503 Service Unavailable\n\n',
      true,
      'proxy CONNECT failed: 503 Service Unavailable',
    ],
    ['says no without a word', 'HTTP/1.1 403\r\n\r\n', true, 'proxy CONNECT failed: 403'],
    ['says no with control bytes', 'HTTP/1.1 500 a\x1b[31m\tb\r\n\r\n', true, 'proxy CONNECT failed: 500 a?[31m?b'],
    [
      'is none',
      'SSH-2.0-OpenSSH_9.6\r\n',
      false,
      'failed to read proxy response: malformed HTTP response "SSH-2.0-OpenSSH_9.6"',
    ],
    [
      'is none and says no line',
      Buffer.from([0, 1, 2, 255]),
      false,
      'failed to read proxy response: malformed HTTP response "\\x00\\x01\\x02\\xff"',
    ],
    [
      'has a strange status',
      'HTTP/1.1 twohundred OK\r\n\r\n',
      false,
      'failed to read proxy response: malformed HTTP status code "twohundred"',
    ],
    [
      'says too much',
      `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(20_000)}`,
      false,
      'failed to read proxy response: the header is longer than 16384 bytes',
    ],
    ['hangs up', '', true, 'failed to read proxy response: unexpected EOF'],
    ['hangs up in the midst', 'HTTP/1.1 200 OK\r\nX', true, 'failed to read proxy response: unexpected EOF'],
  ])('%s is told in one line', async (_, answer, hangsUp, text) => {
    const proxy = await startHttpProxy();
    proxy.answer = answer;
    proxy.hangsUp = hangsUp;
    await expectFailure(await startRefused(proxy), text);
  });

  it.each([
    ['says nothing', ''],
    ['does not come to an end', 'HTTP/1.1 200 OK\r\n'],
  ])('%s is given up in time', async (_, answer) => {
    const proxy = await startHttpProxy();
    proxy.answer = answer;
    await expectFailure(await startRefused(proxy, { timeoutMs: 100 }), 'failed to read proxy response: i/o timeout');
  });

  it('does not shake hands is given up', async () => {
    const proxy = await startHttpProxy();
    const tls = { ...clientTls(new TestAuthority(temporaryDirectory())), timeoutMs: 100 };
    const edge = await startRefused(proxy, { isEncrypted: true, tls });
    await expectFailure(edge, 'proxy TLS handshake failed: i/o timeout');
    expect(proxy.requests).toEqual([]);
  });

  it('is not there is told in one line', async () => {
    const proxy = { port: await freePort() } as HttpProxy;
    await expectFailure(
      await startRefused(proxy),
      `failed to connect to proxy: dial tcp 127.0.0.1:${proxy.port}: connect: connection refused`,
    );
  });

  it('says its word byte by byte is understood', async () => {
    const proxy = await startHttpProxy();
    proxy.drips = true;
    proxy.answer = 'HTTP/1.1 200 OK\r\nVia: x\r\n\r\nINFO {"client_id":0}\r\n';
    const edge = await startRefused(proxy);
    await until(() => edge.logged('attempted to connect to wrong port'), 'the hub to be heard');
  });
});
