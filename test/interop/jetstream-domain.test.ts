import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../server/index.ts';

test('requests that name the domain are answered, messages and direct gets too', async () => {
  const server = await startServer({ jetstream: true, config: 'jetstream { domain: gateway }' });
  onTestFinished(() => server.close());
  const connection = await connect({ servers: server.url });
  onTestFinished(() => connection.close());
  const options = { domain: 'gateway' };
  const manager = await jetstreamManager(connection, options);
  await manager.streams.add({ name: 'READINGS', subjects: ['reading'], allow_direct: true });
  await manager.consumers.add('READINGS', { durable_name: 'HUB', ack_policy: 'explicit' });
  const js = jetstream(connection, options);
  await js.publish('reading', 'warm');
  const consumer = await js.consumers.get('READINGS', 'HUB');
  const message = await consumer.next({ expires: 1000 });
  expect(message?.string()).toBe('warm');
  expect(await message?.ackAck()).toBe(true);
  const direct = await manager.direct.getMessage('READINGS', { seq: 1 });
  expect(direct?.string()).toBe('warm');
  const nobody = connection.request('$JS.gateway.API.CONSUMER.MSG.NEXT.READINGS.ABSENT', '', { timeout: 1000 });
  await expect(nobody).rejects.toThrow('no responders');
});

test('messages for buckets that are put behind the API of the domain get there', async () => {
  const server = await startServer({ jetstream: true, config: 'jetstream { domain: gateway }' });
  onTestFinished(() => server.close());
  const connection = await connect({ servers: server.url });
  onTestFinished(() => connection.close());
  const manager = await jetstreamManager(connection, { domain: 'gateway' });
  await manager.streams.add({ name: 'KV_B', subjects: ['$KV.B.>'], allow_direct: true });
  await manager.streams.add({ name: 'OBJ_B', subjects: ['$OBJ.B.>'], allow_direct: true });
  const js = jetstream(connection, { domain: 'gateway' });
  expect(await js.publish('$JS.gateway.API.$KV.B.key', 'value')).toMatchObject({ stream: 'KV_B', domain: 'gateway' });
  expect(await js.publish('$JS.gateway.API.$OBJ.B.M.name', '{}')).toMatchObject({ stream: 'OBJ_B', seq: 1 });
  expect((await manager.direct.getMessage('KV_B', { last_by_subj: '$KV.B.key' }))?.string()).toBe('value');
});
