/**
 * A hub of which the test writes every byte: it accepts links and hands each out as a wire client, from the hub's side.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';
import { WireClient } from './wire-client.ts';

/** The line by which an accepted link expects its interest: the loop subject with the site's random part. */
const LOOP_LINE = /^LS\+ \$LDS\.[0-9A-Za-z]{22}$/;

/** What each says of itself. */
export const HUB_INFO: object = {
  server_id: 'HUB',
  server_name: 'hub',
  version: '2.15.2',
  proto: 3,
  headers: true,
  max_payload: 1_048_576,
  client_id: 7,
  nonce: 'n',
  info_on_connect: true,
};

export class ScriptedHub {
  readonly #server: Server;
  readonly #accepted: WireClient[] = [];
  #port = 0;

  constructor() {
    this.#server = createServer((socket) => this.#accepted.push(new WireClient(socket)));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** The next link that dials. */
  async accept(timeoutMs?: number): Promise<WireClient> {
    await until(() => this.#accepted.length > 0, 'a link to dial', timeoutMs);
    const link = this.#accepted.shift();
    if (link === undefined) throw new Error('unreachable');
    return link;
  }

  /** An INFO line as a hub of nats-server 2.15 sends it. */
  info(fields: object = {}): string {
    const info = {
      ...HUB_INFO,
      leafnode_urls: [`127.0.0.1:${this.#port}`],
      compression: 's2_auto',
      ...fields,
    };
    return `INFO ${JSON.stringify(info)} \r\n`;
  }

  /** Accepts a link and opens it; its loop subject, CONNECT and told interest have been read. */
  async open(fields: object = {}, second: object = {}): Promise<{ link: WireClient; connect: object; loop: string }> {
    const link = await this.accept();
    link.send(this.info(fields));
    const line = await link.line();
    const connect = JSON.parse(line.replace(/^CONNECT /, '')) as object;
    link.send(this.info({ ...fields, connect_info: true, remote_account: 'HUBACC', ...second }));
    const loop = await link.line();
    if (!LOOP_LINE.test(loop)) throw new Error(`expected the loop subject, got ${loop}`);
    return { link, connect, loop: loop.slice('LS+ '.length) };
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const link of this.#accepted) void link.close();
    await closed;
  }
}

/** Starts a scripted hub; it listens until the test has ended. */
export async function startScriptedHub(): Promise<ScriptedHub> {
  const hub = new ScriptedHub();
  await hub.listen();
  onTestFinished(async () => hub.close());
  return hub;
}
