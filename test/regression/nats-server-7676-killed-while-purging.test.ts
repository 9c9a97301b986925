/** nats-server#7676: killed while a stream was purged, the server came back with an empty stream at sequence 0. */
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { JetStreamClient } from '../helpers/jetstream-client.ts';
import { type RunningServer, startServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const KILLS = 4;
const MESSAGES = 500;
const PAYLOAD = 'x'.repeat(500);
/** From before the purge is begun until it is over. */
const KILL_WITHIN_MS = 12;

describeTargets('a server that is killed while it purges', (target) => {
  test.each([
    ['everything', {}],
    ['but the last messages', { keep: 10 }],
    ['one subject', { filter: 's.1' }],
  ])('never goes back in sequence: %s', async (_what, purge) => {
    const config = `jetstream { store_dir: "${temporaryDirectory()}" }`;
    let last = 0;
    for (let kill = 0; kill <= KILLS; kill++) {
      const server = await startServer(target, { config });
      onTestFinished(() => server.stop());
      const client = await clientOf(server);
      if (kill === 0) await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'] });
      const { messages, first_seq, last_seq } = await client.state('S');
      expect(last_seq).toBe(last);
      expect(first_seq).toBeGreaterThanOrEqual(Math.min(1, last));
      expect(messages).toBeLessThanOrEqual(Math.max(0, last_seq - first_seq + 1));
      const sent = Array.from({ length: MESSAGES }, async (_, i) => client.publish(`s.${i % 2}`, PAYLOAD));
      last = Math.max(...(await Promise.all(sent)).map(({ seq }) => seq));
      expect(last).toBe(last_seq + MESSAGES);
      client.connection.publish('$JS.API.STREAM.PURGE.S', JSON.stringify(purge));
      await client.connection.flush();
      await delay((KILL_WITHIN_MS * kill) / KILLS);
      server.signal('SIGKILL');
      await until(() => server.exited, 'the kill');
      await client.connection.close();
    }
  });
});

async function clientOf(server: RunningServer): Promise<JetStreamClient> {
  const { host, port } = server.address();
  return new JetStreamClient(await connect({ servers: `${host}:${port}`, reconnect: false }));
}
