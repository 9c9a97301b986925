/** A subscriber at the hub who hears the readings that come over the link, and can tell when the link stands. */
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import type { RealHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';
import type { Gateway } from './gateway.ts';
import { readingOf, READINGS } from './reading-publisher.ts';
import { connectTo } from './site-connection.ts';

/** Heard at the hub, and in no stream: it has one token more than a reading's. */
const PROBE = `${READINGS}.probe`;
const LINK_MS = 20_000;

export class HubEar {
  /** Numbers heard, by publisher. */
  readonly #heard = new Map<string, Set<number>>();
  /** Readings that came for the first time after later ones of their publisher. */
  readonly disorder: string[] = [];
  readonly #last = new Map<string, number>();
  /** Numbers of the last probe that was sent, and the last that was heard. */
  #lastProbe = 0;
  #heardProbe = 0;

  listen(connection: NatsConnection): void {
    connection.subscribe(`${READINGS}.>`, {
      callback: (error, message) => {
        if (error !== null) throw error;
        if (!message.subject.startsWith(PROBE)) this.#hear(message.string());
        else this.#heardProbe = Number(message.subject.slice(PROBE.length + 1));
      },
    });
  }

  #hear(payload: string): void {
    const { publisher, number } = readingOf(payload);
    if (!this.#heard.has(publisher)) this.#heard.set(publisher, new Set());
    const numbers = this.#heard.get(publisher) as Set<number>;
    // What is not acknowledged is published again, and heard again.
    if (numbers.has(number)) return;
    numbers.add(number);
    const last = this.#last.get(publisher) ?? -1;
    if (number < last) this.disorder.push(`${publisher} ${number} after ${last}`);
    this.#last.set(publisher, number);
  }

  /** Those of the publisher's numbers that have not been heard, as ranges. */
  missing(publisher: string, numbers: readonly number[]): readonly string[] {
    const heard = this.#heard.get(publisher);
    const ranges: { first: number; last: number }[] = [];
    for (const number of numbers) {
      if (heard?.has(number) === true) continue;
      const range = ranges.at(-1);
      if (range?.last === number - 1) range.last = number;
      else ranges.push({ first: number, last: number });
    }
    return ranges.map(({ first, last }) => `${first}-${last}`);
  }

  /** Waits until something that is published on the gateway now is heard here. */
  async linkedTo(gateway: Gateway): Promise<void> {
    const connection = await connectTo(gateway);
    const first = this.#lastProbe + 1;
    await until(
      () => {
        if (this.#heardProbe >= first) return true;
        connection.publish(`${PROBE}.${++this.#lastProbe}`);
        return false;
      },
      'the hub to hear the gateway',
      LINK_MS,
    );
    await connection.close();
  }
}

/** Listens at the hub until the test has ended. */
export async function listenAt(hub: RealHub): Promise<HubEar> {
  const { host, port } = hub.server.address();
  const connection = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => connection.close());
  const ear = new HubEar();
  ear.listen(connection);
  await connection.flush();
  return ear;
}
