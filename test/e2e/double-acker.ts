/**
 * A worker with a durable pull consumer that acknowledges each message and waits until the server has confirmed that
 * (a double ack). What was confirmed must never come again, whatever happens to the server; what it received and could
 * not get confirmed comes again after the ack wait.
 */
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Gateway } from './gateway.ts';
import { unlessLost, workThroughLosses } from './site-connection.ts';

const ACK_WAIT_MS = 4_000;
const CONFIRMATION_MS = 15_000;
const FETCH_MESSAGES = 64;
const FETCH_MS = 1_000;

export class DoubleAcker {
  readonly #stream: string;
  readonly #name: string;
  /** Sequences whose acknowledgement the server has confirmed. */
  readonly confirmed: Set<number> = new Set();
  /** Sequences that came although that was so. */
  readonly returned: number[] = [];
  /** Messages that came for a second time or more. */
  redelivered = 0;
  #isStopping = false;

  constructor(stream: string, name: string) {
    this.#stream = stream;
    this.#name = name;
  }

  /**
   * Works until `finish` is called and everything in the stream is acknowledged: what was confirmed, and what a kill kept
   * from being confirmed.
   */
  async run(gateway: Gateway): Promise<void> {
    await workThroughLosses(gateway, async (connection) => this.#workOn(connection));
  }

  /** Nothing further is published: it ends when it has acknowledged what is there. */
  finish(): void {
    this.#isStopping = true;
  }

  async #workOn(connection: NatsConnection): Promise<void> {
    const consumer = await this.#consumer(connection);
    do {
      await this.#acknowledgeSome(connection, consumer);
    } while (!this.#isStopping || !(await isDone(consumer)));
  }

  async #consumer(connection: NatsConnection): Promise<Consumer> {
    const manager = await jetstreamManager(connection);
    await manager.consumers.add(this.#stream, {
      durable_name: this.#name,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_MS * 1_000_000,
    });
    return jetstream(connection).consumers.get(this.#stream, this.#name);
  }

  async #acknowledgeSome(connection: NatsConnection, consumer: Consumer): Promise<void> {
    const acknowledged: Promise<void>[] = [];
    const fetch = async (): Promise<void> => {
      const messages = await consumer.fetch({ max_messages: FETCH_MESSAGES, expires: FETCH_MS });
      for await (const message of messages) {
        // What was received and not handed out yet can't be acknowledged any more.
        if (connection.isClosed()) return;
        acknowledged.push(this.#acknowledge(message));
      }
    };
    try {
      await unlessLost(connection, fetch());
    } finally {
      await unlessLost(connection, Promise.all(acknowledged));
    }
  }

  async #acknowledge(message: JsMsg): Promise<void> {
    if (message.redelivered) this.redelivered++;
    if (this.confirmed.has(message.seq)) this.returned.push(message.seq);
    await message.ackAck({ timeout: CONFIRMATION_MS });
    this.confirmed.add(message.seq);
  }
}

async function isDone(consumer: Consumer): Promise<boolean> {
  const { num_pending, num_ack_pending } = await consumer.info();
  return num_pending === 0 && num_ack_pending === 0;
}
