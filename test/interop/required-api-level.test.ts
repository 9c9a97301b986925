/**
 * Requests that count on a level of the JetStream API which the server does not have are refused, each in the form of its
 * own answer, by petiole as by nats-server.
 */
/* oxlint-disable vitest/no-conditional-tests, vitest/no-disabled-tests -- a missing server must show as skipped */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  absenceIsFailure,
  isAbsent,
  natsServer,
  petiole,
  type RunningServer,
  startServer,
} from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial, type WireClient } from '../helpers/wire-client.ts';

const ERROR = '"error":{"code":412,"err_code":10185,"description":"JetStream minimum api level required"}';
const NO_PAGE = '"total":0,"offset":0,"limit":0';
const STATUS = 'NATS/1.0 412 Required Api Level\r\n\r\n';

/** A request, and the answer's kind and further fields. */
const REQUESTS: readonly (readonly [request: string, kind: string, fields?: string])[] = [
  ['INFO', 'account_info'],
  ['STREAM.CREATE.T', 'stream_create'],
  ['STREAM.UPDATE.S', 'stream_update'],
  ['STREAM.NAMES', 'stream_names', `${NO_PAGE},"streams":null`],
  ['STREAM.LIST', 'stream_list', `${NO_PAGE},"streams":[]`],
  ['STREAM.INFO.S', 'stream_info', NO_PAGE],
  ['STREAM.INFO.NONE', 'stream_info', NO_PAGE],
  ['STREAM.DELETE.S', 'stream_delete'],
  ['STREAM.PURGE.S', 'stream_purge', '"purged":0'],
  ['STREAM.MSG.GET.S', 'stream_msg_get'],
  ['STREAM.MSG.DELETE.S', 'stream_msg_delete'],
  ['STREAM.SNAPSHOT.S', 'stream_snapshot'],
  ['STREAM.RESTORE.S', 'stream_restore', '"deliver_subject":""'],
  ['CONSUMER.CREATE.S', 'consumer_create'],
  ['CONSUMER.CREATE.S.D', 'consumer_create'],
  ['CONSUMER.CREATE.S.D.s.a', 'consumer_create'],
  ['CONSUMER.DURABLE.CREATE.S.D', 'consumer_create'],
  ['CONSUMER.NAMES.S', 'consumer_names', `${NO_PAGE},"consumers":[]`],
  ['CONSUMER.LIST.S', 'consumer_list', `${NO_PAGE},"consumers":[]`],
  ['CONSUMER.INFO.S.C', 'consumer_info'],
  ['CONSUMER.INFO.S.NONE', 'consumer_info'],
  ['CONSUMER.DELETE.S.C', 'consumer_delete'],
  ['CONSUMER.PAUSE.S.C', 'consumer_pause', '"paused":false,"pause_until":"0001-01-01T00:00:00Z"'],
  ['CONSUMER.UNPIN.S.C', 'consumer_unpin'],
  ['CONSUMER.RESET.S.C', 'consumer_reset', '"reset_seq":0'],
];

for (const target of [natsServer(), petiole()]) {
  const absence = isAbsent(target) ? target.absent : null;
  describe.skipIf(absence !== null && !absenceIsFailure())(`${target.name} (${absence ?? 'present'})`, () => {
    let server: RunningServer;
    let client: WireClient;
    let asked = 0;

    beforeAll(async () => {
      if (isAbsent(target)) throw new Error(target.absent);
      server = await startServer(target, { config: 'jetstream { store_dir: "store" }' });
      client = await dial(server.address());
      await client.line();
      client.send('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB A.> 1\r\n');
      await client.quiet();
      await ask('STREAM.CREATE.S', '0', '{"name":"S","subjects":["s.>"],"allow_direct":true}');
      await ask(
        'CONSUMER.CREATE.S.C',
        '',
        '{"stream_name":"S","config":{"name":"C","durable_name":"C","ack_policy":"explicit"}}',
      );
    });

    afterAll(async () => {
      await client.close();
      await server.stop();
    });

    /** The body of the answer. */
    async function ask(request: string, level: string, body: string): Promise<string> {
      const headers = `NATS/1.0\r\nNats-Required-Api-Level: ${level}\r\n\r\n`;
      const reply = `A.${++asked}`;
      const sizes = `${headers.length} ${headers.length + body.length}`;
      client.send(`HPUB $JS.API.${request} ${reply} ${sizes}\r\n${headers}${body}\r\n`);
      const answer = await until(() => {
        const taken = client.tryTake(wholeMessage);
        return Buffer.isBuffer(taken) && taken.toString('latin1');
      }, `the answer to ${request}`);
      expect(answer).toContain(` ${reply} `);
      return answer.slice(answer.indexOf('\r\n') + 2, -2);
    }

    it.each(REQUESTS.map(([request, kind, fields = '']) => ({ request, kind, fields })))(
      'refuses $request',
      async ({ request, kind, fields }) => {
        const rest = fields === '' ? '' : `,${fields}`;
        const expected = `{"type":"io.nats.jetstream.api.v1.${kind}_response",${ERROR}${rest}}`;
        expect(await ask(request, '1000', '{}')).toBe(expected);
      },
    );

    it.each(['CONSUMER.MSG.NEXT.S.C', 'DIRECT.GET.S', 'DIRECT.GET.S.s.a'])('refuses %s', async (request) => {
      expect(await ask(request, '1000', '')).toBe(STATUS);
    });

    it.each(['6', 'x', '1x', '1 ', '-', '99999999999999999999'])('does not have level %j', async (level) => {
      expect(await ask('INFO', level, '')).toContain(ERROR);
    });

    it.each(['', ' ', '-1', '0', '+4', '4', '0004'])('has level %j', async (level) => {
      expect(await ask('INFO', level, '')).not.toContain('"error"');
    });

    it('counts a refused request as an error', async () => {
      const errors = async (): Promise<number> => {
        const { api } = JSON.parse(await ask('INFO', '', '')) as { api: { errors: number } };
        return api.errors;
      };
      const before = await errors();
      await ask('STREAM.INFO.S', '1000', '');
      expect(await errors()).toBe(before + 1);
    });
  });
}

function wholeMessage(received: Buffer): number | 'more' | 'mismatch' {
  const lineEnd = received.indexOf('\r\n');
  if (lineEnd < 0) return 'more';
  const line = received.toString('latin1', 0, lineEnd);
  if (!/^H?MSG /.test(line)) return 'mismatch';
  const bytes = lineEnd + 4 + Number(line.split(' ').at(-1));
  return received.length < bytes ? 'more' : bytes;
}
