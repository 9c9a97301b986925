/**
 * The spool of a leaf remote, with a real hub behind a proxy that cuts the link: what was published while the link was
 * down is at the hub afterwards, message by message, as far as the settings promise. A stream at the hub keeps what
 * comes, and drops what comes twice.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, petiole, type RunningServer, startServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const TEST_MS = 60_000;
const ARRIVED_MS = 20_000;
/** Longer than a spool waits until it takes the hub's interest for whole. */
const SETTLED_MS = 1_500;
/** More than one file of messages. */
const LARGE_COUNT = 12;
const LARGE_BYTES = 900_000;

describeWithHub('the spool of a leaf remote', () => {
  it('brings everything that was published while the link was down, in order', { timeout: TEST_MS }, async () => {
    const { site, stored, proxy, publish } = await start('subjects: ["telemetry.>"]');
    await publish(0, 100);
    expect(await stored.numbersOnce(100)).toEqual(upTo(100));
    await cut(proxy);
    await publish(100, 1_100);
    await onDisk();
    const [remote] = await site.remotes();
    expect(remote).toMatchObject({ account: '$G', opens: 1, last_error: expect.any(String) });
    expect(remote).toMatchObject({ spool: { messages: 1_000, spooled: 1_000, dropped: 0, refused: 0 } });
    expect(await site.metrics()).toMatch(/^petiole_leaf_spool_messages{.*} 1000$/m);
    proxy.refuse(false);
    await publish(1_100, 1_200);
    expect(await stored.numbersOnce(1_200)).toEqual(upTo(1_200));
    await site.stop();
  });

  it('survives a kill while the link is down', { timeout: TEST_MS }, async () => {
    const { site, stored, proxy, publish } = await start('subjects: ["telemetry.>"]');
    await publish(0, 10);
    expect(await stored.numbersOnce(10)).toEqual(upTo(10));
    await cut(proxy);
    await publish(10, 500);
    await onDisk();
    await site.kill();
    await site.startAgain();
    // Nobody has heard of the hub since then: what it wants to hear is known from before.
    await publish(500, 1_000);
    await onDisk();
    await site.kill();
    await site.startAgain();
    proxy.refuse(false);
    expect(await stored.numbersOnce(1_000)).toEqual(upTo(1_000));
  });

  it('tells the age of the oldest message, also where that is on disk alone', { timeout: TEST_MS }, async () => {
    const { site, stored, proxy, publish } = await start('subjects: ["telemetry.>"], max_age: 0');
    await publish(0, 1);
    expect(await stored.numbersOnce(1)).toEqual(upTo(1));
    await cut(proxy);
    await publish(1, 2);
    const oldest = await until(() => site.oldest(), 'the time of the oldest message');
    for (let i = 0; i < LARGE_COUNT; i++) site.client.publish('telemetry.large', Buffer.alloc(LARGE_BYTES));
    await site.client.flush();
    await onDisk();
    expect(await site.oldest()).toBe(oldest);
    await site.kill();
    await site.startAgain();
    expect(await until(() => site.oldest(), 'the time of the oldest message after a start')).toBe(oldest);
    expect(await site.metrics()).toMatch(/^petiole_leaf_spool_oldest_seconds{.*} (?!0$)\S+$/m);
    proxy.refuse(false);
    await until(async () => (await site.oldest()) === undefined, 'the spool to be empty', ARRIVED_MS);
  });

  it('sends again what the hub may not have taken', { timeout: TEST_MS }, async () => {
    const { stored, proxy, publish } = await start('subjects: ["telemetry.>"]');
    await publish(0, 1);
    expect(await stored.numbersOnce(1)).toEqual(upTo(1));
    // The hub hears everything, and no answer of it comes back.
    proxy.pause('down');
    await publish(1, 200);
    await until(async () => (await stored.last()) === 199, 'the hub to have everything', ARRIVED_MS);
    proxy.reset();
    proxy.resume('down');
    await publish(200, 300);
    expect(await stored.numbersOnce(300)).toEqual(upTo(300));
  });

  it('drops the oldest when it is full, or refuses the newest', { timeout: TEST_MS }, async () => {
    for (const whenFull of ['drop_oldest', 'refuse']) {
      const limits = `subjects: ["telemetry.>"], max_bytes: 20000, when_full: ${whenFull}`;
      const { stored, proxy, publish } = await start(limits);
      await publish(0, 1);
      expect(await stored.numbersOnce(1)).toEqual(upTo(1));
      await cut(proxy);
      await publish(1, 2_001);
      proxy.refuse(false);
      await until(async () => (await stored.last()) > 1, 'the spool to arrive', ARRIVED_MS);
      await onDisk();
      await publish(2_001, 2_002);
      await until(async () => (await stored.last()) === 2_001, 'the last message', ARRIVED_MS);
      const [, ...kept] = await stored.numbers();
      expect(kept.length).toBeGreaterThan(50);
      expect(kept.length).toBeLessThan(1_000);
      const from = whenFull === 'refuse' ? 1 : 2_002 - kept.length;
      const expected = Array.from({ length: kept.length - 1 }, (_, i) => from + i);
      expect(kept).toEqual([...expected, 2_001]);
    }
  });

  it('forgets what is too old, and what nobody wanted to hear', { timeout: TEST_MS }, async () => {
    const { site, stored, proxy, publish } = await start('subjects: ["telemetry.>", "unheard.>"], max_age: 4s');
    await publish(0, 1);
    expect(await stored.numbersOnce(1)).toEqual(upTo(1));
    await cut(proxy);
    await publish(1, 50);
    site.client.publish('unheard.of', 'nobody');
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await publish(50, 60);
    proxy.refuse(false);
    await until(async () => (await stored.last()) === 59, 'the last message', ARRIVED_MS);
    expect(await stored.numbers()).toEqual([0, ...Array.from({ length: 10 }, (_, i) => 50 + i)]);
  });

  it('keeps the members of a queue group apart: one of them gets a message', { timeout: TEST_MS }, async () => {
    const { site, hub, proxy } = await start('subjects: ["work.>"]');
    const handled: string[] = [];
    const client = await clientOf(hub.server);
    for (let i = 0; i < 3; i++) {
      client.subscribe('work.*', { queue: 'workers', callback: (_, message) => void handled.push(message.string()) });
    }
    await client.flush();
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    await cut(proxy);
    for (let i = 0; i < 100; i++) site.client.publish('work.item', String(i));
    await site.client.flush();
    proxy.refuse(false);
    await until(() => handled.length === 100, 'all work to be handled', ARRIVED_MS);
    expect(handled.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });
});

interface Parts {
  readonly hub: RealHub;
  readonly proxy: FaultProxy;
  readonly site: Site;
  readonly stored: Stored;
  /** Publishes the numbers from the first up to, not including, the second, under one subject. */
  readonly publish: (from: number, to: number) => Promise<void>;
}

async function start(spool: string): Promise<Parts> {
  const hub = await startHub({ leafnodes: 'no_advertise: true', config: 'jetstream { store_dir: "hub" }' });
  const proxy = await startFaultProxy(hub.leafAddress);
  const client = await clientOf(hub.server);
  const manager = await jetstreamManager(client);
  await manager.streams.add({ name: 'TELEMETRY', subjects: ['telemetry.>'] });
  const site = new Site(proxy, spool);
  await site.startAgain();
  onTestFinished(() => site.stop());
  await until(() => proxy.connections > 0, 'the link');
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const publish = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) site.client.publish('telemetry.site', String(i));
    await site.client.flush();
  };
  return { hub, proxy, site, stored: new Stored(client, manager), publish };
}

