/**
 * Streams of a site that are fed from its hub, and streams of the hub that are fed from a site, over a link that is cut:
 * nothing is lost, nothing comes twice, and the rest is there soon after the link is.
 */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { sourceHeader } from '../../jetstream/stream/source-name.ts';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { isAbsent, petiole, type RunningServer, type Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const EXTERNAL_HUB = { api: '$JS.hub.API', deliver: '' };
/** nats-server takes up to 40 seconds to go on behind a cut. */
const PATIENCE_MS = 120_000;
const ANSWER = { timeout: 10_000 };
/** Longer than the hub keeps a consumer that nobody listens to. */
const OUTAGE_MS = 12_000;
const CAUGHT_UP_MS = 3000;
const KILLS = 2;
const AT_ONCE = 25;
const ROUND_TRIPS = 40;
/** A little longer than a link takes to be dialled again. */
const PAUSE_MS = 1500;
const PLAIN_SOURCE = {
  name: 'O',
  optStartSeq: 0,
  optStartTime: null,
  filterSubject: '',
  subjectTransforms: null,
  consumer: null,
};

describeTargets('a site of petiole below a hub', (hubTarget) => {
  test(
    // nats-server#6468, #7530: what came while the link was down was missing.
    'mirrors a stream of its hub across a cut link',
    async () => {
      const { far, near, proxy } = await startPair(hubTarget);
      await create(far, { name: 'O', subjects: ['o.>'] });
      await create(near, { name: 'M', mirror: { name: 'O', external: EXTERNAL_HUB } });
      await publishNumbers(far, 'o.a', 1, 10);
      await until(async () => (await held(near, 'M')) === 10, 'the mirror to have it all');
      await cut(proxy, OUTAGE_MS, () => publishNumbers(far, 'o.b', 11, 200));
      await until(async () => (await held(near, 'M')) === 200, 'the mirror to catch up', CAUGHT_UP_MS);
      expect(await payloads(near, 'M')).toEqual(numbers(200));
      await publishNumbers(far, 'o.c', 201, 201);
      await until(async () => (await held(near, 'M')) === 201, 'the mirror to go on');
    },
    PATIENCE_MS,
  );

  test(
    'shows that nobody answers for a domain that is mistyped, and for the right one only until the hub is there',
    async () => {
      const { far, near } = await startPair(hubTarget);
      await create(far, { name: 'O', subjects: ['o.>'] });
      const external = { api: '$JS.hubb.API', deliver: '' };
      await create(near, { name: 'M', mirror: { name: 'O', external } });
      await create(near, { name: 'S', sources: [{ name: 'O', external }] });
      await create(near, { name: 'R', mirror: { name: 'O', external: EXTERNAL_HUB } });
      const description = 'no answer from $JS.hubb.API';
      await until(async () => (await originsOf(near, 'M'))[0]?.error !== undefined, 'the error of the mirror');
      expect((await originsOf(near, 'M'))[0]?.error).toEqual({ code: 500, err_code: 10_029, description });
      await until(async () => (await originsOf(near, 'S'))[0]?.error !== undefined, 'the error of the source');
      expect((await originsOf(near, 'S'))[0]?.error).toEqual({ code: 500, err_code: 10_045, description });
      await publishNumbers(far, 'o.a', 1, 3);
      await until(async () => (await held(near, 'R')) === 3, 'the other mirror to be fed');
      expect((await originsOf(near, 'R'))[0]).not.toHaveProperty('error');
    },
    PATIENCE_MS,
  );

  test(
    // Who publishes at the site is told by the hub, over the same link that the mirror is fed by.
    'reads from its mirror at once what its hub has just acknowledged',
    async () => {
      const { far, near } = await startPair(hubTarget);
      await create(far, { name: 'O', subjects: ['o.>'] });
      await create(near, { name: 'M', mirror: { name: 'O', external: EXTERNAL_HUB }, allow_direct: true });
      await publishNumbers(far, 'o.a', 1, 1);
      await until(async () => (await held(near, 'M')) === 1, 'the mirror to be fed');
      let readAtOnce = 0;
      for (let seq = 2; seq <= ROUND_TRIPS; seq++) {
        await near.request('o.a', String(seq), ANSWER);
        const last = await near.request('$JS.API.DIRECT.GET.M', JSON.stringify({ last_by_subj: 'o.a' }), ANSWER);
        if (last.string() === String(seq)) readAtOnce++;
      }
      // The acknowledgement may overtake the message, since they come from different parts of the hub.
      expect(readAtOnce).toBeGreaterThan(ROUND_TRIPS / 2);
    },
    PATIENCE_MS,
  );

  test(
    // nats-server#7796, #8069: it had messages twice behind a reconnect.
    'draws from a stream of its hub while the link comes and goes',
    async () => {
      const { far, near, proxy } = await startPair(hubTarget);
      await create(far, { name: 'O', subjects: ['o.>'] });
      await create(near, { name: 'S', sources: [{ name: 'O', external: EXTERNAL_HUB }] });
      await publishBesideResets(far, proxy, 1000);
      await until(async () => (await held(near, 'S')) === 1000, 'the stream to have it all', 60_000);
      expect(await payloads(near, 'S')).toEqual(numbers(1000));
    },
    PATIENCE_MS,
  );

  test(
    'is drawn from by its hub while the link comes and goes',
    async () => {
      const { far, near, proxy } = await startPair(hubTarget);
      await create(near, { name: 'O', subjects: ['o.>'] });
      await create(far, { name: 'S', sources: [{ name: 'O', external: { api: '$JS.site.API', deliver: '' } }] });
      await create(far, { name: 'M', mirror: { name: 'O', external: { api: '$JS.site.API', deliver: '' } } });
      await publishBesideResets(near, proxy, 500);
      await until(async () => (await held(far, 'S')) === 500, 'the stream of the hub to have it all', 40_000);
      await until(async () => (await held(far, 'M')) === 500, 'the mirror of the hub to have it all', 40_000);
      expect(await payloads(far, 'S')).toEqual(numbers(500));
      expect(await payloads(far, 'M')).toEqual(numbers(500));
      // Both ends name the source alike.
      const { message } = await ask<{ message: { hdrs: string } }>(far, 'STREAM.MSG.GET.S', { seq: 1 });
      const header = Buffer.from(message.hdrs, 'base64').toString();
      const external = { apiPrefix: '$JS.site.API', deliverPrefix: '' };
      const source = { ...PLAIN_SOURCE, external };
      expect(header).toContain(`Nats-Stream-Source: ${sourceHeader(source, 1, 'o.1', '')}`);
    },
    PATIENCE_MS,
  );

  test(
    'is killed again and again while it is fed, and goes on',
    async () => {
      const { far, site } = await startPair(hubTarget);
      await create(far, { name: 'O', subjects: ['o.>'] });
      await create(site.client, { name: 'M', mirror: { name: 'O', external: EXTERNAL_HUB } });
      await create(site.client, { name: 'S', sources: [{ name: 'O', external: EXTERNAL_HUB }] });
      let last = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        await publishNumbers(far, 'o.x', last + 1, last + 150);
        await site.kill();
        await publishNumbers(far, 'o.x', last + 151, last + 200);
        last += 200;
        await site.start();
      }
      for (const stream of ['M', 'S']) {
        await until(async () => (await held(site.client, stream)) >= last, `${stream} to catch up`, 60_000);
        expect(await payloads(site.client, stream)).toEqual(numbers(last));
      }
    },
    PATIENCE_MS,
  );

  test(
    'is killed again and again while its hub empties its work queue',
    async () => {
      const { far, site } = await startPair(hubTarget);
      await create(site.client, { name: 'W', subjects: ['w'], retention: 'workqueue' });
      await create(far, { name: 'S', sources: [{ name: 'W', external: { api: '$JS.site.API', deliver: '' } }] });
      let last = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        await publishNumbers(site.client, 'w', last + 1, last + 200);
        last += 200;
        await site.kill();
        await site.start();
      }
      await until(async () => (await held(far, 'S')) >= last, 'the hub to have it all', 60_000);
      expect(await payloads(far, 'S')).toEqual(numbers(last));
      await until(async () => (await held(site.client, 'W')) === 0, 'the work queue to be empty');
    },
    PATIENCE_MS,
  );

  test(
    // nats-server#3207: messages were gone from the queue and not in the stream.
    'empties a work queue of its hub while the link comes and goes',
    async () => {
      const { far, near, proxy } = await startPair(hubTarget);
      await create(far, { name: 'O', subjects: ['o.>'], retention: 'workqueue' });
      await create(near, { name: 'S', sources: [{ name: 'O', external: EXTERNAL_HUB }] });
      await publishBesideResets(far, proxy, 1000);
      await until(async () => (await held(near, 'S')) === 1000, 'the stream to have it all', 60_000);
      expect(await payloads(near, 'S')).toEqual(numbers(1000));
      await until(async () => (await held(far, 'O')) === 0, 'the work queue to be empty');
    },
    PATIENCE_MS,
  );
});

