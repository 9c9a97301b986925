/**
 * A receiver that does not read, of a push consumer with much to deliver: nothing is kept for it beyond a bound, others
 * are served meanwhile, and it gets everything once it reads again. (nats-server closes it as a slow consumer.)
 */
import { connect } from '@nats-io/transport-node';
import { connect as dial, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { page, serve } from '../helpers/describe-targets.ts';
import { absenceIsFailure, isAbsent, petiole } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const MESSAGES = 600;
const MESSAGE_BYTES: number = 100 * 1024;
/** What a receiver may have unsent, and the pieces that are on their way to it. */
const UNSENT_BYTES_MAX: number = 4 * 1024 * 1024;

const target = petiole();

interface Connection {
  readonly subscriptions: number;
  readonly pending_bytes: number;
  readonly lang?: string;
}

describe.skipIf(isAbsent(target) && !absenceIsFailure())('a receiver that does not read', () => {
  it.each(['', 'g'])(
    'holds back its push consumer (deliver group %j)',
    async (group) => {
      if (isAbsent(target)) throw new Error(target.absent);
      const server = await serve(target, 'http: "127.0.0.1:-1"\njetstream { store_dir: "store" }');
      const { host, port } = server.address();
      const client = await connect({ servers: `${host}:${port}` });
      onTestFinished(() => client.close());
      await client.request('$JS.API.STREAM.CREATE.S', '{"name":"S","subjects":["s"],"storage":"memory"}');
      const body = 'x'.repeat(MESSAGE_BYTES);
      for (let i = 0; i < MESSAGES; i++) await client.request('s', body);

      const slow = dial(port, host);
      onTestFinished(() => {
        slow.destroy();
      });
      slow.write(`CONNECT {"verbose":false,"lang":"slow"}\r\nSUB d ${group} 1\r\n`);
      slow.pause();
      const unsent = async (): Promise<number> => {
        const { connections } = (await page(server, '/connz')).body as { connections: readonly Connection[] };
        return connections.find(({ lang }) => lang === 'slow')?.pending_bytes ?? -1;
      };
      await until(async () => (await unsent()) === 0, 'the receiver to be connected');
      const consumer = (name: string, deliverSubject: string): string =>
        JSON.stringify({
          stream_name: 'S',
          config: { name, ack_policy: 'none', deliver_subject: deliverSubject, deliver_group: group },
        });
      await client.request('$JS.API.CONSUMER.CREATE.S.slow', consumer('slow', 'd'));
      let quick = 0;
      const callback = (): void => void quick++;
      client.subscribe('e', { callback, ...(group === '' ? {} : { queue: group }) });
      await client.request('$JS.API.CONSUMER.CREATE.S.quick', consumer('quick', 'e'));
      await until(() => quick === MESSAGES, 'the other receiver to have everything', 20_000);
      expect(await unsent()).toBeGreaterThan(0);
      expect(await unsent()).toBeLessThan(UNSENT_BYTES_MAX);

      expect(await sequences(slow, MESSAGES)).toEqual(Array.from({ length: MESSAGES }, (_, i) => i + 1));
    },
    60_000,
  );
});

/** The stream sequences of the first `count` messages that come. */
async function sequences(socket: Socket, count: number): Promise<number[]> {
  const found: number[] = [];
  let rest = '';
  socket.on('data', (bytes) => {
    const lines = (rest + bytes.toString('latin1')).split('\r\n');
    rest = lines.pop() as string;
    for (const line of lines) {
      if (line.startsWith('MSG s ')) found.push(Number(line.split('.')[5]));
    }
  });
  socket.resume();
  await until(() => found.length === count, 'everything', 20_000);
  return found;
}
