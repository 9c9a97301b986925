/**
 * A built petiole under the mixed load, which is killed again and again: each start is a life, with connections, timers
 * and randomness of its own. The actors are those of the simulation, on the real network.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { realIo } from '../../server/io/real-io.ts';
import { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { LoadSite } from '../helpers/load-link.ts';
import { until } from '../helpers/until.ts';
import { SimulatedClient } from '../sim/simulated-client.ts';
import type { Gateway } from './gateway.ts';

const WORK_MS = 60_000;

export class KilledSite {
  readonly random: SeededRandom;
  readonly gateway: Gateway;
  /** Lives that are over. */
  ends = 0;
  private readonly io = realIo();
  private clients: SimulatedClient[] = [];

  constructor(gateway: Gateway, seed: number) {
    this.gateway = gateway;
    this.random = new SeededRandom(seed);
  }

  /** The actors' world in the life that the gateway has now. */
  async life(): Promise<LoadSite> {
    const [host = '', port = ''] = (await this.gateway.address()).split(':');
    const { io } = this;
    const random = this.random.fork(`life ${this.ends}`);
    const clients: SimulatedClient[] = [];
    this.clients = clients;
    return {
      random,
      client: (name) => {
        const client = new SimulatedClient(io, random.fork(`client ${name}`), name, {});
        client.dial({ host, port: Number(port) });
        clients.push(client);
        return client;
      },
      after: (ms, run) => {
        // With the life its timers are gone.
        io.timers.after(ms, () => {
          if (this.clients === clients) run();
        });
      },
      wallMs: () => io.clock.wallMs(),
    };
  }

  /** Runs what calls back when it is done. */
  async whenDone(work: (done: () => void) => void, what: string): Promise<void> {
    let isDone = false;
    work(() => (isDone = true));
    await until(() => isDone, what, WORK_MS);
  }

  /** Kills the gateway within so many milliseconds, or sometimes stops it, and starts it again when everybody knows. */
  async end(withinMs: number, stopChance: number): Promise<void> {
    await delay(this.random.fraction() * withinMs);
    const { clients } = this;
    if (this.random.chance(stopChance)) await this.gateway.stop();
    else await this.gateway.kill();
    await until(
      () => clients.every(({ isClosed }) => isClosed),
      'connections to a server that is gone to close',
      WORK_MS,
    );
    this.clients = [];
    this.ends++;
    await this.gateway.start();
  }

  /** Everybody hangs up. */
  close(): void {
    for (const each of this.clients) each.destroy();
    this.clients = [];
  }
}
