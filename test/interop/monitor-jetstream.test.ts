/** What /varz and /healthz say about JetStream, as nats-server says it of the same streams. */
import { expect, it } from 'vitest';
import { describeBoth, type Observed, settled } from './monitor-scenario.ts';

const CONFIG = `
  http: "127.0.0.1:-1"
  jetstream {
    max_mem: 1MB, max_file: 3MB, store_dir: "store", domain: "site", sync_interval: 5s
    limits { max_request_batch: 17, max_ack_pending: 19, duplicate_window: 10s }
  }
`;

describeBoth(
  'JetStream in monitoring',
  ({ natsServer, petiole }) => {
    it('is configured alike, and counts alike', async () => {
      const [theirs, ours] = await Promise.all([jetStreamOf(natsServer()), jetStreamOf(petiole())]);
      expect(ours).toEqual(theirs);
    });

    it.each([
      '',
      '?details=1',
      '?js-enabled-only=1',
      '?js-server-only=1&account=NONE',
      '?js-meta-only=1',
      '?account=$G',
      '?account=NONE',
      '?account=NONE&details=1',
      '?account=$G&stream=HELD',
      '?account=$G&stream=NONE',
      '?account=$G&stream=NONE&details=1',
      '?account=$G&stream=HELD&consumer=reader',
      '?account=$G&stream=HELD&consumer=n%3Cone%3E',
      '?account=$G&stream=HELD&consumer=none&details=1',
    ])('is as healthy: /healthz%s', async (query) => {
      const [theirs, ours] = await Promise.all([
        natsServer().page(`/healthz${query}`),
        petiole().page(`/healthz${query}`),
      ]);
      expect(ours).toEqual(theirs);
    });
  },
  { config: CONFIG, life: async (observed) => makeStream(observed) },
);

/** A stream with a consumer, a message in it, and a request that fails. */
async function makeStream(observed: Observed): Promise<void> {
  const client = await observed.client('SUB _INBOX.> 1\r\n', { user: '', pass: '' });
  const ask = async (subject: string, body: string): Promise<void> => {
    client.send(`PUB ${subject} _INBOX.a ${Buffer.byteLength(body)}\r\n${body}\r\n`);
    await client.take((received) => {
      const end = /^MSG _INBOX\.a 1 (\d+)\r\n/.exec(received.toString('latin1'));
      const length = end === null ? Infinity : end[0].length + Number(end[1]) + 2;
      return received.length >= length ? length : 'more';
    }, `an answer to ${subject}`);
  };
  const stream = { name: 'HELD', subjects: ['held.*'], storage: 'file', max_bytes: 100_000 };
  await ask('$JS.API.STREAM.CREATE.HELD', JSON.stringify(stream));
  const config = { durable_name: 'reader', ack_policy: 'explicit' };
  await ask('$JS.API.CONSUMER.CREATE.HELD.reader', JSON.stringify({ stream_name: 'HELD', config }));
  await ask('held.x', 'hello');
  await ask('$JS.API.STREAM.INFO.NONE', '');
}

/** The part of /varz; each has its own folder, level of the API, and size of a stored message. */
async function jetStreamOf(observed: Observed): Promise<string> {
  const { text } = await observed.page('/varz');
  const part = /^ {2}"jetstream": \{.*?^ {2}\},$/ms.exec(text)?.[0] ?? '';
  return settled(part, { store_dir: /^"[^"]*store[^"]*"$/, level: /^\d$/, storage: /^[1-9]\d*$/ });
}
