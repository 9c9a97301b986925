/**
 * What JetStream tells whoever listens: streams that come, change and go, batches that are given up, and each request with
 * its answer. The same happens on nats-server and on petiole, and what is heard of it is compared. Advisories about one
 * thing and the audit of the request that caused it come in any order.
 */
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { until } from '../helpers/until.ts';
import { type Both, describeBoth } from './monitor-scenario.ts';

const CONFIG = 'http: "127.0.0.1:-1"\nserver_name: observed\njetstream { store_dir: "store" }';
const END = '$JS.EVENT.ADVISORY.TEST.END';
/** Batches that are given up after this time take longer than the rest. */
const BATCH_TIMEOUT_MS = 10_000;

const REQUESTS: readonly (readonly [request: string, body: string])[] = [
  ['STREAM.CREATE.S', '{"name":"S","subjects":["s.*"]}'],
  ['STREAM.CREATE.S', '{"name":"S","subjects":["s.*"]}'],
  ['STREAM.CREATE.S', '{"name":"S","subjects":["other"]}'],
  ['STREAM.UPDATE.S', '{"name":"S","subjects":["s.*"]}'],
  ['STREAM.UPDATE.S', '{"name":"S","subjects":["s.*"],"max_msgs":7}'],
  ['STREAM.CREATE.M', '{"name":"M","subjects":["m.*"],"storage":"memory","description":"<&>é"}'],
  ['STREAM.INFO.none', 'x'],
  ['STREAM.NAMES', '{"offset":1}'],
  ['INFO', ''],
  ['STREAM.PURGE.S', '\u0001"'],
  ['STREAM.MSG.GET.S', '{"seq":1}'],
  ['CONSUMER.INFO.S.none', ''],
  ['STREAM.DELETE.M', ''],
  ['STREAM.DELETE.S', ''],
];

/** Headers of messages of batches that are given up at once. */
const BATCHES: readonly Readonly<Record<string, string>>[] = [
  { 'Nats-Batch-Id': 'gap', 'Nats-Batch-Sequence': '1' },
  { 'Nats-Batch-Id': 'gap', 'Nats-Batch-Sequence': '3' },
  { 'Nats-Batch-Id': 'level', 'Nats-Batch-Sequence': '1', 'Nats-Required-Api-Level': '100' },
  { 'Nats-Batch-Id': 'unknown', 'Nats-Batch-Sequence': '2' },
  { 'Nats-Batch-Id': 'commit', 'Nats-Batch-Sequence': '1', 'Nats-Batch-Commit': 'x' },
  { 'Nats-Batch-Id': 'empty', 'Nats-Batch-Sequence': '1', 'Nats-Batch-Commit': 'eob' },
  { 'Nats-Batch-Id': 'late', 'Nats-Batch-Sequence': '1' },
];

describeBoth(
  'advisories',
  (both) => {
    it('tell of requests and streams', async () => {
      const { theirs, ours } = await heardFrom(both, async (client) => {
        for (const [request, body] of REQUESTS) await client.request(`$JS.API.${request}`, body);
      });
      expect(theirs.filter((line) => line.includes('stream_action'))).toHaveLength(6);
      expect(theirs.filter((line) => line.includes('api_audit'))).toHaveLength(REQUESTS.length);
      expect(ours).toEqual(theirs);
    });

    it('tell of a request that wants no answer', async () => {
      const { theirs, ours } = await heardFrom(both, (client) => {
        client.publish('$JS.API.STREAM.INFO.none', '{}');
      });
      expect(theirs).toHaveLength(1);
      expect(ours).toEqual(theirs);
    });

    it('tell of batches that are given up', { timeout: BATCH_TIMEOUT_MS * 3 }, async () => {
      const { theirs, ours } = await heardFrom(
        both,
        async (client) => {
          await client.request('$JS.API.STREAM.CREATE.B', '{"name":"B","subjects":["b"],"allow_atomic":true}');
          for (const fields of BATCHES) {
            const given = headers();
            for (const [name, value] of Object.entries(fields)) given.set(name, value);
            await client.request('b', 'x', { headers: given, timeout: 2000 });
          }
        },
        (heard) => heard.some((line) => line.includes('"timeout"')),
      );
      expect(theirs.filter((line) => line.includes('batch_abandoned')).length).toBeGreaterThanOrEqual(4);
      expect(ours).toEqual(theirs);
    });
  },
  { config: CONFIG },
);

type Life = (client: NatsConnection) => Promise<void> | void;
type Complete = (heard: readonly string[]) => boolean;

/** What is heard on both servers while this happens, in alphabetical order. */
async function heardFrom(
  both: Both,
  life: Life,
  isComplete: Complete = () => true,
): Promise<{ theirs: string[]; ours: string[] }> {
  const [theirs, ours] = await Promise.all(
    [both.natsServer(), both.petiole()].map(async ({ server }) => {
      const { host, port } = server.address();
      const client = await connect({ servers: `${host}:${port}`, name: 'listener' });
      const heard: string[] = [];
      let isOver = false;
      client.subscribe('$JS.EVENT.>', {
        callback: (_error, message) => {
          if (message.subject === END) isOver = true;
          else heard.push(normalized(message.subject, message.string()));
        },
      });
      await life(client);
      await until(() => isComplete(heard), 'all advisories', BATCH_TIMEOUT_MS * 2);
      // Requests are answered before they are audited.
      await client.request('$JS.API.STREAM.INFO.last');
      await until(() => heard.some((line) => line.includes('STREAM.INFO.last')), 'the last request');
      client.publish(END);
      await until(() => isOver, 'the end');
      await client.close();
      return heard.filter((line) => !line.includes('STREAM.INFO.last')).sort();
    }),
  );
  return { theirs: theirs ?? [], ours: ours ?? [] };
}

/** The order of its members is compared too; what differs between any two servers is replaced by its kind. */
function normalized(subject: string, text: string): string {
  const plain = text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"rtt":\d+,/g, '')
    .replaceAll(/"id":"[0-9A-Za-z]{22}"/g, '"id":"<id>"')
    .replaceAll(/"id":\d+/g, '"id":<connection>')
    .replaceAll(/(level\\?":\\?"?)\d+/g, '$1<level>')
    .replaceAll(/(total|errors)\\":\d+/g, '$1\\":<count>');
  return `${subject} ${plain}`;
}
