/** Leaf links over WebSocket to a real hub: plain and encrypted, compressed in each way, cut and found again. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { expect, it } from 'vitest';
import { clientsAcross } from '../helpers/clients-across.ts';
import type { LeafRemoteOptions } from '../../server/config/options.ts';
import { type CertificateFiles, TestAuthority } from '../helpers/certificates.ts';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { type LeafPetiole, type LeafPetioleOptions, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { remoteConfig } from '../helpers/leaf-remote-config.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { telemetry } from '../helpers/s2-stream.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import type { ServerAddress } from '../helpers/wire-client.ts';

interface WebHub {
  readonly hub: RealHub;
  readonly address: ServerAddress;
}

async function startWebHub(websocket = 'no_tls: true', leafnodes = '', more = ''): Promise<WebHub> {
  const config = `websocket { listen: "127.0.0.1:-1", ${websocket} }\n${more}`;
  const hub = await startHub({ leafnodes, config });
  return { hub, address: await hub.server.listening('websocket') };
}

async function startEdge(
  { address }: WebHub,
  remote: Partial<LeafRemoteOptions> = {},
  options: Partial<LeafPetioleOptions> = {},
): Promise<LeafPetiole> {
  return startLeafPetiole({ urls: [`ws://127.0.0.1:${address.port}`], remote, ...options });
}

/** Messages of all sizes in both directions, each whole and once. */
async function exchange(edge: LeafPetiole, hub: RealHub): Promise<void> {
  const { near, far } = await clientsAcross(edge, hub);
  for (const bytes of [0, 10, 124, 40_000, 66_000, 500_000]) {
    const payload = telemetry(bytes).toString('latin1');
    far.send(`PUB down ${payload.length}\r\n${payload}\r\n`);
    await near.expect(`MSG down 1 ${payload.length}\r\n${payload}\r\n`);
    near.send(`PUB up ${payload.length}\r\n${payload}\r\n`);
    await far.expect(`MSG up 1 ${payload.length}\r\n${payload}\r\n`);
  }
}

/** On a busy machine. */
const BACKLOG_MS = 20_000;

const S2: Partial<LeafRemoteOptions> = { compression: { mode: 's2_fast', rttThresholdsMs: [] } };

