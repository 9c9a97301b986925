/**
 * Spools of leaf remotes that come, change and go by a reload, with a real hub behind a proxy that cuts the link: nothing
 * that was kept is thrown away, and links that stand stay.
 */
import { expect, it } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { clientOf, serve } from '../helpers/describe-targets.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, petiole, type RunningServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

const TEST_MS = 60_000;
const ARRIVED_MS = 20_000;
/** Longer than a spool waits until it takes the hub's interest for whole. */
const SETTLED_MS = 1_500;
const RELOADED = /^Reloaded server configuration/;

describeWithHub('the spool of a leaf remote after a reload', () => {
  it('spools from when it is added, and is gone when it is removed empty', { timeout: TEST_MS }, async () => {
    const site = await start();
    await site.reload('spool { subjects: ["t.>"] }');
    await settled();
    await site.cut();
    await site.publish('t.x', 0, 100);
    await site.restore();
    expect(await site.heardOnce(100)).toEqual(numbers('t.x', 0, 100));
    await site.publish('t.x', 100, 110);
    expect(await site.heardOnce(110)).toEqual(numbers('t.x', 0, 110));
    const { opens } = await site.remote();
    await site.reload('');
    await site.logs(/Spool \w+ of urls=.* was empty and is gone/);
    await site.publish('t.x', 110, 120);
    expect(await site.heardOnce(120)).toEqual(numbers('t.x', 0, 120));
    expect(await site.remote()).toMatchObject({ opens });
    expect(await site.remote()).not.toHaveProperty('spool');
  });

  it('keeps what it holds when it is removed, and sends it when it is added again', { timeout: TEST_MS }, async () => {
    const site = await start('spool { subjects: ["t.>"] }');
    await site.cut();
    await site.publish('t.x', 0, 50);
    await site.spooled(50);
    await site.reload('');
    await site.logs(/Spool \w+ holds 50 messages for urls=.*; they stay, and are sent when it has a spool again/);
    await site.publish('t.x', 50, 60);
    await site.restore();
    await site.publish('t.x', 60, 70);
    expect(await site.heardOnce(10)).toEqual(numbers('t.x', 60, 70));
    await site.reload('spool { subjects: ["t.>"] }');
    expect(await site.heardOnce(60)).toEqual([...numbers('t.x', 60, 70), ...numbers('t.x', 0, 50)]);
  });

  it('changes what is spooled, and how much', { timeout: TEST_MS }, async () => {
    const site = await start('spool { subjects: ["t.>"], max_bytes: 1MB }');
    await site.reload('spool { subjects: ["u.>"], max_bytes: 20KB, when_full: refuse }');
    await settled();
    await site.cut();
    await site.publish('t.x', 0, 10);
    await site.publish('u.x', 0, 1_000);
    await until(async () => ((await site.remote()).spool?.refused ?? 0) > 0, 'the spool to refuse');
    await site.restore();
    await until(async () => (await site.remote()).spool?.messages === 0, 'the spool to be empty', ARRIVED_MS);
    const heard = site.heard();
    expect(heard.length).toBeGreaterThan(50);
    expect(heard.length).toBeLessThan(900);
    expect(heard).toEqual(numbers('u.x', 0, heard.length));
  });

  it('goes with its remote, and comes with one', { timeout: TEST_MS }, async () => {
    const site = await start('spool { subjects: ["t.>"] }');
    await site.cut();
    await site.publish('t.x', 0, 20);
    await site.spooled(20);
    expect(await reload(site.server, site.configOf(null))).toMatch(RELOADED);
    await site.logs(/Spool \w+ holds 20 messages for urls=/);
    await site.publish('t.x', 20, 30);
    await site.reload('spool { subjects: ["t.>"] }');
    await site.spooled(20);
    // What the hub wants to hear is known from before.
    await site.publish('t.x', 30, 40);
    await site.spooled(30);
    await site.restore();
    expect(await site.heardOnce(30)).toEqual([...numbers('t.x', 0, 20), ...numbers('t.x', 30, 40)]);
  });

  it('comes and goes with JetStream', { timeout: TEST_MS }, async () => {
    const site = await start('', 'enabled: false');
    await site.reload('spool { subjects: ["t.>"] }');
    await settled();
    await site.cut();
    await site.publish('t.x', 0, 20);
    await site.spooled(20);
    const off = site.configOf('').replace('jetstream {', 'jetstream { enabled: false,');
    expect(await reload(site.server, off)).toMatch(RELOADED);
    await site.logs(/JetStream Shutdown/);
    await site.restore();
    await site.publish('t.x', 20, 30);
    expect(await site.heardOnce(10)).toEqual(numbers('t.x', 20, 30));
    await site.reload('spool { subjects: ["t.>"] }');
    expect(await site.heardOnce(30)).toEqual([...numbers('t.x', 20, 30), ...numbers('t.x', 0, 20)]);
  });

  it('is none the worse for reloads in a row', { timeout: TEST_MS }, async () => {
    const site = await start('spool { subjects: ["t.>"] }');
    await site.publish('t.x', 0, 100);
    for (const options of ['', 'spool { subjects: ["t.>"] }', '', 'spool { subjects: ["t.*"] }']) {
      await site.reload(options);
    }
    await settled();
    await site.cut();
    await site.publish('t.x', 100, 200);
    await site.restore();
    await until(() => new Set(site.heard()).size === 200, 'all messages', ARRIVED_MS);
    expect([...new Set(site.heard())].toSorted(byNumber)).toEqual(numbers('t.x', 0, 200));
  });
});

