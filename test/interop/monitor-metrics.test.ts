/**
 * /metrics of a running petiole: the page as a parser reads it, and its figures against a backlog that is known. There
 * is no /metrics on nats-server; its names are those of its exporter.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JetStreamClient } from '../helpers/jetstream-client.ts';
import { PrometheusPage } from '../helpers/prometheus-page.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, petiole, type RunningServer, startServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const HTTP = 'http: "127.0.0.1:-1"\n';
const SEVERAL_MS = 1200;

describe('metrics', () => {
  it('tell how far consumers are behind, also after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'petiole-metrics-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const config = `${HTTP}jetstream { store_dir: "${folder}", domain: edge }`;
    const firstMs = performance.now();
    await live(config, async (server, connection) => {
      await makeBacklog(connection);
      await new Promise((resolve) => setTimeout(resolve, SEVERAL_MS));
      const page = await metricsOf(server);
      expect(countsOf(page)).toEqual(BACKLOG);
      expectAges(page, performance.now() - firstMs);
    });
    await live(config, async (server) => {
      await until(async () => isCounted(await metricsOf(server)), 'the consumers to count');
      const page = await metricsOf(server);
      expect(countsOf(page)).toEqual(BACKLOG);
      expectAges(page, performance.now() - firstMs);
    });
  });

  it('carry odd names and texts', async () => {
    const account = 'A "q" é';
    const user = 'user: u, password: p';
    const accounts = `accounts { 'A "q" é' { jetstream: enabled, users: [ { ${user} } ] } }`;
    await live(
      `${HTTP}jetstream { store_dir: "store" }\n${accounts}`,
      async (server, connection) => {
        const client = new JetStreamClient(connection);
        const name = 'st"re{a}m=é';
        await client.ask(`STREAM.CREATE.${name}`, { name, subjects: ['odd.>'] });
        const description = 'oné\ntwo "quoted" \\ {back="slash"} 1';
        const consumer = { name: 'c"1', durable_name: 'c"1', ack_policy: 'explicit', description };
        const made = await client.ask(`CONSUMER.CREATE.${name}.c"1`, { stream_name: name, config: consumer });
        expect(made).not.toHaveProperty('error');
        await client.publish('odd."x"{}', 'x');
        const page = await metricsOf(server);
        const labels = { account, stream_name: name, consumer_name: 'c"1', consumer_desc: description };
        expect(page.value('jetstream_consumer_num_pending', labels)).toBe(1);
      },
      { user: 'u', pass: 'p' },
    );
  });

  it('tell of accounts, streams and the disk', async () => {
    await live(`${HTTP}jetstream { store_dir: "store" }`, async (server, connection) => {
      const client = new JetStreamClient(connection);
      await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'], max_msgs: 7, max_bytes: 100_000 });
      for (let i = 0; i < 5; i++) await client.publish(`s.${i}`, 'x'.repeat(1000));
      const page = await metricsOf(server);
      const stream = { account: '$G', stream_name: 'S' };
      expect(page.value('jetstream_stream_total_messages', stream)).toBe(5);
      expect(page.value('jetstream_stream_limit_messages', stream)).toBe(7);
      expect(page.value('jetstream_stream_subject_count', stream)).toBe(5);
      expect(page.value('jetstream_account_max_storage', { account: '$G' })).toBe(100_000);
      expect(page.value('jetstream_server_total_streams')).toBe(1);
      expect(page.value('petiole_store_payload_bytes_total')).toBe(5000);
      expect(page.value('petiole_store_written_bytes_per_payload_byte')).toBeGreaterThan(1);
      expect(page.value('gnatsd_varz_connections')).toBe(1);
      expect(page.value('gnatsd_accstatz_current_connections', { account: '$G' })).toBe(1);
      expect(Number(page.buckets('petiole_commit_latency_seconds')['+Inf'])).toBeGreaterThanOrEqual(6);
      await until(async () => {
        const later = await metricsOf(server);
        return Number(later.buckets('petiole_event_loop_delay_seconds')['+Inf']) > 2;
      }, 'the delay of the event loop to be measured');
    });
  });

  it('of a thousand consumers come whole', async () => {
    await live(`${HTTP}jetstream { store_dir: "store" }`, async (server, connection) => {
      const client = new JetStreamClient(connection);
      await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'], storage: 'memory' });
      await client.publish('s.1');
      const config = { ack_policy: 'explicit', filter_subject: 's.1' };
      for (let from = 0; from < 1000; from += 100) {
        const names = Array.from({ length: 100 }, (_, i) => `c${from + i}`);
        const made = names.map((name) =>
          client.ask(`CONSUMER.CREATE.S.${name}.s.1`, {
            stream_name: 'S',
            config: { ...config, durable_name: name, name },
          }),
        );
        await Promise.all(made);
      }
      const page = await metricsOf(server);
      expect(page.labels('petiole_consumer_lag_seconds')).toHaveLength(1000);
      expect(page.value('jetstream_consumer_num_pending', { consumer_name: 'c999' })).toBe(1);
      expect(page.value('jetstream_server_total_consumers')).toBe(1000);
    });
  });
});

describeWithHub('metrics of a leaf link', () => {
  it('tell whether it is up, and what goes over it', async () => {
    const hub = await startHub();
    const remotes = `[ { url: "${hub.url()}" }, { url: "nats://u:secret@127.0.0.1:1", account: B } ]`;
    const config = `${HTTP}accounts { A { users: [ { user: u, password: p } ] }, B {} }
      no_auth_user: u\nleafnodes { remotes: ${remotes.replace('" }', '", account: A }')} }`;
    await live(config, async (server, connection) => {
      await until(
        async () => (await metricsOf(server)).value('petiole_leaf_remote_up', { account: 'A' }) === 1,
        'the link',
      );
      const heard = await hub.client();
      heard.send('SUB over.leaf 1\r\nPING\r\n');
      await until(async () => {
        connection.publish('over.leaf', 'hello');
        const page = await metricsOf(server);
        return (page.value('gnatsd_leafz_conn_out_bytes', { account: 'A' }) ?? 0) >= 5;
      }, 'messages over the link');
      const page = await metricsOf(server);
      expect(page.value('gnatsd_leafz_conn_nodes_total')).toBe(1);
      expect(page.value('petiole_leaf_remote_up', { account: 'B' })).toBe(0);
      expect(page.value('petiole_leaf_remote_state', { account: 'B', state: 'open' })).toBe(0);
      expect(page.value('petiole_leaf_remote_opens_total', { account: 'A' })).toBe(1);
      expect(JSON.stringify(page.labels('petiole_leaf_remote_up'))).not.toContain('secret');
      await heard.close();
    });
  });
});

/** Ten messages, one of them for nobody: three delivered, of which the second is acknowledged. */
async function makeBacklog(connection: NatsConnection): Promise<void> {
  const client = new JetStreamClient(connection);
  await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.>'] });
  await client.publish('s.other');
  for (let i = 0; i < 9; i++) await client.publish('s.wanted', 'x');
  for (const name of ['behind', 'done']) {
    const filter = name === 'behind' ? 's.wanted' : 's.none';
    const config = { name, durable_name: name, ack_policy: 'explicit', filter_subject: filter };
    await client.ask(`CONSUMER.CREATE.S.${name}.${filter}`, { stream_name: 'S', config });
  }
  const inbox = 'inbox.pull';
  const replies: string[] = [];
  connection.subscribe(inbox, { callback: (_error, { reply }) => void replies.push(reply ?? '') });
  connection.publish('$JS.API.CONSUMER.MSG.NEXT.S.behind', '{"batch":3}', { reply: inbox });
  await until(() => replies.length === 3, 'three messages');
  await connection.request(replies[1] ?? '', '+ACK');
}

