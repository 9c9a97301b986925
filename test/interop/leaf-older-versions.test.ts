/**
 * Links to nats-servers of earlier versions, which are hubs of petiole or leaves of it: sites are updated at other times
 * than their hubs.
 */
/* oxlint-disable vitest/valid-title, vitest/valid-describe-callback, vitest/no-disabled-tests,
   vitest/no-conditional-tests -- a version that is not installed must show as skipped */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, errors, headers, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { olderServers } from '../helpers/older-servers.ts';
import { isAbsent, petiole, type RunningServer, type Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const OWN = petiole();
const REQUESTS = 200;
const MESSAGES = 200;
const TEST_MS = 60_000;
const ANSWER_MS = 1000;

for (const older of olderServers()) {
  if (isAbsent(older) || isAbsent(OWN)) {
    const absent = [older, OWN].filter(isAbsent).map((target) => target.absent);
    describe('links with older servers', () => test.skip(`skipped: ${absent.join(', ')}`, () => undefined));
  } else {
    describe(`a hub of nats-server ${older.version}`, () => linkTests(OWN, older));
    describe(`a leaf of nats-server ${older.version}`, () => linkTests(older, OWN));
  }
}

function linkTests(leafTarget: Target, hubTarget: Target): void {
  test('interest comes and goes', { timeout: TEST_MS }, async () => {
    const { above, below } = await link(leafTarget, hubTarget);
    for (const [from, to] of [[above, below] as const, [below, above] as const]) {
      const subscription = to.subscribe('service.*', { callback: (_error, message) => void message.respond('yes') });
      await until(async () => (await asked(from, 'service.a')) === 'yes', 'the interest to cross');
      expect(await asked(from, 'other')).toBe('nobody');
      subscription.unsubscribe();
      await until(async () => (await asked(from, 'service.a')) === 'nobody', 'the interest to be gone');
    }
  });

  test('requests are answered in both directions, with headers', { timeout: TEST_MS }, async () => {
    const { above, below } = await link(leafTarget, hubTarget);
    for (const [from, to] of [[above, below] as const, [below, above] as const]) {
      to.subscribe('echo', {
        callback: (_error, message) => {
          message.respond(message.data, message.headers === undefined ? {} : { headers: message.headers });
        },
      });
      await until(async () => (await asked(from, 'echo')) === 'hi', 'the interest to cross');
      const asking = headers();
      asking.set('Trace', 'x y');
      for (let i = 0; i < REQUESTS; i++) {
        const answer = await from.request('echo', `${i}`, { timeout: ANSWER_MS * 5, headers: asking });
        expect([answer.string(), answer.headers?.get('Trace')]).toEqual([`${i}`, 'x y']);
      }
    }
  });

  test('a queue group has one member on each side, and its own side goes first', { timeout: TEST_MS }, async () => {
    const { above, below } = await link(leafTarget, hubTarget);
    const counts = { above: 0, below: 0 };
    below.subscribe('work', { queue: 'q', callback: () => void counts.below++ });
    below.subscribe('seen', { callback: (_error, message) => void message.respond('yes') });
    await until(async () => (await asked(above, 'seen')) === 'yes', 'the interest to cross');
    for (let i = 0; i < REQUESTS; i++) above.publish('work');
    await until(() => counts.below === REQUESTS, 'the work to be done below');
    above.subscribe('work', { queue: 'q', callback: () => void counts.above++ });
    await above.flush();
    for (let i = 0; i < REQUESTS; i++) above.publish('work');
    await until(() => counts.above + counts.below === REQUESTS * 2, 'the work to be done');
    await above.flush();
    expect(counts).toEqual({ above: REQUESTS, below: REQUESTS });
  });

  test('a compressed link carries everything', { timeout: TEST_MS }, async () => {
    const { above, below, hub } = await link(leafTarget, hubTarget, 'compression: s2_better');
    const { leafs } = await leafz(hub);
    expect(leafs).toMatchObject([{ compression: 's2_better' }]);
    for (const [from, to] of [[above, below] as const, [below, above] as const]) {
      const heard: string[] = [];
      to.subscribe('data.>', { callback: (_error, message) => void heard.push(message.string()) });
      await until(async () => {
        from.publish('data.first', '');
        await from.flush();
        return heard.length > 0;
      }, 'the interest to cross');
      const sent = Array.from({ length: MESSAGES }, (_, i) => `message ${i} `.repeat(1 + ((i * 37) % 900)));
      for (const each of sent) from.publish('data.more', each);
      await until(() => heard.filter((text) => text !== '').length === MESSAGES, 'all messages');
      expect(heard.filter((text) => text !== '')).toEqual(sent);
    }
  });

  test('streams are mirrored in both directions', { timeout: TEST_MS }, async () => {
    const { above, below } = await link(leafTarget, hubTarget);
    for (const [from, to, domain] of [[above, below, 'hub'] as const, [below, above, 'edge'] as const]) {
      const [origin, copy] = [await jetstreamManager(from), await jetstreamManager(to)];
      const name = `O-${domain}`;
      await origin.streams.add({ name, subjects: [`o.${domain}`] });
      for (let i = 0; i < MESSAGES; i++) from.publish(`o.${domain}`, `${i}`);
      const external = { api: `$JS.${domain}.API`, deliver: '' };
      await copy.streams.add({ name: `M-${domain}`, mirror: { name, external } });
      await copy.streams.add({ name: `S-${domain}`, sources: [{ name, external }] });
      const held = async (each: string): Promise<number> => (await copy.streams.info(each)).state.messages;
      const isWhole = async (): Promise<boolean> =>
        (await held(`M-${domain}`)) === MESSAGES && (await held(`S-${domain}`)) === MESSAGES;
      await until(isWhole, 'mirror and source to be whole', TEST_MS / 2);
      from.publish(`o.${domain}`, 'last');
      await until(async () => (await held(`M-${domain}`)) > MESSAGES, 'the mirror to go on', TEST_MS / 2);
      const last = await copy.streams.getMessage(`M-${domain}`, { last_by_subj: `o.${domain}` });
      expect([last?.string(), last?.seq]).toEqual(['last', MESSAGES + 1]);
    }
  });
}

interface Linked {
  readonly hub: RunningServer;
  /** A client of the hub. */
  readonly above: NatsConnection;
  /** One of the leaf. */
  readonly below: NatsConnection;
}

async function link(leafTarget: Target, hubTarget: Target, more = 'compression: off'): Promise<Linked> {
  const store = (domain: string): string => `jetstream { store_dir: "${temporaryDirectory()}", domain: ${domain} }`;
  const listener = `leafnodes { listen: "127.0.0.1:-1", ${more} }`;
  const hub = await serve(hubTarget, `server_name: hub\nhttp: "127.0.0.1:-1"\n${listener}\n${store('hub')}`);
  const { port } = await hub.listening('leafnode');
  const remote = `leafnodes { remotes: [ { url: "nats://127.0.0.1:${port}", ${more} } ] }`;
  const leaf = await serve(leafTarget, `server_name: edge\n${remote}\n${store('edge')}`);
  await until(async () => ((await leafz(hub)).leafs ?? []).length === 1, 'the link');
  return { hub, above: await clientOf(hub), below: await clientOf(leaf) };
}

async function leafz(hub: RunningServer): Promise<{ leafs: object[] | null }> {
  const { host, port } = await hub.listening('monitor');
  return (await (await fetch(`http://${host}:${port}/leafz`)).json()) as { leafs: object[] | null };
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const connection = await connect({ servers: `${host}:${port}`, reconnect: false });
  onTestFinished(() => connection.close());
  return connection;
}

/** What is answered to `hi`; `nobody` when it is said that nobody listens, `nothing` when nothing is said. */
async function asked(client: NatsConnection, subject: string): Promise<string> {
  try {
    return (await client.request(subject, 'hi', { timeout: ANSWER_MS })).string();
  } catch (error) {
    return error instanceof errors.RequestError && error.isNoResponders() ? 'nobody' : 'nothing';
  }
}
