/** Clients over WebSocket, on nats-server and petiole alike. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, wsconnect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';

const OPEN = 'websocket { listen: "127.0.0.1:-1", no_tls: true }';

async function connectTo(server: RunningServer, options: object = {}): Promise<NatsConnection> {
  const { port } = await server.listening('websocket');
  const connection = await wsconnect({ servers: `ws://127.0.0.1:${port}`, ...options });
  onTestFinished(async () => {
    await connection.close();
  });
  return connection;
}

describeTargets('a client of nats.js over WebSocket', (target) => {
  test('publishes, subscribes and asks', async () => {
    const server = await serve(target, OPEN);
    const connection = await connectTo(server);
    connection.subscribe('service', { callback: (_, message) => void message.respond(`${message.string()}!`) });
    const plain = await clientOf(server);
    plain.send('SUB from.web 1\r\nPING\r\n');
    await plain.expect('PONG\r\n');
    connection.publish('from.web', 'hello');
    await plain.expect('MSG from.web 1 5\r\nhello\r\n');
    expect((await connection.request('service', 'echo')).string()).toBe('echo!');
  });

  test('carries the largest payload both ways', async () => {
    const server = await serve(target, OPEN);
    const connection = await connectTo(server);
    const payload = Buffer.alloc(1_048_576, 'x');
    const subscription = connection.subscribe('large', { max: 1 });
    connection.publish('large', payload);
    for await (const message of subscription) expect(message.data.length).toBe(payload.length);
  });

  test('uses streams', async () => {
    const server = await serve(target, `${OPEN}\njetstream { store_dir: "./store" }`);
    const connection = await connectTo(server);
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: 'S', subjects: ['s.>'] });
    const { seq } = await jetstream(connection).publish('s.a', 'kept');
    expect(seq).toBe(1);
    expect((await manager.streams.getMessage('S', { seq: 1 }))?.string()).toBe('kept');
  });
});