function isCounted(page: PrometheusPage): boolean {
  return page.value('jetstream_consumer_num_pending', { consumer_name: 'behind' }) !== undefined;
}

/** Of the consumer that is behind, and of the one that has nothing to do. */
const BACKLOG = {
  behind: { pending: 6, unacknowledged: 2, lag: 8, deliveredUpTo: 4 },
  done: { pending: 0, unacknowledged: 0, lag: 0, deliveredUpTo: 0 },
};

function countsOf(page: PrometheusPage): object {
  const counts = (consumer: string): object => {
    const of = (name: string): number | undefined => page.value(name, { consumer_name: consumer });
    return {
      pending: of('jetstream_consumer_num_pending'),
      unacknowledged: of('jetstream_consumer_num_ack_pending'),
      lag: of('petiole_consumer_lag_messages'),
      deliveredUpTo: of('jetstream_consumer_delivered_stream_seq'),
    };
  };
  return { behind: counts('behind'), done: counts('done') };
}

function expectAges(page: PrometheusPage, ageMsMax: number): void {
  const of = (name: string, consumer: string): number | undefined => page.value(name, { consumer_name: consumer });
  const lag = of('petiole_consumer_lag_seconds', 'behind') ?? 0;
  const unacknowledged = of('petiole_consumer_oldest_unacknowledged_seconds', 'behind') ?? 0;
  expect(lag).toBeGreaterThanOrEqual(SEVERAL_MS / 1000);
  // The oldest unacknowledged message was stored before those that are not delivered yet.
  expect(unacknowledged).toBeGreaterThan(lag);
  expect(unacknowledged).toBeLessThan(ageMsMax / 1000);
  expect(of('petiole_consumer_lag_seconds', 'done')).toBe(0);
  expect(of('petiole_consumer_oldest_unacknowledged_seconds', 'done')).toBe(0);
  expect(page.labels('petiole_consumer_lag_seconds')[0]).toMatchObject({ domain: 'edge', stream_name: 'S' });
}

async function metricsOf(server: RunningServer): Promise<PrometheusPage> {
  const { host, port } = await server.listening('monitor');
  const response = await fetch(`http://${host}:${port}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new PrometheusPage(await response.text());
}

/** petiole with this configuration, and a client of it, as long as they are used. */
async function live(
  config: string,
  use: (server: RunningServer, connection: NatsConnection) => Promise<void>,
  login: { user?: string; pass?: string } = {},
): Promise<void> {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const server = await startServer(target, { config });
  try {
    const { host, port } = server.address();
    const connection = await connect({ servers: `${host}:${port}`, ...login });
    await use(server, connection);
    await connection.close();
  } finally {
    await server.stop();
  }
}