/** The link is gone, and does not come back until the proxy refuses no more. */
async function cut(proxy: FaultProxy): Promise<void> {
  proxy.refuse(true);
  proxy.reset();
  await until(() => proxy.connections === 0, 'the link to be gone');
}

/** Nobody is told when a core message is durable: that takes a turn and a write. */
async function onDisk(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
}

/** petiole on a directory that it keeps, and a client of it. */
class Site {
  client!: NatsConnection;
  readonly #config: string;
  #server: RunningServer | null = null;

  constructor(proxy: FaultProxy, spool: string) {
    this.#config = `
      server_name: site
      http: "127.0.0.1:-1"
      jetstream { store_dir: "${temporaryDirectory()}", domain: site }
      leafnodes { reconnect: "100ms", remotes: [ { url: "nats://127.0.0.1:${proxy.address.port}", spool { ${spool} } } ] }`;
  }

  async startAgain(): Promise<void> {
    const target = petiole();
    if (isAbsent(target)) throw new Error(target.absent);
    this.#server = await startServer(target, { config: this.#config });
    this.client = await clientOf(this.#server);
  }

  async remotes(): Promise<object[]> {
    const { remotes } = JSON.parse(await this.#page('/leafz?remotes=1')) as { remotes: object[] };
    return remotes;
  }

  /** When the oldest message of the spool was published. */
  async oldest(): Promise<string | undefined> {
    const [remote] = (await this.remotes()) as { spool?: { oldest?: string } }[];
    return remote?.spool?.oldest;
  }

  async metrics(): Promise<string> {
    return this.#page('/metrics');
  }

  async #page(path: string): Promise<string> {
    const address = await this.#server?.listening('monitor');
    return (await fetch(`http://127.0.0.1:${address?.port}${path}`)).text();
  }

  async kill(): Promise<void> {
    await this.client.close();
    const server = this.#server;
    server?.signal('SIGKILL');
    await until(() => server?.exited === true, 'the end of the process');
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }
}

/** What the hub's stream has. */
class Stored {
  readonly #client: NatsConnection;
  readonly #manager: JetStreamManager;

  constructor(client: NatsConnection, manager: JetStreamManager) {
    this.#client = client;
    this.#manager = manager;
  }

  /** All of them, once there are so many. */
  async numbersOnce(count: number): Promise<number[]> {
    const messages = async (): Promise<number> => (await this.#manager.streams.info('TELEMETRY')).state.messages;
    await until(async () => (await messages()) >= count, `${count} messages at the hub`, ARRIVED_MS);
    return this.numbers();
  }

  async last(): Promise<number> {
    const message = await this.#manager.streams.getMessage('TELEMETRY', { last_by_subj: 'telemetry.site' });
    return Number(message?.string());
  }

  async numbers(): Promise<number[]> {
    const { state } = await this.#manager.streams.info('TELEMETRY');
    if (state.messages === 0) return [];
    const consumer = await jetstream(this.#client).consumers.get('TELEMETRY');
    const numbers: number[] = [];
    for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 5_000 })) {
      numbers.push(Number(message.string()));
    }
    return numbers;
  }
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}
