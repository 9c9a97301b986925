/**
 * Field by field: every page of monitoring has on petiole the members that it has on nats-server, of the same types, after
 * the same load. What differs is listed, with the reason.
 */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { describeBoth, type Json, type Observed } from './monitor-scenario.ts';

const CONFIG = `
  http: "127.0.0.1:-1"
  server_name: observed
  jetstream { store_dir: "store", max_mem: 10MB, max_file: 20MB, sync_interval: always }
  accounts {
    A {
      jetstream: { max_mem: 1MB, max_file: 2MB }
      users: [ { user: a, password: p } ]
      exports: [
        { service: "svc.>", accounts: [B], latency: { sampling: 50, subject: lat } }
        { service: "many.>", response: stream }
        { service: "counted", latency: { sampling: headers, subject: lat } }
        { stream: "st.*" }
        { stream: "own.*.x", account_token_position: 2 }
      ]
      mappings {
        "m.*": "n.$1"
        w: [ { destination: x, weight: 40% }, { destination: y, weight: 30%, cluster: c } ]
        loss: [ { destination: loss, weight: 60% }, { destination: kept, weight: 10% } ]
      }
    }
    B {
      users: [ { user: b, password: p } ]
      imports: [
        { service: { account: A, subject: "svc.>" }, to: "my.>", share: true }
        { service: { account: A, subject: "many.*.up" }, to: "up.*" }
        { service: { account: A, subject: counted } }
        { stream: { account: A, subject: "st.*" }, prefix: p }
        { stream: { account: A, subject: "own.B.x" } }
      ]
    }
    D { users: [ { user: d, password: p } ] }
    S { users: [ { user: s, password: p } ] }
  }
  system_account: S
`;

const PAGES = [
  '/varz',
  '/connz?subs=detail&auth=1&state=any',
  '/connz?subs=1&state=closed',
  '/accountz',
  '/accountz?acc=A',
  '/accountz?acc=B',
  '/accountz?acc=D',
  '/accountz?acc=S',
  '/accstatz?unused=1',
  '/subsz?subs=1',
  '/jsz',
  '/jsz?acc=A',
  '/jsz?consumers=1&config=1&raft=1',
  '/leafz?subs=1',
  '/routez?subs=1',
  '/gatewayz?accs=1',
  '/healthz?details=1',
] as const;

/** Pages that say the same, apart from these members: moments, ids, and what is each server's own. */
const OWN_VALUES: ReadonlySet<string> = new Set([
  'server_id',
  'now',
  'created',
  'first_ts',
  'last_ts',
  'last_active',
  'ts',
  'update_time',
  'store_dir',
  'level',
  // The services of nats-server's system are subscriptions in every account.
  'num_subscriptions',
  'subscriptions',
  'sublist_stats',
]);

const EQUAL_PAGES = [
  '/accountz',
  '/accountz?acc=A',
  '/accountz?acc=B',
  '/accountz?acc=D',
  '/accountz?acc=S',
  '/accountz?acc=$G',
  '/jsz',
  '/jsz?acc=A',
  '/jsz?acc=B&streams=1',
  '/jsz?accounts=1&offset=1',
  '/jsz?accounts=1&limit=-5&offset=1',
  '/jsz?streams=1&raft=1',
  '/jsz?consumers=1&config=1',
  '/jsz?acc=A&consumers=1&direct-consumers=1&stream-leader-only=1',
  '/leafz?subs=1',
  '/routez?subs=1',
  '/gatewayz?accs=1',
  '/healthz?details=1',
  '/healthz?account=A&stream=F&consumer=pull',
  '/healthz?account=A&stream=F&consumer=none',
  '/healthz?account=B',
] as const;

