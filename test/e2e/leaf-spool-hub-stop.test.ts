/**
 * The spool of a leaf remote whose hub is stopped in an orderly way. The hub withdraws what its streams want to hear just
 * before it closes the link; what is published while it is down is in its stream afterwards all the same.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { natsClientOf } from '../helpers/linked-pair.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const TEST_MS = 60_000;
const ARRIVED_MS = 20_000;
/** Longer than a spool waits until it takes the hub's interest for whole. */
const SETTLED_MS = 1_500;
/** The same on a busy machine. */
const WELL_SETTLED_MS = 3_000;
/** As late as clients come back that look for their server every two seconds. */
const REDIAL_MS = 2_500;
const PACE_MS = 2;
/** The shortest that there is; with few clients each goes within a second of the one before. */
const LAME_DUCK = 'lame_duck_duration: 30s, lame_duck_grace_period: 300ms';
/** Fewer than are published in the grace period. The hub has taken some for those who had just gone, and they are lost. */
const TAKEN_MAX = 50;

describeWithHub('the spool of a remote whose hub is stopped', () => {
  it('keeps what a stream of the hub wants, though the hub has withdrawn it', { timeout: TEST_MS }, async () => {
    const hub = await startHub({ config: `jetstream { store_dir: "${temporaryDirectory()}" }` });
    const manager = await jetstreamManager(await natsClientOf(hub.server));
    await manager.streams.add({ name: 'T', subjects: ['telemetry.>'] });
    const { client, remotes } = await siteBelow(hub);
    await until(async () => (await hub.links()).length === 1, 'the link');
    await delay(SETTLED_MS);

    await hub.stop();
    await until(async () => /"last_error":/.test(await remotes()), 'the link to be gone');
    for (let i = 0; i < 5; i++) client.publish('telemetry.a', String(i));
    await client.flush();
    await until(async () => /"messages":\s*5,/.test(await remotes()), 'the spool to have them');

    await hub.startAgain();
    const again = await jetstreamManager(await natsClientOf(hub.server));
    const stored = async (): Promise<number> => (await again.streams.info('T')).state.messages;
    await until(async () => (await stored()) === 5, 'the stream to have them', ARRIVED_MS);
    expect((await again.streams.getMessage('T', { seq: 5 }))?.string()).toBe('4');
  });

  it('waits for subscribers of the hub who find it later than the link does', { timeout: TEST_MS }, async () => {
    const hub = await startHub();
    const before = await natsClientOf(hub.server);
    before.subscribe('telemetry.>');
    await before.flush();
    const { client, remotes } = await siteBelow(hub);
    await until(async () => (await hub.links()).length === 1, 'the link');
    await delay(SETTLED_MS);
    await hub.stop();
    await until(async () => /"last_error":/.test(await remotes()), 'the link to be gone');
    for (let i = 0; i < 100; i++) client.publish('telemetry.a', String(i));
    await client.flush();
    await until(async () => /"messages":\s*100,/.test(await remotes()), 'the spool to have them');

    await hub.startAgain();
    await until(async () => (await hub.links()).length === 1, 'the link');
    await delay(REDIAL_MS);
    client.publish('telemetry.a', '100');
    const heard: string[] = [];
    const late = await natsClientOf(hub.server);
    late.subscribe('telemetry.>', { callback: (_, message) => void heard.push(message.string()) });
    await until(() => heard.length >= 101, 'the subscriber to have them', ARRIVED_MS);
    expect(heard).toEqual(Array.from({ length: 101 }, (_, i) => String(i)));
    await until(async () => /"messages":\s*0,/.test(await remotes()), 'the spool to be empty');
    expect(await remotes()).toMatch(/"dropped":\s*0,/);
  });

  it('keeps what is published for a stream while the hub is a lame duck', { timeout: TEST_MS }, async () => {
    const config = `jetstream { store_dir: "${temporaryDirectory()}" }\n${LAME_DUCK}`;
    const hub = await startHub({ config });
    const manager = await jetstreamManager(await natsClientOf(hub.server));
    await manager.streams.add({ name: 'T', subjects: ['telemetry.>'] });
    const { client, remotes } = await siteBelow(hub);
    await until(async () => (await hub.links()).length === 1, 'the link');
    await delay(WELL_SETTLED_MS);
    const count = await publishToLameDuck(client, hub);
    await until(async () => /"last_error":/.test(await remotes()), 'the link to be gone');
    await hub.startAgain();
    const again = await jetstreamManager(await natsClientOf(hub.server));
    const numbers = async (): Promise<Set<number>> => {
      const { state } = await again.streams.info('T', { subjects_filter: '>' });
      return new Set(Object.keys(state.subjects ?? {}).map((subject) => Number(subject.slice('telemetry.'.length))));
    };
    await until(async () => /"messages":\s*0,/.test(await remotes()), 'the spool to be empty', ARRIVED_MS);
    const lost = missing(count, await numbers());
    expect(lost.length, `of ${count}: ${lost.join(' ')}`).toBeLessThan(TAKEN_MAX);
  });

  it('keeps what is published while the hub sends its subscribers away', { timeout: TEST_MS }, async () => {
    const hub = await startHub({ config: LAME_DUCK });
    const heard = new Set<number>();
    const callback = (_: Error | null, message: Msg): void => void heard.add(Number(message.string()));
    const before = await natsClientOf(hub.server, { reconnect: false });
    before.subscribe('telemetry.>', { callback });
    await before.flush();
    const { client, remotes } = await siteBelow(hub);
    await until(async () => (await hub.links()).length === 1, 'the link');
    await delay(WELL_SETTLED_MS);
    const count = await publishToLameDuck(client, hub);
    await until(async () => /"last_error":/.test(await remotes()), 'the link to be gone');
    expect(heard.size).toBeGreaterThan(0);
    await hub.startAgain();
    const after = await natsClientOf(hub.server);
    after.subscribe('telemetry.>', { callback });
    await until(async () => /"messages":\s*0,/.test(await remotes()), 'the spool to be empty', ARRIVED_MS);
    await after.flush();
    const lost = missing(count, heard);
    expect(lost.length, `of ${count}: ${lost.join(' ')}`).toBeLessThan(TAKEN_MAX);
  });
});

/** Publishes a number under its own subject every few milliseconds while the hub sends all away and ends; how many. */
async function publishToLameDuck(client: NatsConnection, { server }: RealHub): Promise<number> {
  server.signal('SIGUSR2');
  let count = 0;
  while (!server.exited) {
    client.publish(`telemetry.${count}`, String(count));
    count++;
    await delay(PACE_MS);
  }
  await client.flush();
  return count;
}

function missing(count: number, heard: ReadonlySet<number>): readonly number[] {
  return Array.from({ length: count }, (_, i) => i).filter((number) => !heard.has(number));
}

async function siteBelow(hub: RealHub): Promise<{ client: NatsConnection; remotes: () => Promise<string> }> {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const remote = `{ url: "${hub.url()}", spool { subjects: ["telemetry.>"] } }`;
  const site = await serve(
    target,
    `http: "127.0.0.1:-1"
     jetstream { store_dir: "store", domain: site }
     leafnodes { reconnect: "100ms", remotes: [ ${remote} ] }`,
  );
  const client = await natsClientOf(site);
  const { port } = await site.listening('monitor');
  return { client, remotes: async () => (await fetch(`http://127.0.0.1:${port}/leafz?remotes=1`)).text() };
}
