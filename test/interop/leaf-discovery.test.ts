/** Which servers a leaf link finds: those of a real hub's cluster that it was not told of, and none that does not answer. */
/* oxlint-disable vitest/expect-expect -- waiting for a condition asserts, too */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { LeafRemoteOptions } from '../../server/config/options.ts';
import { type LeafPetiole, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { startScriptedHub } from '../helpers/scripted-hub.ts';
import { until } from '../helpers/until.ts';

const WEBSOCKET = 'websocket { listen: "127.0.0.1:-1", no_tls: true }';

/** Two servers that know of each other. */
async function startCluster(): Promise<readonly [RealHub, RealHub]> {
  const cluster = (routes: string): string => `cluster { name: C, listen: "127.0.0.1:-1"\n${routes} }\n${WEBSOCKET}`;
  const first = await startHub({ config: `server_name: first\n${cluster('')}` });
  const { port } = await first.server.listening('route');
  const routes = `routes: ["nats://127.0.0.1:${port}"]`;
  const second = await startHub({ config: `server_name: second\n${cluster(routes)}` });
  await until(() => /Route connection created|rid:\d+/.test(second.log) && first.log.includes(' - rid:'), 'the route');
  return [first, second];
}

async function urlOf(hub: RealHub, scheme: string): Promise<string> {
  if (scheme === 'nats') return hub.url();
  return `${scheme}://127.0.0.1:${(await hub.server.listening('websocket')).port}`;
}

function dialled(edge: LeafPetiole, url: string): number {
  const address = url.replace(/^\w+:\/\//, '');
  return edge.log.filter((line) => line.includes(`connect as leafnode to remote server on "${address}"`)).length;
}

describeWithHub('a remote whose hub is a cluster', () => {
  it.each(['nats', 'ws'])('dials the other member when the first is gone, %s', async (scheme) => {
    const [first, second] = await startCluster();
    const edge = await startLeafPetiole({ urls: [await urlOf(first, scheme)] });
    const near = await edge.client();
    near.send('SUB a.b 1\r\n');
    await first.awaitInterest(edge.name, ['a.b']);
    await first.stop();
    await second.awaitInterest(edge.name, ['a.b'], 10_000);
    expect(dialled(edge, await urlOf(second, scheme))).toBeGreaterThan(0);
  });

  it('dials the first again and again when it should not follow', async () => {
    const [first, second] = await startCluster();
    const edge = await startLeafPetiole({ urls: [first.url()], remote: { followsDiscoveredServers: false } });
    await edge.link();
    await first.stop();
    await until(() => edge.logged('(attempt 3)'), 'three attempts', 10_000);
    expect(dialled(edge, second.url())).toBe(0);
    await first.startAgain();
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === 2, 'the link to the first', 10_000);
  });
});

/** A port that listens, has as many connections as it may, and takes none. */
async function fullPort(): Promise<number> {
  const script = `
    const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port) + '\\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  for (let i = 0; i < 3; i++) {
    const filler = connect(port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void filler.destroy());
  }
  return port;
}

it('an address where nobody answers is given up after dial_timeout, and the next one dialled', async () => {
  const port = await fullPort();
  const hub = await startScriptedHub();
  const remote: Partial<LeafRemoteOptions> = { dialTimeoutMs: 150 };
  // Longer than the test would wait for it.
  const leafnodes = { dialTimeoutMs: 60_000 };
  const began = performance.now();
  const edge = await startLeafPetiole({ urls: [`nats://127.0.0.1:${port}`, hub.url], remote, leafnodes });
  await until(() => edge.logged(`(attempt 1): dial tcp 127.0.0.1:${port}: i/o timeout`), 'the timeout');
  expect(performance.now() - began).toBeGreaterThan(140);
  await hub.open();
});

it('a hub that does not say INFO is given up after first_info_timeout, and the next one dialled', async () => {
  const [silent, hub] = [await startScriptedHub(), await startScriptedHub()];
  const began = performance.now();
  const edge = await startLeafPetiole({ urls: [silent.url, hub.url], remote: { firstInfoTimeoutMs: 150 } });
  const link = await silent.accept();
  await link.closed();
  expect(performance.now() - began).toBeGreaterThan(140);
  expect(edge.logged('The remote did not say INFO')).toBe(true);
  await hub.open();
});
