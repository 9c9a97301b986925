/** What the log says about streams that are brought back at a start, on nats-server and on petiole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { type RunningServer, startServer, type Target } from '../helpers/targets.ts';

const MESSAGES = 1234;

describeTargets('a start with stored streams', (target) => {
  it('names each stream, its messages and its consumers', async () => {
    const store = mkdtempSync(join(tmpdir(), 'petiole-recovery-'));
    onTestFinished(() => rmSync(store, { recursive: true, force: true }));
    const config = `jetstream { store_dir: "${store}" }`;
    await live(target, config, fill);
    await live(target, config, ({ log }) => {
      const said = log
        .split('\n')
        .map((line) => line.replace(/^.*\[INF\]/, '[INF]').replace(/ in [\d.]+m?s$/, ' in <time>'))
        .filter((line) => /restore|Restored|Recovering/.test(line))
        .sort();
      expect(said).toEqual([
        "[INF]   Recovering 2 consumers for stream - '$G > S'",
        "[INF]   Restored 0 messages for stream '$G > E' in <time>",
        "[INF]   Restored 1,234 messages for stream '$G > S' in <time>",
        "[INF]   Starting restore for stream '$G > E'",
        "[INF]   Starting restore for stream '$G > S'",
      ]);
    });
  });
});

async function live(
  target: Target,
  config: string,
  use: (server: RunningServer) => Promise<void> | void,
): Promise<void> {
  const server = await startServer(target, { config });
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

async function fill(server: RunningServer): Promise<void> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  for (const name of ['S', 'E']) {
    await client.request(`$JS.API.STREAM.CREATE.${name}`, `{"name":"${name}","subjects":["${name}.>"]}`);
  }
  for (const name of ['C', 'D']) {
    const config = `{"name":"${name}","durable_name":"${name}","ack_policy":"explicit"}`;
    await client.request(`$JS.API.CONSUMER.CREATE.S.${name}`, `{"stream_name":"S","config":${config}}`);
  }
  for (let count = 1; count < MESSAGES; count++) client.publish('S.a');
  await client.request('S.a');
  await client.close();
}
