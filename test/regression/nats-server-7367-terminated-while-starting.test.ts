/** nats-server#7367: a server that was terminated while it was still starting did not exit with 0. */
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { RunningServer, startServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const MESSAGES = 3000;
const PAYLOAD = 'x'.repeat(1000);

describeTargets('a server that is terminated while it starts', (target) => {
  test('exits with 0, and finds its streams again the next time', async () => {
    const store = temporaryDirectory();
    const config = `jetstream { store_dir: "${store}" }`;
    const first = await startServer(target, { config });
    onTestFinished(() => first.stop());
    await fill(first);
    first.signal('SIGKILL');
    await until(() => first.exited, 'the kill');
    // As soon as it has said anything, and while it reads its store.
    for (const line of ['Starting nats-server', 'Starting JetStream']) {
      const starting = new RunningServer(target, { config });
      onTestFinished(() => starting.stop());
      await until(() => starting.log.includes(line) || starting.exited, line, 20_000);
      starting.signal('SIGTERM');
      await until(() => starting.exited, 'the end', 20_000);
      expect([starting.exitCode, starting.log.includes('Server Exiting')]).toEqual([0, true]);
    }
    const last = await startServer(target, { config });
    onTestFinished(() => last.stop());
    expect(await count(last)).toBe(MESSAGES);
  });
});

async function fill(server: RunningServer): Promise<void> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify({ name: 'S', subjects: ['s.*'] }));
  for (let sent = 0; sent < MESSAGES; sent += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, i) => client.request(`s.${i}`, PAYLOAD, { timeout: 20_000 })));
  }
  await client.close();
}

async function count(server: RunningServer): Promise<number> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  const info = (await client.request('$JS.API.STREAM.INFO.S')).json<{ state: { messages: number } }>();
  await client.close();
  return info.state.messages;
}