/** A petiole that can be killed, and started again on what it has stored. */
class Site {
  client!: NatsConnection;
  private readonly config: string;
  private server!: RunningServer;

  constructor(leafPort: number) {
    const storeDirectory = JSON.stringify(temporaryDirectory());
    const remote = `{ url: "nats://127.0.0.1:${leafPort}" }`;
    this.config = `jetstream { store_dir: ${storeDirectory}, domain: site }\nleafnodes { remotes: [ ${remote} ] }`;
  }

  async start(): Promise<void> {
    const target = petiole();
    if (isAbsent(target)) throw new Error(target.absent);
    this.server = await serve(target, this.config);
    this.client = await connectTo(this.server);
  }

  async kill(): Promise<void> {
    await this.client.close();
    this.server.signal('SIGKILL');
    await until(() => this.server.exited, 'the site to be dead');
  }
}

interface Pair {
  readonly far: NatsConnection;
  /** Of the first life of the site. */
  readonly near: NatsConnection;
  readonly proxy: FaultProxy;
  readonly site: Site;
}

async function startPair(hubTarget: Target): Promise<Pair> {
  const hub = await serve(
    hubTarget,
    'jetstream { store_dir: "store", domain: hub }\nleafnodes { listen: "127.0.0.1:-1" }',
  );
  const proxy = await startFaultProxy(await hub.listening('leafnode'));
  const site = new Site(proxy.address.port);
  await site.start();
  return { far: await connectTo(hub), near: site.client, proxy, site };
}

