/**
 * A simulated machine with one petiole and one stream that takes batches. Its power can be cut: then it starts again on
 * what the disk kept.
 */
import type { Stream } from '../../jetstream/stream/stream.ts';
import { RecordView } from '../../jetstream/store/record.ts';
import { defaultOptions } from '../../server/config/draft.ts';
import type { JetStreamOptions } from '../../server/config/options.ts';
import { Log } from '../../server/io/log.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import * as jetstreamRoom from '../../server/jetstream-start.ts';
import { NO_ROOMS } from '../../server/rooms.ts';
import { Server } from '../../server/server.ts';
import { type BatchLedger, storedIn } from './batch-ledger.ts';
import { BatchPublisher } from './batch-publisher.ts';
import { SimulatedClient } from './simulated-client.ts';

const PORT = 4222;
const WITHIN_MS = 120_000;

export class BatchWorld {
  readonly world: SimulatedWorld;
  readonly machine: SimulatedMachine;
  readonly others: SimulatedMachine;
  readonly log: string[] = [];
  server: Server;
  private process: SimulatedProcess;
  private clientProcess: SimulatedProcess;
  private names = 0;
  private readonly jetstream: Partial<JetStreamOptions>;

  constructor(seed: number, jetstream: Partial<JetStreamOptions> = {}) {
    this.jetstream = jetstream;
    this.world = new SimulatedWorld(seed);
    this.machine = this.world.machine('petiole');
    this.others = this.world.machine('others');
    this.process = this.machine.start();
    this.clientProcess = this.others.start();
    this.server = this.startServer();
    this.createStream('S');
  }

  get stream(): Stream {
    const entry = this.server.jetstream?.accounts.get('$G')?.streams.get('S');
    if (entry === undefined) throw this.world.scheduler.failure('the stream is gone');
    return entry.stream;
  }

  /** Cuts the power and turns it on again. */
  restart(): void {
    this.machine.powerCut();
    this.clientProcess.kill();
    this.process = this.machine.start();
    this.clientProcess = this.others.start();
    this.server = this.startServer();
  }

  publisher(ledger: BatchLedger): BatchPublisher {
    const name = `p${++this.names}`;
    const random = this.world.random.fork(`publisher ${name}`);
    const { timers } = this.clientProcess.io;
    return new BatchPublisher(this.client(name), random, ledger, name, (ms, run) => timers.after(ms, run));
  }

  /** Fails as soon as anybody could see a part of a batch. */
  watch(): void {
    const { stream } = this;
    const view = new RecordView(Buffer.alloc(0));
    stream.observers.add({
      stored: (from, to) => {
        for (const [sequence, isFirst] of [
          [from, true],
          [to, false],
        ] as const) {
          if (stream.store.read(sequence, view) !== 'found') continue;
          const { id, position, count } = storedIn(view);
          const isEdge = isFirst ? position === 1 : position === count;
          if (!isEdge) throw this.world.scheduler.failure(`${id} is visible ${isFirst ? 'from' : 'up to'} ${position}`);
        }
      },
      removed: () => undefined,
      purged: () => undefined,
    });
  }

  until(condition: () => boolean, what: string): void {
    this.world.scheduler.runUntil(condition, what, WITHIN_MS);
  }

  /** Runs the callback among the clients, unless they are gone by then. */
  after(ms: number, run: () => void): void {
    this.clientProcess.io.timers.after(ms, run);
  }

  client(name: string): SimulatedClient {
    const client = new SimulatedClient(this.clientProcess.io, this.world.random.fork(`client ${name}`), name, {});
    client.dial({ host: this.machine.name, port: PORT });
    return client;
  }

  private startServer(): Server {
    const { io } = this.process;
    const format = { debug: true, trace: false, time: true, utc: true };
    const log = new Log((line) => this.log.push(line.trimEnd()), io.clock, io.host.processId, format);
    const options = defaultOptions();
    const jetstream = { ...options.jetstream, isEnabled: true, storeDirectory: '/data', ...this.jetstream };
    const rooms = { ...NO_ROOMS, jetstream: jetstreamRoom };
    const server = new Server(io, log, { ...options, serverName: 'simulated', port: PORT, jetstream }, rooms);
    let isReady = false;
    server.start((error) => {
      if (error !== null) throw error;
      isReady = true;
    });
    this.until(() => isReady, 'the server to be ready');
    return server;
  }

  /** A stream with this name and the subjects under its name in lower case. */
  createStream(name: string): void {
    const config = { name, subjects: [`${name.toLowerCase()}.>`], allow_atomic: true, allow_batched: true };
    this.request(`STREAM.CREATE.${name}`, JSON.stringify(config));
  }

  /** Asks the API; fails when it refuses. */
  request(subject: string, body: string): void {
    const client = this.client('asker');
    let answer = '';
    client.onMessage = ({ payload }) => (answer = payload.toString());
    client.subscribe('1', 'A');
    client.send(`PUB $JS.API.${subject} A ${body.length}\r\n${body}\r\n`);
    this.until(() => answer !== '', `an answer to ${subject}`);
    if (answer.includes('"error"')) throw this.world.scheduler.failure(answer);
    client.end();
  }
}
