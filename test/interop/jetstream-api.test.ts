/** Requests to the JetStream API that are not quite right, and what is not asked every day: answered as by nats-server. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { describeBoth } from './monitor-scenario.ts';

const CONFIG = 'http: "127.0.0.1:-1"\njetstream { store_dir: "store" }';
const MISSING = '{"seq":2}';

/** What both servers are made to hold: two streams with a gap in their middle, and a consumer. */
const SCENE: readonly (readonly [subject: string, body: string])[] = [
  ['$JS.API.STREAM.CREATE.F', '{"name":"F","subjects":["f.*"],"allow_direct":true}'],
  ['$JS.API.STREAM.CREATE.M', '{"name":"M","subjects":["m.*"],"storage":"memory"}'],
  ...['f.a', 'f.b', 'f.a', 'm.a', 'm.b', 'm.a'].map((subject) => [subject, subject] as const),
  ['$JS.API.STREAM.MSG.DELETE.F', MISSING],
  ['$JS.API.STREAM.MSG.DELETE.M', MISSING],
  ['$JS.API.CONSUMER.DURABLE.CREATE.F.c', '{"stream_name":"F","config":{"durable_name":"c","ack_policy":"explicit"}}'],
];

describeBoth(
  'the JetStream API',
  (both) => {
    it.each([
      ['STREAM.INFO.F', 'x'],
      ['STREAM.INFO.F', '[]'],
      ['STREAM.INFO.F', '{"subjects_filter":"f.a"}'],
      ['STREAM.INFO.F', '{"subjects_filter":"none"}'],
      ['STREAM.INFO.F', '{"subjects_filter":">","offset":5}'],
      ['STREAM.NAMES', 'x'],
      ['STREAM.LIST', '[1]'],
      ['STREAM.PURGE.M', '[]'],
      ['STREAM.PURGE.none', ''],
      ['STREAM.PURGE.F', '{"seq":1,"keep":2}'],
      ['STREAM.DELETE.none', ''],
      ['STREAM.DELETE.none', ' { } '],
      ['STREAM.DELETE.F', 'null'],
      ['STREAM.MSG.GET.F', '{"seq":1,"max_bytes":4}'],
      ['STREAM.MSG.DELETE.F', ''],
      ['STREAM.MSG.DELETE.F', '{}'],
      ['STREAM.MSG.DELETE.F', '{"seq":0}'],
      ['STREAM.MSG.DELETE.F', MISSING],
      ['STREAM.MSG.DELETE.F', '{"seq":9}'],
      ['STREAM.MSG.DELETE.M', '{"seq":0}'],
      ['STREAM.MSG.DELETE.M', MISSING],
      ['STREAM.MSG.DELETE.M', '{"seq":9}'],
      ['CONSUMER.NAMES.none', 'x'],
      ['CONSUMER.NAMES.F', '[]'],
      ['CONSUMER.LIST.F', 'x'],
      ['CONSUMER.INFO.F.c', '{}'],
      ['CONSUMER.INFO.F.c', 'x'],
      ['CONSUMER.DELETE.F.none', '{}'],
      ['CONSUMER.DELETE.none.c', ''],
      ['DIRECT.GET.F', ''],
      ['DIRECT.GET.F', '{}'],
      ['DIRECT.GET.F', '{"no_hdr":true}'],
      ['DIRECT.GET.F', '{"max_bytes":5}'],
      ['DIRECT.GET.F', '{"batch":1}'],
      ['DIRECT.GET.F', '{"seq":1,"last_by_subj":"f.a"}'],
      ['DIRECT.GET.F', '{"seq":3,"no_hdr":true}'],
      ['DIRECT.GET.F', '{"seq":9,"no_hdr":true}'],
      ['DIRECT.GET.F.f.a', '{}'],
      ['DIRECT.GET.F.f.a', 'x'],
      ['DIRECT.GET.F.f.a', '{"no_hdr":true,"max_bytes":5}'],
      ['DIRECT.GET.F.f.a', '{"seq":1}'],
      ['DIRECT.GET.F.f.a', '{"batch":1}'],
      ['DIRECT.GET.F.f.a', '{"up_to_seq":1}'],
      ['CONSUMER.MSG.NEXT.F.c', '{"min_pending":5}'],
      ['CONSUMER.MSG.NEXT.F.c', '{"min_ack_pending":-5,"id":"x"}'],
      ['CONSUMER.MSG.NEXT.F.c', '{"id":"x"}'],
      ['CONSUMER.MSG.NEXT.F.c', '{"id":"x","idle_heartbeat":9}'],
      ['STREAM.LEADER.STEPDOWN.F', ''],
      ['STREAM.PEER.REMOVE.F', '{"peer":"x"}'],
      ['STREAM.PEER.EVACUATE.F', '{"peer":"x"}'],
      ['STREAM.CANCEL_MOVE.F', ''],
      ['CONSUMER.LEADER.STEPDOWN.F.c', ''],
      ['CONSUMER.PEER.REMOVE.F.c', '{"peer":"x"}'],
      ['CONSUMER.PEER.EVACUATE.F.c', '{"peer":"x"}'],
      ['CONSUMER.PAUSE.F.none', ''],
      ['CONSUMER.PAUSE.none.c', ''],
      ['CONSUMER.PAUSE.F.c', 'x'],
      ['CONSUMER.PAUSE.F.c', '{"pause_until":"x"}'],
      ['CONSUMER.PAUSE.F.c', '{"pause_until":null}'],
      ['CONSUMER.PAUSE.F.c', '{"until":"x"}'],
      ['CONSUMER.PAUSE.F.c', '[]'],
      ['CONSUMER.UNPIN.F.c', ''],
      ['CONSUMER.UNPIN.F.c', '{}'],
      ['CONSUMER.UNPIN.F.c', '{"group":5}'],
      ['CONSUMER.UNPIN.F.c', '{"group":"a b"}'],
      ['CONSUMER.UNPIN.F.c', '{"group":"ABCdef0123/_=-xy"}'],
      ['CONSUMER.UNPIN.F.c', '{"group":"ABCdef0123/_=-xyz"}'],
      ['CONSUMER.UNPIN.F.c', '{"group":"g","x":1}'],
      ['CONSUMER.UNPIN.F.none', '{"group":"g"}'],
      ['CONSUMER.UNPIN.none.c', '{"group":"g"}'],
      ['CONSUMER.RESET.F.c', 'x'],
      ['CONSUMER.RESET.F.c', '{"seq":"1"}'],
      ['CONSUMER.RESET.F.c', '{"seq":-1}'],
      ['CONSUMER.RESET.F.c', '{"seq":2,"x":1}'],
      ['CONSUMER.RESET.F.c', '{}'],
      ['CONSUMER.RESET.F.c', ''],
    ])('answers %s %s', async (request, body) => {
      const answers = await fromBoth(both, (client) => answer(client, `$JS.API.${request}`, body));
      expect(answers.ours).toEqual(answers.theirs);
    });

    it.each([
      ['STREAM.SNAPSHOT.F', '{"deliver_subject":"chunks"}'],
      ['STREAM.RESTORE.new', '{"config":{"name":"new"},"state":{}}'],
    ])('of petiole refuses %s by its name', async (request, body) => {
      const said = await withClient(both.petiole().server.address(), (client) =>
        answer(client, `$JS.API.${request}`, body),
      );
      const { error } = JSON.parse(said) as { error: { err_code: number; description: string } };
      expect(error.err_code).toBe(10_052);
      expect(request).toContain(error.description.replace(' not supported by petiole yet', ''));
    });

    it.each([
      'INFO.F',
      'STREAM.NAMES.F',
      'STREAM.INFO.F.x',
      'CONSUMER.INFO.F',
      'CONSUMER.DURABLE.CREATE.F',
      'CONSUMER.RESET.F.none',
      'NONE',
    ])('does not answer %s', async (request) => {
      const answers = await fromBoth(both, async (client) => {
        const heard: string[] = [];
        const inbox = client.subscribe('inbox', {
          callback: (_error, message) => {
            heard.push(message.string());
          },
        });
        client.publish(`$JS.API.${request}`, '', { reply: 'inbox' });
        // Requests are handled in turn: what comes before the answer to this one would be an answer to that one.
        heard.push(await answer(client, '$JS.API.STREAM.MSG.GET.none', '{"seq":1}'));
        inbox.unsubscribe();
        return heard;
      });
      expect(answers.theirs).toHaveLength(1);
      expect(answers.ours).toEqual(answers.theirs);
    });
  },
  { config: CONFIG, life: ({ server }) => withClient(server.address(), prepare) },
);