describeWithHub('a leaf link over WebSocket', () => {
  it.each<[string, Partial<LeafRemoteOptions>, string, string]>([
    ['masked', {}, 'compression=false masking=true', 'off'],
    ['unmasked', { asksForNoMasking: true }, 'compression=false masking=false', 'off'],
    ['masked, compressed by S2', S2, 'compression=false masking=true', 's2_fast'],
    ['unmasked, compressed by S2', { ...S2, asksForNoMasking: true }, 'compression=false masking=false', 's2_fast'],
    [
      'compressed by WebSocket and so not by S2',
      { ...S2, compressesFrames: true },
      'compression=true masking=true',
      'off',
    ],
    [
      'compressed by WebSocket, unmasked',
      { compressesFrames: true, asksForNoMasking: true },
      'compression=true masking=false',
      'off',
    ],
  ])('%s, passes messages on in both directions', async (_, remote, logged, compression) => {
    const web = await startWebHub('no_tls: true, compression: true');
    const edge = await startEdge(web, remote);
    await edge.link();
    expect(edge.logged(`Leafnode ${logged}`)).toBe(true);
    await exchange(edge, web.hub);
    expect(edge.leafNodes.linkSnapshots()[0]?.compression).toBe(compression);
    expect(edge.errors).toEqual([]);
    const [row] = await web.hub.links();
    expect(row).toMatchObject({ in_msgs: 6, out_msgs: 6 });
    expect(edge.leafNodes.linkSnapshots()[0]).toMatchObject({ inMessages: 6, outMessages: 6, isWebSocket: true });
    expect(edge.logged(/ - lid_ws:\d+ - Leafnode connection created for account: \$G/)).toBe(true);
  });

  it('is not compressed where the hub does not compress WebSocket', async () => {
    const web = await startWebHub();
    const edge = await startEdge(web, { compressesFrames: true });
    await exchange(edge, web.hub);
    expect(edge.logged('Leafnode compression=false masking=true')).toBe(true);
  });

  it('keeps compressed messages below the max_payload of the hub', async () => {
    const web = await startWebHub('no_tls: true, compression: true', '', 'max_payload: 512');
    const edge = await startEdge(web, { compressesFrames: true });
    const [near, far] = [await edge.client(), await web.hub.client()];
    const link = await edge.link();
    far.send('SUB up 1\r\n');
    await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'up'), 'interest of the hub');
    const payload = telemetry(512).toString('latin1');
    near.send(`PUB up 512\r\n${payload}\r\n`.repeat(100));
    await far.expect(`MSG up 1 512\r\n${payload}\r\n`.repeat(100));
    expect(edge.errors).toEqual([]);
  });

  it.each([false, true])('passes on a backlog that the hub sends in one frame, compressed: %s', async (compressed) => {
    const web = await startWebHub(`no_tls: true, compression: ${compressed}`);
    const way = await startFaultProxy(web.address);
    const remote = { compressesFrames: compressed, followsDiscoveredServers: false };
    const edge = await startEdge({ hub: web.hub, address: way.address }, remote);
    const [near, far] = [await edge.client(), await web.hub.client()];
    near.send('SUB down 1\r\n');
    await web.hub.awaitInterest(edge.name, ['down']);
    way.pause('down');
    const payload = telemetry(8000).toString('latin1');
    for (let i = 0; i < 800; i++) far.send(`PUB down ${payload.length}\r\n${payload}\r\n`);
    far.send('PING\r\n');
    // The hub slows down who publishes to a link that takes nothing.
    await far.expect('PONG\r\n', BACKLOG_MS);
    way.resume('down');
    const message = `MSG down 1 ${payload.length}\r\n${payload}\r\n`;
    for (let i = 0; i < 800; i++) await near.expect(message, BACKLOG_MS);
    expect(edge.errors).toEqual([]);
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });

  it('logs in', async () => {
    const web = await startWebHub('no_tls: true', 'authorization { user: u, password: p }');
    const edge = await startLeafPetiole({ urls: [`ws://u:p@127.0.0.1:${web.address.port}`] });
    await exchange(edge, web.hub);
  });

  it('comes back after a reset, and the hub then knows all interest', async () => {
    const web = await startWebHub();
    const proxy = await startFaultProxy(web.address);
    const edge = await startEdge({ hub: web.hub, address: proxy.address }, { followsDiscoveredServers: false });
    const near = await edge.client();
    near.send('SUB a.* 1\r\n');
    for (let round = 0; round < 3; round++) {
      await web.hub.awaitInterest(edge.name, ['a.*']);
      proxy.reset();
      await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === round + 2, 'the next link', 10_000);
    }
    await web.hub.awaitInterest(edge.name, ['a.*']);
  });

  it.each<Partial<LeafRemoteOptions>>([{}, { compressesFrames: true }])(
    'passes on what comes byte by byte, %o',
    async (remote) => {
      const web = await startWebHub('no_tls: true, compression: true');
      const proxy = await startFaultProxy(web.address);
      proxy.drip(1);
      const edge = await startEdge({ hub: web.hub, address: proxy.address }, remote, {});
      const [near, far] = [await edge.client(), await web.hub.client()];
      near.send('SUB down 1\r\n');
      await web.hub.awaitInterest(edge.name, ['down']);
      const payload = telemetry(2000).toString('latin1');
      far.send(`PUB down 2000\r\n${payload}\r\n`);
      await near.expect(`MSG down 1 2000\r\n${payload}\r\n`);
    },
  );

  it('is given up when the way to the hub is dead', async () => {
    const web = await startWebHub();
    const proxy = await startFaultProxy(web.address);
    const edge = await startEdge(
      { hub: web.hub, address: proxy.address },
      { followsDiscoveredServers: false },
      {
        options: { pingIntervalMs: 200, maxPingsOut: 2 },
      },
    );
    await edge.link();
    proxy.pause('down');
    await until(() => edge.logged('Leafnode connection closed: Stale Connection'), 'the dead way to be noticed');
    proxy.resume('down');
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === 2, 'another link', 10_000);
  });

  it('is not taken by a port that speaks something else', async () => {
    const { hub, address } = await startWebHub();
    const plain = await startLeafPetiole({ urls: [`ws://127.0.0.1:${hub.leafAddress.port}`] });
    await until(
      () => plain.logged('Error soliciting websocket connection: malformed HTTP response "INFO {'),
      'the error',
    );
    const { port } = await hub.server.listening('monitor');
    const monitor = await startLeafPetiole({ urls: [`ws://127.0.0.1:${port}/prefix`] });
    await until(
      () => monitor.logged('Error soliciting websocket connection: invalid websocket connection: 404 Not Found'),
      'the error',
    );
    expect(monitor.logged('not established (Read Error), next attempt in')).toBe(true);
    const raw = await startLeafPetiole({ urls: [`nats://127.0.0.1:${address.port}`] });
    await until(() => raw.logged('The remote did not say INFO'), 'the error');
  });
});

interface Keys {
  readonly authority: TestAuthority;
  readonly server: CertificateFiles;
}

function makeKeys(): Keys {
  const authority = new TestAuthority(temporaryDirectory());
  return { authority, server: authority.issue('server', '/CN=hub', 'DNS:localhost,IP:127.0.0.1') };
}

function hubTls({ server }: Keys): string {
  return `tls { cert_file: "${server.certFile}", key_file: "${server.keyFile}" }`;
}

describeWithHub('an encrypted leaf link over WebSocket', () => {
  it.each(['wss', 'ws'])('with tls { } and a %s URL', async (scheme) => {
    const keys = makeKeys();
    const web = await startWebHub(`compression: true, ${hubTls(keys)}`);
    const urls = [`${scheme}://localhost:${web.address.port}`];
    const remote = { ...remoteConfig(`tls { ca_file: "${keys.authority.file}" }`), compressesFrames: true };
    const edge = await startLeafPetiole({ urls, remote });
    expect((await edge.link()).socket.tls?.version).toBe('1.3');
    await exchange(edge, web.hub);
    expect(edge.errors).toEqual([]);
  });

  it('is encrypted without tls { }, too, so that a certificate nobody vouches for is refused', async () => {
    const keys = makeKeys();
    const web = await startWebHub(hubTls(keys));
    const edge = await startLeafPetiole({ urls: [`wss://localhost:${web.address.port}`] });
    await until(() => edge.logged('TLS leafnode handshake error'), 'the certificate to be refused');
    expect(edge.logged(/x509: certificate signed by unknown authority/)).toBe(true);
  });

  it('tells a hub that does not encrypt', async () => {
    const web = await startWebHub();
    const edge = await startLeafPetiole({ urls: [`wss://localhost:${web.address.port}`] });
    await until(() => edge.logged('TLS leafnode handshake error'), 'the handshake to fail');
  });

  it('does not care whether the plain leaf port of the hub is encrypted', async () => {
    const keys = makeKeys();
    const web = await startWebHub('no_tls: true', hubTls(keys));
    const edge = await startEdge(web);
    await exchange(edge, web.hub);
  });
});