interface RemoteState {
  readonly opens: number;
  readonly spool?: { readonly messages: number; readonly refused: number };
}

/** Starts hub, proxy and site; resolves when the link stands and the hub's interest has settled. */
async function start(options = '', jetstream = ''): Promise<Site> {
  const hub = await startHub({ leafnodes: 'no_advertise: true' });
  const ear = await hub.client();
  ear.send('SUB t.> 1\r\nSUB u.> 2\r\nPING\r\n');
  await ear.expect('PONG\r\n');
  const proxy = await startFaultProxy(hub.leafAddress);
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const directory = temporaryDirectory();
  const server = await serve(target, configOf(directory, proxy, options, jetstream));
  const site = new Site({ hub, proxy, server, directory, ear, client: await clientOf(server) });
  await until(async () => (await hub.links()).length === 1, 'the link');
  await settled();
  return site;
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
}

function configOf(directory: string, proxy: FaultProxy, options: string | null, jetstream = ''): string {
  const remote = `{ url: "nats://127.0.0.1:${proxy.address.port}", ${options} }`;
  return `
    server_name: site
    http: "127.0.0.1:-1"
    jetstream { store_dir: "${directory}", domain: site, ${jetstream} }
    leafnodes { reconnect: "100ms", remotes: [ ${options === null ? '' : remote} ] }`;
}

function numbers(subject: string, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `${subject} ${from + i}`);
}

function byNumber(a: string, b: string): number {
  return Number(a.split(' ')[1]) - Number(b.split(' ')[1]);
}

interface Parts {
  readonly hub: RealHub;
  readonly proxy: FaultProxy;
  readonly server: RunningServer;
  readonly directory: string;
  /** Hears at the hub. */
  readonly ear: WireClient;
  readonly client: WireClient;
}

class Site {
  readonly server: RunningServer;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.server = parts.server;
  }

  /** `options`: of the remote; `null`: there is none. */
  configOf(options: string | null): string {
    const { directory, proxy } = this.#parts;
    return configOf(directory, proxy, options);
  }

  async reload(options: string): Promise<void> {
    const said = await reload(this.server, this.configOf(options));
    if (!RELOADED.test(said)) throw new Error(said);
  }

  async logs(pattern: RegExp): Promise<void> {
    await until(() => pattern.test(this.server.log), `the log to say ${pattern.source}`);
  }

  async publish(subject: string, from: number, to: number): Promise<void> {
    const { client } = this.#parts;
    for (let i = from; i < to; i++) client.send(`PUB ${subject} ${String(i).length}\r\n${i}\r\n`);
    await client.quiet();
  }

  /** The link is gone, and does not come back until `restore`. */
  async cut(): Promise<void> {
    const { proxy } = this.#parts;
    proxy.refuse(true);
    proxy.reset();
    await until(() => proxy.connections === 0, 'the link to be gone');
  }

  async restore(): Promise<void> {
    const { proxy, hub } = this.#parts;
    proxy.refuse(false);
    await until(async () => (await hub.links()).length === 1, 'the link to be back');
  }

  async remote(): Promise<RemoteState> {
    const { host, port } = await this.server.listening('monitor');
    const answer = await fetch(`http://${host}:${port}/leafz?remotes=1`);
    const { remotes } = (await answer.json()) as { remotes: RemoteState[] };
    return remotes[0] as RemoteState;
  }

  async spooled(count: number): Promise<void> {
    await until(async () => (await this.remote())?.spool?.messages === count, `${count} messages in the spool`);
  }

  /** Subject and payload of each message that came to the hub. */
  heard(): string[] {
    const text = this.#parts.ear.unread.toString();
    const messages = [...text.matchAll(/^H?MSG (\S+) [^\r]*\r\n(?:NATS\/1\.0\r\n(?:[^\r]+\r\n)*\r\n)?(\d+)\r\n/gm)];
    return messages.map(([, subject = '', payload = '']) => `${subject} ${payload}`);
  }

  async heardOnce(count: number): Promise<string[]> {
    await until(() => this.heard().length >= count, `${count} messages at the hub`, ARRIVED_MS);
    return this.heard();
  }
}
