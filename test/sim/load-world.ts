/**
 * A simulated machine with one petiole under mixed load, whose power, process, disk and clock are in the hand of the test.
 * Its store has files so small that a few messages fill them.
 */
import type { JetStreamOptions } from '../../server/config/options.ts';
import { defaultOptions } from '../../server/config/draft.ts';
import { ChunkPool } from '../../server/connection/chunk-pool.ts';
import { Log } from '../../server/io/log.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import * as jetstreamRoom from '../../server/jetstream-start.ts';
import { NO_ROOMS, type Rooms } from '../../server/rooms.ts';
import { Server } from '../../server/server.ts';
import type { FileStore } from '../../jetstream/store/file-store.ts';
import type { StoreSizes } from '../../jetstream/store/store-sizes.ts';
import { flipInClosedBlock } from '../helpers/store-damage.ts';
import { FOLDER } from '../helpers/store-site.ts';
import type { LoadSite } from '../helpers/load-link.ts';
import { SimulatedClient } from './simulated-client.ts';

const PORT = 4222;
const WITHIN_MS = 120_000;
const ROOMY_BYTES = 2 ** 34;

/** How often at most each goes wrong while the disk is in trouble. */
const RATES_MAX = { writeError: 0.3, syncError: 0.3, shortWrite: 0.3, readError: 0.3, slowSync: 0.2 };

export class LoadWorld {
  readonly world: SimulatedWorld;
  readonly machine: SimulatedMachine;
  readonly log: string[] = [];
  server: Server | null = null;
  private readonly others: SimulatedMachine;
  private readonly rooms: Rooms;
  private readonly jetstream: Partial<JetStreamOptions>;
  private process: SimulatedProcess | null = null;
  private clientProcess: SimulatedProcess;
  private life = 0;

  constructor(seed: number, sizes: StoreSizes, jetstream: Partial<JetStreamOptions> = {}) {
    this.jetstream = jetstream;
    this.world = new SimulatedWorld(seed);
    this.machine = this.world.machine('petiole');
    this.others = this.world.machine('others');
    this.clientProcess = this.others.start();
    const { makeJetStream } = jetstreamRoom;
    const room = {
      ...jetstreamRoom,
      makeJetStream: (site: Parameters<typeof makeJetStream>[0]) => makeJetStream(site, sizes),
    };
    this.rooms = { ...NO_ROOMS, jetstream: room };
  }

  get random(): SeededRandom {
    return this.world.random;
  }

  /** Starts the server on a sound disk; the actors of this life. */
  start(): LoadSite {
    this.heal();
    this.clientProcess = this.others.start();
    this.process = this.machine.start();
    const { io } = this.process;
    const format = { debug: true, trace: false, time: true, utc: true };
    const log = new Log((line) => this.log.push(line.trimEnd()), io.clock, io.host.processId, format);
    const options = defaultOptions();
    const jetstream = { ...options.jetstream, isEnabled: true, storeDirectory: FOLDER, ...this.jetstream };
    this.server = new Server(io, log, { ...options, serverName: 'simulated', port: PORT, jetstream }, this.rooms);
    // The pool that servers of a process share remembers earlier runs, and a seed must not depend on them.
    Object.assign(this.server.outbound, { pool: new ChunkPool() });
    let isReady = false;
    this.server.start((error) => {
      if (error !== null) throw error;
      isReady = true;
    });
    this.until(() => isReady, 'the server to be ready');
    return this.site(++this.life);
  }

  /** The power goes, or only the process. */
  end(): void {
    if (this.random.chance(0.3)) this.process?.kill();
    else this.machine.powerCut(this.random.pick(['none', 'all', 'seeded', 'seeded']));
    this.clientProcess.kill();
  }

  /** Something of the disk's many faults, at least one of them. */
  trouble(): void {
    const { random } = this;
    const { disk } = this.machine;
    const { rates } = disk.faults;
    for (const fault of Object.keys(RATES_MAX) as (keyof typeof RATES_MAX)[]) {
      rates[fault] = random.chance(0.4) ? random.fraction() * RATES_MAX[fault] : 0;
    }
    if (random.chance(0.3)) disk.capacityBytes = ROOMY_BYTES - disk.freeBytes + random.below(100_000);
  }

  heal(): void {
    const { disk } = this.machine;
    for (const fault of Object.keys(RATES_MAX) as (keyof typeof RATES_MAX)[]) disk.faults.rates[fault] = 0;
    disk.capacityBytes = ROOMY_BYTES;
  }

  /** Flips a bit in a cold block of one of these streams, while nothing runs; what that may cost, or `null`. */
  flip(streams: readonly string[]): { stream: string; sequence: number } | null {
    const numbers = new Map<number, string>();
    for (const [name, { stream }] of this.server?.jetstream?.accounts.get('$G')?.streams ?? []) {
      if (streams.includes(name)) numbers.set((stream.store as FileStore).number, name);
    }
    this.heal();
    const view = this.machine.start();
    const cost = flipInClosedBlock(this.machine.disk, view.io.disk, this.random, (asset) => numbers.has(asset));
    view.kill();
    return cost === null ? null : { stream: numbers.get(cost.asset) as string, sequence: cost.sequence };
  }

  until(condition: () => boolean, what: string): void {
    this.world.scheduler.runUntil(condition, what, WITHIN_MS);
  }

  runFor(ms: number): void {
    this.world.scheduler.runFor(ms);
  }

  private site(life: number): LoadSite {
    const { clientProcess } = this;
    const random = this.random.fork(`life ${life}`);
    return {
      random,
      client: (name) => {
        const client = new SimulatedClient(clientProcess.io, random.fork(`client ${name}`), name, {});
        client.dial({ host: this.machine.name, port: PORT });
        return client;
      },
      after: (ms, run) => void clientProcess.io.timers.after(ms, run),
      wallMs: () => this.machine.clock.wallMs(),
    };
  }
}
