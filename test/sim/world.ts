/**
 * A simulated world with one petiole in it: the production server on a simulated machine, and clients on others. What
 * has to change here when the server's constructor does, changes here alone.
 */
import { defaultOptions } from '../../server/config/draft.ts';
import type { ServerOptions } from '../../server/config/options.ts';
import { ChunkPool } from '../../server/connection/chunk-pool.ts';
import { Log } from '../../server/io/log.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { Server } from '../../server/server.ts';
import type { Subscription } from '../../server/subject/subscription.ts';
import { SimulatedClient, type ClientOptions } from './simulated-client.ts';

const PORT = 4222;
const WITHIN_MS = 60_000;

export class CoreWorld {
  readonly world: SimulatedWorld;
  readonly machine: SimulatedMachine;
  readonly process: SimulatedProcess;
  readonly server: Server;
  readonly log: string[] = [];
  readonly clients: SimulatedClient[] = [];
  private readonly processes = new Map<SimulatedClient, SimulatedProcess>();
  /** The most bytes that were unsent at any time while the world was waited for. */
  unsentBytesMax = 0;

  constructor(seed: number, options: Partial<ServerOptions> = {}) {
    this.world = new SimulatedWorld(seed);
    this.machine = this.world.machine('petiole');
    this.process = this.machine.start();
    const { io } = this.process;
    const log = new Log((line) => this.log.push(line.trimEnd()), io.clock, io.host.processId, {
      debug: true,
      trace: false,
      time: true,
      utc: true,
    });
    const serverName = 'simulated';
    this.server = new Server(io, log, { ...defaultOptions(), serverName, port: PORT, ...options });
    // The pool that servers of a process share remembers earlier runs, and a seed must not depend on them.
    Object.assign(this.server.outbound, { pool: new ChunkPool() });
    let isReady = false;
    this.server.start((error) => {
      if (error !== null) throw error;
      isReady = true;
    });
    this.until(() => isReady, 'the server to be ready');
  }

  get random(): SeededRandom {
    return this.world.random;
  }

  /** A client on the machine; it dials at once. */
  client(machine: SimulatedMachine, name: string, options: Partial<ClientOptions> = {}): SimulatedClient {
    const process = machine.start();
    const client = new SimulatedClient(process.io, this.random.fork(`client ${name}`), name, options);
    client.dial({ host: this.machine.name, port: PORT });
    this.clients.push(client);
    this.processes.set(client, process);
    return client;
  }

  processOf(client: SimulatedClient): SimulatedProcess {
    return this.processes.get(client) as SimulatedProcess;
  }

  machineOf(client: SimulatedClient): SimulatedMachine {
    return this.processOf(client).machine;
  }

  until(condition: () => boolean, what: string, withinMs: number = WITHIN_MS): void {
    const { scheduler } = this.world;
    scheduler.runUntil(
      () => {
        this.unsentBytesMax = Math.max(this.unsentBytesMax, this.server.outbound.unsentBytes);
        return condition();
      },
      what,
      withinMs,
    );
  }

  /** Waits until the server has handled all that these clients sent, and they have all that it answered. */
  fence(clients: readonly SimulatedClient[]): void {
    for (const each of clients) each.ping();
    this.until(() => clients.every((each) => each.isClosed || each.isFenced), 'every PONG');
  }

  /** Shuts the server down; fails when anything of it is left. */
  close(): void {
    let isClosed = false;
    this.server.close(() => (isClosed = true));
    this.until(() => isClosed && this.clients.every((each) => each.isClosed), 'everything to close');
    const { scheduler, network } = this.world;
    const left = {
      clients: this.server.clients.size,
      unsentBytes: this.server.outbound.unsentBytes,
      subscriptions: clientSubscriptions(this.server).length,
      handles: network.liveHandles,
    };
    if (Object.values(left).some((count) => count !== 0)) throw scheduler.failure(`left over: ${JSON.stringify(left)}`);
  }
}

/** Those that clients made: the server has some of its own. */
export function clientSubscriptions(server: Server): Subscription[] {
  return [...server.globalAccount.sublist.subscriptions()].filter(({ sink }) => sink.sinkKind === 'client');
}
