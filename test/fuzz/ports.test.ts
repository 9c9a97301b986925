/**
 * Whatever comes to the ports of a real process (clients, clients with TLS, monitoring): it goes on, serves those who behave,
 * and needs no more memory than after the first such peers. FUZZ_SECONDS says how long each port is leant on, FUZZ_SEED
 * replays what is sent; a run prints its seed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { type RunningServer, startServer, type Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { dialTls } from '../helpers/tls-client.ts';
import { dial, type ServerAddress } from '../helpers/wire-client.ts';
import { cut, hostileBytes } from './hostile-bytes.ts';
import type { PeerScript } from './hostile-peer.ts';
import { hostileRequests } from './hostile-requests.ts';
import { attack, clientHello } from './real-peer.ts';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 4);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const TOGETHER = 16;
/** Peers come for so long before memory is looked at. */
const WARM_UP_SECONDS = 3;
/** Monitoring remembers ten thousand closed connections; the rest is what allocators keep. */
const GROWTH_BYTES_MAX = 30e6;
const GREETING = 'CONNECT {"verbose":false,"user":"u","pass":"secret"}\r\n';

process.stdout.write(`ports: FUZZ_SEED=${SEED} FUZZ_SECONDS=${SECONDS}\n`);

function scriptsOf(bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<PeerScript> {
  return fc
    .record({
      bytes,
      cuts: fc.array(fc.nat(10_000), { maxLength: 4 }),
      pauseMs: fc.constantFrom(0, 0, 1, 5),
      reads: fc.boolean(),
      ending: fc.constantFrom('end' as const, 'destroy' as const, 'stay' as const),
    })
    .map(({ bytes: all, cuts, ...rest }) => ({ pieces: cut(all, cuts), ...rest }));
}

/** The hello with some bytes changed, and cut off or followed by others. */
function mistakenHello(hello: Buffer): fc.Arbitrary<Buffer> {
  return fc
    .record({
      changes: fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 8 }),
      end: fc.integer({ min: 1, max: hello.length }),
      rest: hostileBytes,
    })
    .map(({ changes, end, rest }) => {
      const bytes = Buffer.from(hello);
      for (const [at, value] of changes) bytes[at] = value;
      return Buffer.concat([bytes.subarray(0, end), rest]);
    });
}

const root = join(import.meta.dirname, '../..');
const collectOften = 'setInterval(() => gc(), 1000).unref()';

/** The sources, with garbage collected every second: what grows is what is kept. */
const COLLECTING: Target = {
  name: 'petiole',
  version: 'of the sources',
  command: [
    join(root, 'node_modules/.bin/node'),
    '--expose-gc',
    `--import=data:text/javascript,${encodeURIComponent(collectOften)}`,
    join(root, 'server/main.ts'),
  ],
};

async function start(config: string): Promise<RunningServer> {
  const server = await startServer(COLLECTING, {
    config: `authorization { user: u, password: secret, timeout: 2 }\n${config}`,
  });
  onTestFinished(() => server.stop());
  return server;
}

/** Leans on the port for some seconds; how many peers did. */
async function lean(
  address: ServerAddress,
  scripts: fc.Arbitrary<PeerScript>,
  share: number,
  seconds: number,
): Promise<number> {
  const endMs = performance.now() + seconds * 1000;
  let peers = 0;
  while (performance.now() < endMs) {
    const round = fc.sample(scripts, { seed: SEED + peers, numRuns: TOGETHER });
    await Promise.all(round.map(async (script, at) => attack(address, script, at < share * TOGETHER)));
    peers += TOGETHER;
  }
  return peers;
}

interface Outcome {
  readonly isRunning: boolean;
  readonly growsModestly: boolean;
  /** Lines of the log that no peer should bring about. */
  readonly faults: string[];
}

const UNHURT: Outcome = { isRunning: true, growsModestly: true, faults: [] };

/** `share`: of the peers, how many speak through TLS. */
async function outcome(
  server: RunningServer,
  address: ServerAddress,
  bytes: fc.Arbitrary<Buffer>,
  share = 0,
): Promise<Outcome> {
  const scripts = scriptsOf(bytes);
  await lean(address, scripts, share, WARM_UP_SECONDS);
  const before = anonymousBytes(server);
  const peers = await lean(address, scripts, share, SECONDS);
  const growth = anonymousBytes(server) - before;
  console.log(`${peers} peers; memory ${(before / 1e6).toFixed(1)} MB and ${(growth / 1e6).toFixed(1)} MB more`);
  return {
    isRunning: !server.exited,
    growsModestly: growth < GROWTH_BYTES_MAX,
    faults: server.log.split('\n').filter((line) => /\[FTL\]|Uncaught|^ +at /.test(line)),
  };
}

function anonymousBytes({ pid }: RunningServer): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

async function servesClients(server: RunningServer): Promise<void> {
  const client = await dial(server.address());
  await client.line();
  client.send(`${GREETING}SUB a 1\r\nPUB a 2\r\nhi\r\n`);
  await client.expect('MSG a 1 2\r\nhi\r\n');
  await client.close();
}

describe('a port that anything is sent to', () => {
  test('of clients', { timeout: 120_000 + SECONDS * 1000 }, async () => {
    const server = await start('');
    expect(await outcome(server, server.address(), hostileBytes)).toEqual(UNHURT);
    await servesClients(server);
  });

  test('of clients with TLS, before, in and after the handshake', { timeout: 120_000 + SECONDS * 1000 }, async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const { certFile, keyFile } = authority.issueServer();
    const server = await start(`tls { cert_file: "${certFile}", key_file: "${keyFile}", timeout: 1 }`);
    const bytes = fc.oneof(hostileBytes, mistakenHello(await clientHello()));
    expect(await outcome(server, server.address(), bytes, 0.3)).toEqual(UNHURT);
    const client = await dialTls(server.address(), { authority });
    client.send(`${GREETING}SUB a 1\r\nPUB a 2\r\nhi\r\n`);
    await client.sees('MSG a 1 2\r\nhi\r\n');
  });

  test('of monitoring', { timeout: 120_000 + SECONDS * 1000 }, async () => {
    const server = await start('http: "127.0.0.1:-1"');
    const address = await server.listening('monitor');
    expect(await outcome(server, address, hostileRequests)).toEqual(UNHURT);
    const { status } = await fetch(`http://${address.host}:${address.port}/healthz`);
    expect(status).toBe(200);
    await servesClients(server);
  });
});
