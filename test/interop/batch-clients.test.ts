/** Batches by the official client: what it says of them is the same with petiole as with nats-server. */
/* oxlint-disable vitest/no-conditional-tests, vitest/no-disabled-tests -- a missing server must show as skipped */
import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { startFastIngest } from '@nats-io/jetstream/internal';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  absenceIsFailure,
  isAbsent,
  natsServer,
  petiole,
  type RunningServer,
  startServer,
} from '../helpers/targets.ts';

for (const target of [natsServer(), petiole()]) {
  const absence = isAbsent(target) ? target.absent : null;
  describe.skipIf(absence !== null && !absenceIsFailure())(`${target.name} (${absence ?? 'present'})`, () => {
    let server: RunningServer;
    let connection: NatsConnection;
    let manager: JetStreamManager;
    let client: JetStreamClient;

    beforeAll(async () => {
      if (isAbsent(target)) throw new Error(target.absent);
      server = await startServer(target, { config: 'jetstream { store_dir: "store" }' });
      const { host, port } = server.address();
      connection = await connect({ servers: `${host}:${port}` });
      manager = await jetstreamManager(connection);
      client = jetstream(connection);
      await manager.streams.add({ name: 'S', subjects: ['s.>'], allow_atomic: true, allow_batched: true });
    });

    afterAll(async () => {
      await connection.close();
      await server.stop();
    });

    beforeEach(async () => {
      await manager.streams.purge('S');
    });

    async function storedMessages(): Promise<number> {
      const { state } = await manager.streams.info('S');
      return state.messages;
    }

    it('stores an atomic batch when it is committed', async () => {
      const batch = await client.startBatch('s.a', 'one');
      batch.add('s.b', 'two');
      await batch.add('s.c', 'three', { ack: true });
      expect(await storedMessages()).toBe(0);
      const { stream, batch: id, count } = await batch.commit('s.d', 'four');
      expect({ stream, id, count }).toEqual({ stream: 'S', id: batch.id, count: 4 });
      expect(await storedMessages()).toBe(4);
    });

    it('refuses an atomic batch whole', async () => {
      const batch = await client.startBatch('s.a', 'one', { expect: { streamName: 'T' } });
      batch.add('s.b', 'two');
      await expect(batch.commit('s.c', 'three')).rejects.toThrow(Error);
      expect(await storedMessages()).toBe(0);
    });

    it('takes a fast batch', async () => {
      const batch = await startFastIngest(connection, 's.a', 'first', { allowGaps: false, ackInterval: 7 });
      for (let i = 0; i < 200; i++) await batch.add('s.a', `message ${i}`);
      const { ackSeq } = await batch.ping();
      expect(ackSeq).toBe(196);
      const { stream, batch: id, count } = await batch.last('s.a', 'last');
      expect({ stream, id, count }).toEqual({ stream: 'S', id: batch.batch, count: 202 });
      expect(await storedMessages()).toBe(202);
    });
  });
}