/** `page path: type on nats-server, type on petiole`, and why. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  '/varz .git_commit: none, string': 'nats-server has one only if it was built from a repository',
};

describeBoth(
  'pages of monitoring',
  ({ natsServer, petiole }) => {
    it('have the same members', async () => {
      const found: string[] = [];
      for (const path of PAGES) {
        const [theirs, ours] = await Promise.all([natsServer().json(path), petiole().json(path)]);
        found.push(...differences(shapeOf(theirs), shapeOf(ours)).map((each) => `${path} ${each}`));
      }
      expect(found.sort()).toEqual(Object.keys(DIFFERENCES).sort());
    });

    it.each(EQUAL_PAGES)('say the same: %s', async (path) => {
      const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
      expect(comparable(JSON.parse(ours.text))).toEqual(comparable(JSON.parse(theirs.text)));
      expect(ours.status).toBe(theirs.status);
    });

    it('know the health of streams in memory, which nats-server looks for on the disk', async () => {
      const path = '/healthz?account=A&stream=M';
      expect((await natsServer().page(path)).status).toBe(404);
      expect((await petiole().page(path)).status).toBe(200);
    });

    it('count alike what an account has moved, by those who are there and those who are gone', async () => {
      const rowOf = async (observed: Observed): Promise<unknown> => {
        const rows = (await observed.json('/accstatz'))['account_statz'] as Json[];
        return comparable(rows.find(({ acc }) => acc === 'D'));
      };
      const ours = await rowOf(petiole());
      expect(ours).toEqual(await rowOf(natsServer()));
      expect(ours).toMatchObject({ conns: 1, received: { msgs: 3 }, sent: { msgs: 3 } });
    });
  },
  { config: CONFIG, life: live },
);

async function live(observed: Observed): Promise<void> {
  const ofUser = (user: string): Promise<NatsConnection> => {
    const { host, port } = observed.server.address();
    return connect({ servers: `${host}:${port}`, user, pass: 'p', name: `of ${user}`, reconnect: false });
  };
  const [a, b, d] = await Promise.all([ofUser('a'), ofUser('b'), ofUser('d')]);
  await store(a);
  a.subscribe('svc.*', { callback: (_, message) => void message.respond('yes') });
  b.subscribe('p.st.*', { queue: 'q' });
  await a.flush();
  await b.request('my.x', 'please');
  a.publish('st.x', 'news');
  d.subscribe('d', { max: 5 });
  d.publish('d', 'abc');
  d.publish('nobody', 'x');
  await Promise.all([a.flush(), b.flush(), d.flush()]);
  const gone = await ofUser('d');
  gone.subscribe('d');
  gone.publish('d', 'from one who goes');
  await gone.flush();
  await gone.close();
  await observed.closed(1);
}

async function store(connection: NatsConnection): Promise<void> {
  const ask = async (request: string, body: object): Promise<Json> => {
    const answer = await connection.request(`$JS.API.${request}`, JSON.stringify(body));
    expect(answer.json()).not.toHaveProperty('error');
    return answer.json();
  };
  const limits = { max_msgs_per_subject: 100, max_age: 3_600_000_000_000, description: 'a<b> é', metadata: { é: 'ü' } };
  await ask('STREAM.CREATE.F', { name: 'F', subjects: ['f.*'], storage: 'file', ...limits });
  await ask('STREAM.CREATE.M', { name: 'M', subjects: ['mem.>'], storage: 'memory', retention: 'workqueue' });
  const puller = {
    durable_name: 'pull',
    ack_policy: 'explicit',
    filter_subject: 'f.a',
    backoff: [1e9, 2e9],
    max_deliver: 5,
  };
  await ask('CONSUMER.CREATE.F.pull.f.a', { stream_name: 'F', config: puller });
  connection.subscribe('pushed');
  await connection.flush();
  const pusher = { durable_name: 'push', ack_policy: 'none', deliver_subject: 'pushed' };
  await ask('CONSUMER.CREATE.F.push', { stream_name: 'F', config: pusher });
  for (const subject of ['f.a', 'f.b', 'f.a', 'f.c', 'mem.x']) await connection.request(subject, 'message');
  await ask('STREAM.MSG.DELETE.F', { seq: 2 });
  const message = await connection.request('$JS.API.CONSUMER.MSG.NEXT.F.pull', '1', { timeout: 5000, noMux: true });
  await connection.request(message.reply ?? '', '+ACK');
  await connection.request('$JS.API.CONSUMER.MSG.NEXT.F.pull', '1', { timeout: 5000, noMux: true });
}

/** What can be compared: in lists that are in no order, the order of their texts. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => comparable(each));
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, OWN_VALUES.has(key) ? typeOf(each) : comparable(each)]),
  );
}

type Shape = Map<string, Set<string>>;

/** The types of what stands at each path; of all elements of an array together. */
function shapeOf(value: unknown, path = '', shape: Shape = new Map()): Shape {
  const types = shape.get(path) ?? new Set<string>();
  shape.set(path, types.add(typeOf(value)));
  if (Array.isArray(value)) for (const each of value) shapeOf(each, `${path}[]`, shape);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) shapeOf(each, `${path}.${key}`, shape);
  }
  return shape;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function differences(theirs: Shape, ours: Shape): string[] {
  const at = (shape: Shape, path: string): string => [...(shape.get(path) ?? ['none'])].sort().join(' or ');
  return [...new Set([...theirs.keys(), ...ours.keys()])]
    .filter((path) => at(theirs, path) !== at(ours, path))
    .map((path) => `${path}: ${at(theirs, path)}, ${at(ours, path)}`);
}
