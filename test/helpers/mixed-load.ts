/**
 * All that is usually done with JetStream, at the same time, on a server that may go at any moment: what is done, by whom,
 * and whether what is there afterwards agrees with it. It does not know whether its world is a simulated one.
 *
 *     set up ─► begin ─► (server goes and comes) ─► audit ─► begin … ─► finish ─► isDone ─► audit ─► expectAllSeen
 */
import { BATCH_CONFIG, BATCH_STREAM, LoadBatches } from './load-batches.ts';
import { GENERATIONS_STREAM, LoadGenerations } from './load-generations.ts';
import { BUCKET, BUCKET_CONFIG, LoadKeys } from './load-keys.ts';
import { type Held, LoadLedger, type LoadConsumer, type LoadStream } from './load-ledger.ts';
import { LoadLink, type LoadSite } from './load-link.ts';
import { LoadPublisher, type PublisherOptions } from './load-publisher.ts';
import { readStream } from './load-reader.ts';
import { LoadRemover } from './load-remover.ts';
import { LoadWorker } from './load-worker.ts';

const STREAMS: readonly LoadStream[] = [
  {
    name: 'LOG',
    retention: 'limits',
    kinds: ['a', 'b', 'c'],
    consumers: [
      { name: 'log-pull', kinds: [], isPush: false },
      { name: 'log-push', kinds: ['a', 'b'], isPush: true },
    ],
  },
  {
    name: 'QUEUE',
    retention: 'workqueue',
    kinds: ['a', 'b'],
    consumers: [
      { name: 'queue-a', kinds: ['a'], isPush: false },
      { name: 'queue-b', kinds: ['b'], isPush: true },
    ],
  },
  {
    name: 'WANTED',
    retention: 'interest',
    kinds: ['a', 'b', 'c'],
    consumers: [
      { name: 'wanted-a', kinds: ['a'], isPush: false },
      { name: 'wanted-ab', kinds: ['a', 'b'], isPush: false },
    ],
  },
];

export interface MixedLoadOptions extends PublisherOptions {
  readonly publishers: number;
  readonly workers: number;
  /** Messages that a worker asks for at once. */
  readonly pullBatchMax: number;
  readonly ackWaitMs: number;
  /** The LOG is purged down to about so many. */
  readonly keptMessages: number;
}

interface Stoppable {
  stop(): void;
}

export class MixedLoad {
  readonly ledgers: readonly LoadLedger[] = STREAMS.map((stream) => new LoadLedger(stream));
  readonly keys: LoadKeys = new LoadKeys();
  readonly generations: LoadGenerations = new LoadGenerations();
  readonly batches: LoadBatches = new LoadBatches();
  private readonly options: MixedLoadOptions;
  private publishers: LoadPublisher[] = [];
  private workers: LoadWorker[] = [];
  private others: Stoppable[] = [];
  private isDrained = false;
  /** What there is still to do while everything is worked off, for people. */
  waitsFor = '';

  constructor(options: MixedLoadOptions) {
    this.options = options;
  }

  // ── what is done ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Makes all streams and consumers. */
  setUp(site: LoadSite, done: () => void): void {
    const requests: [string, object][] = [];
    for (const stream of STREAMS) {
      requests.push([`STREAM.CREATE.${stream.name}`, configOf(stream)]);
      for (const consumer of stream.consumers) requests.push(this.consumerRequest(stream, consumer));
    }
    requests.push([`STREAM.CREATE.${BUCKET}`, BUCKET_CONFIG], [`STREAM.CREATE.${BATCH_STREAM}`, BATCH_CONFIG]);
    const link = new LoadLink(site, 'setup');
    const next = (at: number): void => {
      const [api, body] = requests[at] ?? ['', {}];
      if (api === '') {
        done();
        return;
      }
      link.request(api, body, ({ error }) => {
        if (error !== undefined) throw new Error(`${api}: ${JSON.stringify(error)}`);
        next(at + 1);
      });
    };
    next(0);
  }

  /** Everybody begins, or goes on where an earlier life ended. */
  begin(site: LoadSite): void {
    const { publishers, workers, pullBatchMax, keptMessages } = this.options;
    this.publishers = [];
    this.workers = [];
    for (const ledger of this.ledgers) {
      const { name, consumers, retention } = ledger.stream;
      const options = { ...this.options, ttlChance: retention === 'limits' ? this.options.ttlChance : 0 };
      for (let i = 0; i < publishers; i++) {
        const link = new LoadLink(site, `${name}-p${i}`);
        this.publishers.push(new LoadPublisher(link, ledger, `p${i}`, options));
      }
      for (const consumer of consumers) {
        for (let i = 0; i < (consumer.isPush ? 1 : workers); i++) {
          this.workers.push(
            new LoadWorker(new LoadLink(site, `${consumer.name}-${i}`), ledger, consumer, pullBatchMax),
          );
        }
      }
    }
    const remover = new LoadRemover(new LoadLink(site, 'remover'), this.ledgers[0] as LoadLedger, keptMessages);
    this.others = [remover, this.keys, this.generations, this.batches];
    for (const each of [...this.workers, ...this.publishers]) each.begin();
    remover.begin();
    this.keys.begin(new LoadLink(site, 'keys'));
    this.generations.begin(new LoadLink(site, 'generations'));
    this.batches.begin(new LoadLink(site, 'batches'));
  }