async function connectTo(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}

interface StreamFields {
  readonly name: string;
  readonly [field: string]: unknown;
}

async function create(client: NatsConnection, config: StreamFields): Promise<void> {
  const answer = await client.request(`$JS.API.STREAM.CREATE.${config.name}`, JSON.stringify(config), ANSWER);
  expect(answer.json()).not.toHaveProperty('error');
}

async function ask<T>(client: NatsConnection, request: string, body: object): Promise<T> {
  return (await client.request(`$JS.API.${request}`, JSON.stringify(body), ANSWER)).json<T>();
}

async function originsOf(client: NatsConnection, stream: string): Promise<{ readonly error?: object }[]> {
  const { mirror, sources } = await ask<{ mirror?: object; sources?: object[] }>(client, `STREAM.INFO.${stream}`, {});
  return mirror === undefined ? (sources ?? []) : [mirror];
}

async function held(client: NatsConnection, stream: string): Promise<number> {
  const answer = await client.request(`$JS.API.STREAM.INFO.${stream}`, '', ANSWER);
  return answer.json<{ state: { messages: number } }>().state.messages;
}

/** The payloads of all messages, in order. */
async function payloads(client: NatsConnection, stream: string): Promise<string[]> {
  const sequences = numbers(await held(client, stream)).map(Number);
  const found: string[] = [];
  for (let from = 0; from < sequences.length; from += AT_ONCE) {
    const gets = sequences.slice(from, from + AT_ONCE).map(async (seq) => {
      const { message } = await ask<{ message: { data: string } }>(client, `STREAM.MSG.GET.${stream}`, { seq });
      return Buffer.from(message.data, 'base64').toString();
    });
    found.push(...(await Promise.all(gets)));
  }
  return found;
}

function numbers(last: number): string[] {
  return Array.from({ length: last }, (_, at) => String(at + 1));
}

async function cut(proxy: FaultProxy, forMs: number, meanwhile: () => Promise<void>): Promise<void> {
  proxy.refuse(true);
  proxy.reset();
  const pause = new Promise((resolve) => setTimeout(resolve, forMs));
  await meanwhile();
  await pause;
  proxy.refuse(false);
}

/** Publishes numbers, and has the link cut several times meanwhile. */
async function publishBesideResets(client: NatsConnection, proxy: FaultProxy, last: number): Promise<void> {
  const part = last / 5;
  for (let first = 1; first <= last; first += part) {
    await publishNumbers(client, `o.${first}`, first, first + part / 2 - 1);
    // What is on its way now may be lost.
    const rest = publishNumbers(client, `o.${first}`, first + part / 2, first + part - 1);
    proxy.reset();
    await rest;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Publishes these numbers, several at a time; they are stored in order. */
async function publishNumbers(client: NatsConnection, subject: string, first: number, last: number): Promise<void> {
  for (let from = first; from <= last; from += AT_ONCE) {
    const part = numbers(Math.min(from + AT_ONCE - 1, last)).slice(from - 1);
    await Promise.all(part.map((each) => client.request(subject, each, ANSWER)));
  }
}
