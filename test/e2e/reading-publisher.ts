/**
 * A sensor that publishes readings to a stream on a gateway, numbered from 0 and with message ids. It has a window of
 * them in flight, goes on only when all of these are acknowledged, and publishes again, in order, what was not
 * acknowledged when its connection was lost. So all its readings must stand in the stream, each once, in the order of
 * their numbers.
 *
 *     window ─all acknowledged─► next window
 *        └────connection lost─► what is not acknowledged of it, on the next connection
 */
import { jetstream } from '@nats-io/jetstream';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from './gateway.ts';
import { workThroughLosses } from './site-connection.ts';

/** The first token of the readings' subjects; the second is the publisher's name. */
export const READINGS = 'readings';
const WINDOW_MESSAGES = 64;
const PAYLOAD_BYTES = 200;
/** One reading in so many is a large one. */
const LARGE_EVERY = 50;
const LARGE_BYTES = 40_000;
const ACKNOWLEDGEMENT_MS = 15_000;

export class ReadingPublisher {
  readonly name: string;
  /** What is acknowledged: the sequence in the stream by the reading's number, in the order of the acknowledgements. */
  readonly sequences: Map<number, number> = new Map();
  /** Acknowledgements that said that the reading was there already. */
  duplicates = 0;
  /** Connections lost. */
  losses = 0;
  /** Readings below this number have been published, at least once. */
  published = 0;
  readonly #intervalMs: number;
  /** Of the window, in order, what is not acknowledged. */
  #pending: number[] = [];
  #isStopping = false;

  /** A window begins no sooner than `intervalMs` after the one before. */
  constructor(name: string, intervalMs: number) {
    this.name = name;
    this.#intervalMs = intervalMs;
  }

  /** Publishes until `stop` is called and every reading is acknowledged. */
  async run(gateway: Gateway): Promise<void> {
    this.losses = await workThroughLosses(gateway, async (connection) => this.#publishOn(connection));
  }

  /** No further window is begun. */
  stop(): void {
    this.#isStopping = true;
  }

  async #publishOn(connection: NatsConnection): Promise<void> {
    const client = jetstream(connection);
    while (!this.#isStopping || this.#pending.length > 0) {
      const pause = delay(this.#intervalMs);
      if (this.#pending.length === 0) {
        this.#pending = Array.from({ length: WINDOW_MESSAGES }, (_, index) => this.published + index);
        this.published += WINDOW_MESSAGES;
      }
      await this.#publishPending(client);
      await pause;
    }
  }

  /** Readings are under way. */
  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  /** The numbers from `first` on that are acknowledged. */
  acknowledgedFrom(first: number): readonly number[] {
    return [...this.sequences.keys()].filter((number) => number >= first);
  }

  /** Throws when one of them failed; the others are done by then. */
  async #publishPending(client: JetStreamClient): Promise<void> {
    const outcomes = await Promise.allSettled(this.#pending.map(async (number) => this.#publish(client, number)));
    this.#pending = this.#pending.filter((number) => !this.sequences.has(number));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #publish(client: JetStreamClient, number: number): Promise<void> {
    const bytes = number % LARGE_EVERY === LARGE_EVERY - 1 ? LARGE_BYTES : PAYLOAD_BYTES;
    const payload = readingText(this.name, number).padEnd(bytes, '.');
    const options = { msgID: `${this.name}-${number}`, timeout: ACKNOWLEDGEMENT_MS };
    const { seq, duplicate } = await client.publish(`${READINGS}.${this.name}`, payload, options);
    this.sequences.set(number, seq);
    if (duplicate) this.duplicates++;
  }
}

export interface Reading {
  readonly publisher: string;
  readonly number: number;
}

function readingText(publisher: string, number: number): string {
  return `${publisher} ${number} `;
}

/** The reading in a payload. */
export function readingOf(payload: string): Reading {
  const [, publisher, number] = /^(\S+) (\d+) \.*$/.exec(payload) ?? [];
  if (publisher === undefined) throw new Error(`no reading: ${payload.slice(0, 100)}`);
  return { publisher, number: Number(number) };
}
