/**
 * Work on a gateway that may be killed at any moment, with a connection of nats.js. A lost connection is not mended by
 * the client, which would send what it kept in an order of its own: the work is begun again on a new one.
 */
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Gateway } from './gateway.ts';

/** For a client to notice that its server is gone. */
const LOSS_MS = 5_000;

/** The client lost its connection: what was under way may have happened or not. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export async function connectTo(gateway: Gateway): Promise<NatsConnection> {
  for (;;) {
    const servers = await gateway.address();
    try {
      return await connect({ servers, reconnect: false });
    } catch (error) {
      // It was killed meanwhile; one that is up and refuses is a failure.
      if (gateway.isUp && servers === (await gateway.address())) throw error;
    }
  }
}

/**
 * Runs `work` on one connection after the other until it returns without having lost its own; how often it was lost.
 * A failure of the work on a connection that stands is thrown.
 */
export async function workThroughLosses(
  gateway: Gateway,
  work: (connection: NatsConnection) => Promise<void>,
): Promise<number> {
  for (let losses = 0; ; losses++) {
    const connection = await connectTo(gateway);
    try {
      await work(connection);
      return losses;
    } catch (error) {
      if (!(await isLost(connection))) throw error;
    } finally {
      await connection.close();
    }
  }
}

/** `promise`, or a `ConnectionLost` as soon as the connection is gone: then some requests of nats.js wait for their timeout. */
export async function unlessLost<T>(connection: NatsConnection, promise: Promise<T>): Promise<T> {
  const lost = connection.closed().then(() => {
    throw new ConnectionLost('the connection was lost');
  });
  return Promise.race([promise, lost]);
}

/** A request may fail a moment before the client knows why. */
async function isLost(connection: NatsConnection): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LOSS_MS);
  });
  const closed = connection.closed().then(() => true);
  return Promise.race([closed, waited]).finally(() => clearTimeout(timer));
}