  /** Nothing new is begun; what is there is worked off. */
  finish(site: LoadSite): void {
    for (const each of [...this.publishers, ...this.others]) each.stop();
    for (const each of this.workers) each.settle();
    const link = new LoadLink(site, 'drain');
    const names = STREAMS.flatMap(({ name, consumers }) => consumers.map((each) => `${name}.${each.name}`));
    const look = (at: number): void => {
      const name = names[at];
      if (name === undefined) {
        this.isDrained = true;
        for (const each of this.workers) each.stop();
        return;
      }
      link.request(`CONSUMER.INFO.${name}`, null, ({ num_pending, num_ack_pending }) => {
        const isDone = num_pending === 0 && num_ack_pending === 0 && this.publishers.every((each) => each.isDone);
        if (!isDone) this.waitsFor = `${name}: ${num_pending} pending, ${num_ack_pending} delivered`;
        link.after(20, () => look(isDone ? at + 1 : 0));
      });
    };
    look(0);
  }

  get isDone(): boolean {
    return this.isDrained && this.keys.isDone && this.batches.isDone;
  }

  get confirmedCount(): number {
    return this.ledgers.reduce((sum, { confirmedCount }) => sum + confirmedCount, 0);
  }

  /** The least that any stream got acknowledged and confirmed: whether all of the load is at work. */
  get progress(): number {
    return Math.min(...this.ledgers.flatMap((each) => [each.acknowledgedCount, each.confirmedCount]));
  }

  /** What was done so far, for people. */
  get summary(): string {
    const acknowledged = this.ledgers.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0);
    const { keys, generations, confirmedCount } = this;
    const stored = `${acknowledged} messages stored, ${confirmedCount} confirmed as done`;
    return `${stored}, ${keys.changed} changes of keys, a stream made again ${generations.deletions} times`;
  }

  // ── what must be so ──────────────────────────────────────────────────────────────────────────────────────────────

  restarted(): void {
    for (const each of this.ledgers) each.restarted();
  }

  /** Reads all streams and compares. Nobody else is at work meanwhile; when settled, since a while. */
  audit(site: LoadSite, isSettled: boolean, done: () => void): void {
    const link = new LoadLink(site, isSettled ? 'last-audit' : 'audit');
    const names = [...STREAMS.map(({ name }) => name), BUCKET, GENERATIONS_STREAM, BATCH_STREAM];
    const next = (at: number): void => {
      const name = names[at];
      if (name === undefined) {
        done();
        return;
      }
      readStream(link, name, (held, lastSequence) => {
        this.check(name, held, lastSequence, site.wallMs(), isSettled);
        next(at + 1);
      });
    };
    next(0);
  }

  private check(name: string, held: readonly Held[] | null, last: number, nowMs: number, isSettled: boolean): void {
    if (name === BUCKET) this.keys.check(held);
    else if (name === GENERATIONS_STREAM) this.generations.check(held);
    else if (name === BATCH_STREAM) this.batches.check(held);
    else {
      const ledger = this.ledgers.find(({ stream }) => stream.name === name) as LoadLedger;
      if (held === null) ledger.faults.push(`${name} is gone`);
      else ledger.check(held, last, nowMs, isSettled);
    }
  }

  /** After the last audit: every consumer got what it had to get. */
  checkAllSeen(site: LoadSite): void {
    for (const each of this.ledgers) each.checkSeen(site.wallMs());
  }

  get faults(): string[] {
    return [...this.ledgers, this.keys, this.generations, this.batches].flatMap(({ faults }) => faults);
  }

  private consumerRequest({ name: stream, kinds }: LoadStream, consumer: LoadConsumer): [string, object] {
    const wanted = consumer.kinds.length === 0 ? kinds : consumer.kinds;
    const config = {
      durable_name: consumer.name,
      ack_policy: 'explicit',
      ack_wait: this.options.ackWaitMs * 1e6,
      filter_subjects: wanted.map((kind) => `${stream.toLowerCase()}.${kind}`),
      ...(consumer.isPush && { deliver_subject: `D.${consumer.name}`, flow_control: true, idle_heartbeat: 1e9 }),
    };
    return [`CONSUMER.DURABLE.CREATE.${stream}.${consumer.name}`, { stream_name: stream, config }];
  }
}

function configOf({ name, retention }: LoadStream): object {
  const subjects = [`${name.toLowerCase()}.>`];
  return { name, subjects, retention, allow_direct: true, ...(retention === 'limits' && { allow_msg_ttl: true }) };
}
