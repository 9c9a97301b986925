/** Encrypted leaf links to a real hub, and what is said where encryption fails. */
/* oxlint-disable vitest/expect-expect -- waiting for a condition asserts, too */
import { createHash, X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { type CertificateFiles, TestAuthority } from '../helpers/certificates.ts';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { type LeafPetiole, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { remoteConfig } from '../helpers/leaf-remote-config.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { telemetry } from '../helpers/s2-stream.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

interface Keys {
  readonly authority: TestAuthority;
  readonly server: CertificateFiles;
  readonly client: CertificateFiles;
}

function makeKeys(names = 'DNS:localhost,IP:127.0.0.1'): Keys {
  const authority = new TestAuthority(temporaryDirectory());
  const server = authority.issue('server', '/CN=hub', names);
  return { authority, server, client: authority.issue('edge', '/CN=edge', 'DNS:edge') };
}

function hubTls({ server, authority }: Keys, more = ''): string {
  const { certFile, keyFile } = server;
  return `tls { cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${authority.file}", ${more} }`;
}

function pin({ certificate }: CertificateFiles): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('hex');
}

/** A link to the hub by name, with this in its `tls`; without a block if there is nothing. */
async function startEdge(hub: RealHub, tls: string | null, more = ''): Promise<LeafPetiole> {
  const block = tls === null ? '' : `tls { ${tls} }`;
  const urls = [`nats://localhost:${hub.leafAddress.port}`];
  return startLeafPetiole({ urls, remote: remoteConfig(`${block}\n${more}`) });
}

async function exchange(edge: LeafPetiole, hub: RealHub): Promise<void> {
  const [near, far] = [await edge.client(), await hub.client()];
  near.send('SUB down 1\r\n');
  await hub.awaitInterest(edge.name, ['down']);
  for (const bytes of [10, 40_000, 500_000]) {
    const payload = telemetry(bytes).toString('latin1');
    far.send(`PUB down ${payload.length}\r\n${payload}\r\n`);
    await near.expect(`MSG down 1 ${payload.length}\r\n${payload}\r\n`);
  }
}

describeWithHub('an encrypted leaf link', () => {
  it.each(['off', 's2_fast', 's2_auto'])('opens behind INFO, compression: %s', async (compression) => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys) });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}"`, `compression: ${compression}`);
    const link = await edge.link();
    expect(link.socket.tls?.version).toBe('1.3');
    await exchange(edge, hub);
    expect(edge.errors).toEqual([]);
  });

  it.each(['true', '"auto"'])('opens before INFO, handshake_first: %s at the hub', async (first) => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys, `handshake_first: ${first}`) });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}", handshake_first: true`);
    await edge.link();
    await exchange(edge, hub);
  });

  it('opens behind INFO at a hub that would have liked it before', async () => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys, 'handshake_first: "100ms"') });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}"`);
    await edge.link();
  });

  it('shows its certificate to a hub that asks for one, and logs in as who it is for', async () => {
    const keys = makeKeys();
    const { certFile, keyFile } = keys.client;
    const files = `cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${keys.authority.file}"`;
    const config = 'accounts { TENANT { users [ { user: edge } ] } }';
    const hub = await startHub({ leafnodes: hubTls(keys, 'verify_and_map: true'), config });
    const edge = await startEdge(hub, files);
    await edge.link();
    expect(edge.leafNodes.linkSnapshots()[0]?.remoteAccount).toBe('TENANT');
  });

  it.each(['insecure: true', 'min_version: "1.3", insecure: true'])('opens without a check: %s', async (tls) => {
    const hub = await startHub({ leafnodes: hubTls(makeKeys()) });
    const edge = await startEdge(hub, tls);
    await edge.link();
  });

  it('opens with a key that is pinned', async () => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys) });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}", pinned_certs: ["${pin(keys.server)}"]`);
    await edge.link();
  });

  it('expects the name of its URL at addresses that the hub tells', async () => {
    const keys = makeKeys('DNS:localhost');
    const hub = await startHub({ leafnodes: hubTls(keys) });
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startLeafPetiole({
      urls: [`nats://localhost:${proxy.address.port}`],
      remote: remoteConfig(`tls { ca_file: "${keys.authority.file}" }`),
    });
    await edge.link();
    proxy.reset();
    await until(() => edge.leafNodes.linkSnapshots()[0]?.port === hub.leafAddress.port, 'the address that was told');
    expect(edge.log.filter((line) => line.includes('handshake error'))).toEqual([]);
  });

  it('comes back encrypted when the hub has been restarted', async () => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys) });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}"`);
    await edge.link();
    await hub.stop();
    await hub.startAgain();
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === 2, 'another link', 10_000);
    await exchange(edge, hub);
  });
});

describeWithHub('encryption that fails is told of', () => {
  const VERIFIED = 'TLS leafnode handshake error: tls: failed to verify certificate: x509: certificate';

  it.each<[string, (keys: Keys) => string | null, string]>([
    ['nothing known of the authority', () => null, `${VERIFIED} signed by unknown authority (CN=hub SHA-256: `],
    ['another authority', () => `ca_file: "${new TestAuthority(temporaryDirectory()).file}"`, `${VERIFIED} signed by`],
    [
      'another key pinned',
      ({ authority, client }) => `ca_file: "${authority.file}", pinned_certs: ["${pin(client)}"]`,
      'TLS leafnode handshake error: certificate not pinned',
    ],
  ])('with %s', async (_, tls, text) => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys) });
    const edge = await startEdge(hub, tls(keys));
    await until(() => edge.logged(text), 'the log');
    expect(edge.logged('Leafnode connection closed: TLS Handshake Failure')).toBe(true);
    const next = /link to remote server "localhost:\d+" not established \(TLS Handshake Failure\), next attempt in/;
    await until(() => edge.log.filter((line) => next.test(line)).length > 1, 'another attempt');
    expect(edge.leafNodes.links()).toEqual([]);
  });

  it('with a certificate that is for somebody else', async () => {
    const keys = makeKeys('DNS:elsewhere');
    const hub = await startHub({ leafnodes: hubTls(keys) });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}"`);
    await until(() => edge.logged(`${VERIFIED} is not valid for localhost (CN=hub SHA-256: `), 'the log');
  });

  it('with no certificate where the hub asks for one', async () => {
    const keys = makeKeys();
    const hub = await startHub({ leafnodes: hubTls(keys, 'verify: true') });
    const edge = await startEdge(hub, `ca_file: "${keys.authority.file}"`);
    await until(() => edge.logged('Leafnode connection error: remote error: tls: certificate required'), 'the log');
    await until(() => hub.log.includes("client didn't provide a certificate"), 'the log of the hub');
  });

  it('at a hub without', async () => {
    const hub = await startHub();
    const edge = await startEdge(hub, 'insecure: true');
    await until(() => edge.logged('TLS leafnode handshake error: tls: first record does not look like'), 'the log');
  });

  it('at a hub that shakes hands first, and says so to nobody', async () => {
    const hub = await startHub({ leafnodes: hubTls(makeKeys(), 'handshake_first: true') });
    const edge = await startEdge(hub, 'insecure: true', 'first_info_timeout: "200ms"');
    await until(() => edge.logged('did not say INFO, which it may want to say encrypted (handshake_first)'), 'the log');
  });
});