async function prepare(client: NatsConnection): Promise<void> {
  for (const [subject, body] of SCENE) await client.request(subject, body);
}

interface Address {
  readonly host: string;
  readonly port: number;
}

async function withClient<T>({ host, port }: Address, use: (client: NatsConnection) => Promise<T>): Promise<T> {
  const client = await connect({ servers: `${host}:${port}` });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

type Both = Parameters<Parameters<typeof describeBoth>[1]>[0];

async function fromBoth<T>(both: Both, ask: (client: NatsConnection) => Promise<T>): Promise<{ theirs: T; ours: T }> {
  const [theirs, ours] = await Promise.all(
    [both.natsServer(), both.petiole()].map(({ server }) => withClient(server.address(), ask)),
  );
  return { theirs: theirs as T, ours: ours as T };
}

/** The answer with its headers; what differs between any two servers is replaced by its kind. */
async function answer(client: NatsConnection, subject: string, body: string): Promise<string> {
  const message = await client.request(subject, body);
  const status = message.headers === undefined ? '' : `${message.headers.code} ${message.headers.description} `;
  const headers = [...(message.headers ?? [])].map(([name, values]) => `${name}: ${values.join()} `);
  return [status, ...headers, message.string()]
    .join('')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\bN[A-Z2-7]{55}\b/g, '<server>')
    .replaceAll(/"_nats\.level":"\d+"/g, '"_nats.level":"<level>"');
}
