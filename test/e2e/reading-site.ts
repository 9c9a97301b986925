/**
 * A gateway with all that works on it: a stream of readings, the publishers that fill it, and a worker that acknowledges
 * what they publish. Kills go by without their help; whether all survived is found out at the end.
 */
import { jetstreamManager } from '@nats-io/jetstream';
/* oxlint-disable vitest/no-standalone-expect -- its expectations run inside of tests */
import { expect } from 'vitest';
import { until } from '../helpers/until.ts';
import { DoubleAcker } from './double-acker.ts';
import type { Gateway } from './gateway.ts';
import { READINGS, ReadingPublisher } from './reading-publisher.ts';
import { connectTo } from './site-connection.ts';
import { expectAllReadings } from './stream-audit.ts';

const STREAM = 'READINGS';
const PUBLISHERS = ['pressure', 'temperature', 'vibration'];
const PROGRESS_MS = 15_000;

export class ReadingSite {
  readonly gateway: Gateway;
  readonly publishers: readonly ReadingPublisher[];
  readonly worker: DoubleAcker = new DoubleAcker(STREAM, 'worker');
  kills = 0;
  #publishing: Promise<unknown> = Promise.resolve();
  #working: Promise<unknown> = Promise.resolve();

  /** Each publisher begins a window of readings no sooner than `intervalMs` after the one before. */
  constructor(gateway: Gateway, intervalMs: number) {
    this.gateway = gateway;
    this.publishers = PUBLISHERS.map((name) => new ReadingPublisher(name, intervalMs));
  }

  async start(): Promise<void> {
    const connection = await connectTo(this.gateway);
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: STREAM, subjects: [`${READINGS}.*`] });
    await connection.close();
    this.#publishing = Promise.all(this.publishers.map(async (publisher) => publisher.run(this.gateway)));
    this.#working = this.worker.run(this.gateway);
  }

  /** Waits until each publisher has so many more readings acknowledged, and the worker something confirmed. */
  async progress(readings: number): Promise<void> {
    const wanted = this.publishers.map((publisher) => ({ publisher, size: publisher.sequences.size + readings }));
    const confirmed = this.worker.confirmed.size;
    await until(
      () =>
        wanted.every(({ publisher, size }) => publisher.sequences.size >= size) &&
        this.worker.confirmed.size > confirmed,
      'the publishers and the worker to get on',
      PROGRESS_MS,
    );
  }

  /** Kills the gateway while readings are on their way to its disk, and starts it again. */
  async kill(): Promise<void> {
    await until(() => this.publishers.some(({ isWaiting }) => isWaiting), 'a publisher to publish', PROGRESS_MS);
    await this.gateway.kill();
    this.kills++;
    await this.gateway.start();
  }

  /** Lets everybody finish, then expects that nothing was lost, doubled, disordered or brought back. */
  async expectNothingLost(): Promise<void> {
    for (const publisher of this.publishers) publisher.stop();
    await this.#publishing;
    this.worker.finish();
    await this.#working;
    const connection = await connectTo(this.gateway);
    await expectAllReadings(connection, STREAM, this.publishers);
    await connection.close();
    expect(this.worker.returned).toEqual([]);
    // The kills were felt.
    expect(this.publishers.map(({ losses }) => losses)).toEqual(this.publishers.map(() => this.kills));
  }

  /** What happened, for people. */
  get summary(): string {
    const readings = this.publishers.reduce((sum, { published }) => sum + published, 0);
    const duplicates = this.publishers.reduce((sum, publisher) => sum + publisher.duplicates, 0);
    const { redelivered } = this.worker;
    return `${readings} readings, ${this.kills} kills, ${duplicates} already there when retried, ${redelivered} redelivered`;
  }
}
