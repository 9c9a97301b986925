/**
 * Consumers and power cuts: workers pull, acknowledge, refuse and forget messages while more are stored, the power goes
 * in the middle, and in the end every message was handled: none that was acknowledged, and confirmed, came again, and
 * none is left or stuck.
 */
import { describe, expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';
import type { ReceivedMessage, SimulatedClient } from './simulated-client.ts';
import { replayable, seedsFor } from './seeds.ts';

const CUTS = 3;
const MESSAGES_PER_LIFE = 60;
const WORKERS = 3;
const RUN_MS_MAX = 400;

describe('power cuts while messages are worked on', () => {
  it.each(seedsFor('consumer-power-cut'))('forget no confirmed acknowledgement and lose nothing (seed %i)', (seed) => {
    replayable(seed, () => {
      for (const retention of ['limits', 'workqueue'] as const) {
        const run = new Run(seed, retention);
        for (let cut = 0; cut < CUTS; cut++) {
          run.work();
          run.world.restart();
        }
        run.finish();
        expect(run.mistakes).toEqual([]);
      }
    });
  });
});

class Run {
  readonly world: BatchWorld;
  readonly mistakes: string[] = [];
  private readonly random: BatchWorld['world']['random'];
  /** Payloads whose storing was confirmed; those whose acknowledgement was; those delivered at all. */
  private readonly stored = new Set<string>();
  private readonly confirmed = new Set<string>();
  private readonly seen = new Set<string>();
  private published = 0;
  private isFinishing = false;
  private names = 0;

  constructor(seed: number, retention: 'limits' | 'workqueue') {
    this.world = new BatchWorld(seed);
    this.random = this.world.world.random.fork('workers');
    this.world.request('STREAM.CREATE.W', JSON.stringify({ name: 'W', subjects: ['w.>'], retention }));
    const config = { durable_name: 'C', ack_policy: 'explicit', ack_wait: 5e8, max_ack_pending: 20 };
    this.world.request('CONSUMER.DURABLE.CREATE.W.C', JSON.stringify({ stream_name: 'W', config }));
  }

  /** Some time of publishing and working; the power may go whenever it ends. */
  work(): void {
    this.publish(MESSAGES_PER_LIFE);
    for (let i = 0; i < WORKERS; i++) this.worker();
    const enough = this.confirmed.size + 5;
    this.world.until(() => this.confirmed.size >= enough, 'some work to be done');
    this.world.world.scheduler.runFor(this.random.fraction() * RUN_MS_MAX);
  }

  /** Everything that is left is acknowledged, and then nothing may be left. */
  finish(): void {
    this.isFinishing = true;
    this.worker();
    const consumer = this.entry.consumers.get('C');
    const isDone = (): boolean => consumer?.numPending === 0 && consumer.state.pending.size === 0;
    this.world.until(isDone, 'everything stored to be acknowledged');
    this.world.world.scheduler.runFor(2000);
    const { stream } = this.entry;
    for (const payload of this.stored)
      if (!this.seen.has(payload)) this.mistakes.push(`${payload} was never delivered`);
    const left = [consumer?.numPending, consumer?.state.pending.size, consumer?.state.ackFloor.stream];
    const expected = [0, 0, consumer?.state.deliveredStream];
    if (String(left) !== String(expected)) this.mistakes.push(`pending, unacknowledged, floor: ${String(left)}`);
    if (stream.config.retention === 'workqueue' && stream.store.messages > 0) {
      this.mistakes.push(`${stream.store.messages} messages are left in the work queue`);
    }
  }

  private get entry(): NonNullable<ReturnType<Run['find']>> {
    const found = this.find();
    if (found === undefined) throw this.world.world.scheduler.failure('the stream is gone');
    return found;
  }

  private find() {
    return this.world.server.jetstream?.accounts.get('$G')?.streams.get('W');
  }

  private publish(count: number): void {
    const client = this.world.client(`publisher ${++this.names}`);
    client.onMessage = ({ subject, payload }) => {
      if (payload.toString().includes('"seq"')) this.stored.add(subject.slice('P.'.length));
    };
    client.subscribe('1', 'P.*');
    for (let left = count; left > 0; left--) {
      const payload = `m${++this.published}`;
      client.send(`PUB w.x P.${payload} ${payload.length}\r\n${payload}\r\n`);
    }
  }

  /** Pulls a few messages at a time, for as long as its connection lives. */
  private worker(): void {
    const name = `worker${++this.names}`;
    const client = this.world.client(name);
    client.onMessage = (message) => this.heard(client, name, message);
    client.subscribe('1', `${name}.>`);
    this.pull(client, name);
  }

  private pull(client: SimulatedClient, name: string): void {
    const request = JSON.stringify({ batch: 1 + this.below(8), expires: 3e8 });
    client.send(`PUB $JS.API.CONSUMER.MSG.NEXT.W.C ${name}.pull ${request.length}\r\n${request}\r\n`);
    this.world.after(350, () => this.pull(client, name));
  }

  private heard(client: SimulatedClient, name: string, { subject, reply, payload }: ReceivedMessage): void {
    if (subject.startsWith(`${name}.done.`)) this.confirmed.add(subject.slice(`${name}.done.`.length));
    if (reply === '') return;
    const text = payload.toString();
    this.seen.add(text);
    if (this.confirmed.has(text)) this.mistakes.push(`${text} came again though it was acknowledged`);
    const choice = this.isFinishing ? 0 : this.below(10);
    const say = (what: string): void => client.send(`PUB ${reply} ${what.length}\r\n${what}\r\n`);
    if (choice < 6) {
      this.world.after(this.random.fraction() * 20, () => {
        client.send(`PUB ${reply} ${name}.done.${text} 4\r\n+ACK\r\n`);
      });
    } else if (choice === 6) say('-NAK');
    else if (choice === 7) say('-NAK {"delay":50000000}');
    else if (choice === 8) say('+WPI');
  }

  private below(count: number): number {
    return Math.floor(this.random.fraction() * count);
  }
}
