/**
 * Whoever has not authenticated costs next to nothing and disturbs nobody, however many they are and however little,
 * slowly or wrongly they speak.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial, type ServerAddress, type WireClient } from '../helpers/wire-client.ts';
import { builtPetiole } from './built-binary.ts';
import { Flood } from './flood.ts';

const CONFIG = `
http: "127.0.0.1:-1"
authorization { user: u, password: p, timeout: 30 }
`;
const TIMEOUT = "-ERR 'Authentication Timeout'";
const VIOLATION = "-ERR 'Authorization Violation'";

const SILENT = 5000;
const DRIPPING = 3000;
const LONG = 2000;
/** All the others are given up. */
const LONG_KEPT = 64;
const GIANTS = 200;
const LONG_LINE = `CONNECT {"verbose":false,"name":"${'n'.repeat(3900)}`;
const GIANT = 'PUB a 1073741824\r\nbeginning';
const DRIPPED_LINE = 'CONNECT {"user":"u"';

/** Together, as long as they are there; and while all of them are sent away, and remembered for monitoring. */
const COST_BYTES_MAX = 20e6;
const FAREWELL_BYTES_MAX = 30e6;
/** On a machine that is also busy with ten thousand clients. */
const ROUND_TRIP_MS_MAX = 2000;
const WITHIN_MS = 60_000;

describe('ten thousand clients that do not authenticate', () => {
  it('cost at most 20 MB together, are told why they have to go, and disturb nobody', async () => {
    const server = await startServer(builtPetiole(), { config: CONFIG });
    const address = server.address();
    const warmUp = new Flood(address);
    const flood = new Flood(address);
    const bystander = new Bystander(await login(address));
    let memory: MemoryWatch | null = null;
    try {
      await warmUp.open(600, '');
      await warmUp.open(200, DRIPPED_LINE);
      await warmUp.open(400, LONG_LINE);
      await warmUp.open(GIANTS, GIANT);
      warmUp.close();
      await until(() => warmUp.counts.open === 0, 'the first ones to be gone');
      await delay(1000);
      memory = new MemoryWatch(server.pid);
      bystander.start();

      await flood.open(LONG, LONG_LINE);
      await flood.open(SILENT, '');
      await flood.open(DRIPPING, '');
      flood.drip(LONG + SILENT, DRIPPED_LINE);
      await flood.open(GIANTS, GIANT);
      await until(() => flood.errors.get(VIOLATION) === GIANTS, 'the giants to be refused', WITHIN_MS);
      await delay(4000);
      // Of long lines only so many are kept; nobody else has to go before the time.
      expect(flood.counts.open).toBe(SILENT + DRIPPING + LONG_KEPT);

      const costBytes = memory.most;
      await until(() => flood.counts.open === 0, 'all of them to be sent away', WITHIN_MS);
      expect(Object.fromEntries(flood.errors)).toEqual({ [TIMEOUT]: SILENT + DRIPPING + LONG, [VIOLATION]: GIANTS });
      const { roundTrips, slowestMs } = await bystander.stop();
      const farewellBytes = memory.stop();
      console.log(
        `10,000 cost ${(costBytes / 1e6).toFixed(1)} MB, sending them away up to ${(farewellBytes / 1e6).toFixed(1)} MB; ` +
          `${roundTrips} round trips of a bystander, the slowest ${slowestMs.toFixed(0)} ms`,
      );
      expect(costBytes).toBeLessThan(COST_BYTES_MAX);
      expect(farewellBytes).toBeLessThan(FAREWELL_BYTES_MAX);
      expect(roundTrips).toBeGreaterThan(100);
      expect(slowestMs).toBeLessThan(ROUND_TRIP_MS_MAX);
      expect(await closedReasons(await server.listening('monitor'))).toEqual(['Authentication Timeout']);
      const late = await login(address);
      await late.close();
    } finally {
      memory?.stop();
      warmUp.close();
      flood.close();
      await bystander.close();
      await server.stop();
    }
  });
});

/** The most memory of its own that a process has above what it had at first. */
class MemoryWatch {
  most = 0;
  private readonly pid: number;
  private readonly before: number;
  private readonly timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.pid = pid;
    this.before = this.anonymousBytes();
    this.timer = setInterval(() => {
      this.most = Math.max(this.most, this.anonymousBytes() - this.before);
    }, 50);
  }

  stop(): number {
    clearInterval(this.timer);
    return this.most;
  }

  private anonymousBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024;
  }
}

/** Somebody who authenticated, and sends to itself, one message after the other. */
class Bystander {
  private readonly client: WireClient;
  private running: Promise<{ roundTrips: number; slowestMs: number }> | null = null;
  private isStopping = false;

  constructor(client: WireClient) {
    this.client = client;
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<{ roundTrips: number; slowestMs: number }> {
    this.isStopping = true;
    return (await this.running) ?? { roundTrips: 0, slowestMs: 0 };
  }

  async close(): Promise<void> {
    this.isStopping = true;
    await this.client.close();
  }

  private async run(): Promise<{ roundTrips: number; slowestMs: number }> {
    let roundTrips = 0;
    let slowestMs = 0;
    this.client.send('SUB here 1\r\n');
    while (!this.isStopping) {
      const before = performance.now();
      this.client.send('PUB here 2\r\nhi\r\n');
      await this.client.expect('MSG here 1 2\r\nhi\r\n', WITHIN_MS);
      slowestMs = Math.max(slowestMs, performance.now() - before);
      roundTrips++;
      await delay(20);
    }
    return { roundTrips, slowestMs };
  }
}

async function login(address: ServerAddress): Promise<WireClient> {
  const client = await dial(address);
  await client.line();
  client.send('CONNECT {"verbose":false,"user":"u","pass":"p"}\r\n');
  await client.quiet();
  return client;
}

/** The reasons for which the connections that monitoring shows first were closed. */
async function closedReasons({ host, port }: ServerAddress): Promise<string[]> {
  const answer = await fetch(`http://${host}:${port}/connz?state=closed&sort=stop&limit=1000`);
  const { connections } = (await answer.json()) as { connections: { reason: string }[] };
  return [...new Set(connections.map(({ reason }) => reason))];
}
