/**
 * The same requests to nats-server and to petiole, and what both say, line by line, without what is never the same: times.
 */
import { connect, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { expect } from 'vitest';
import { isAbsent, natsServer, petiole, type RunningServer, startServer, type Target } from './targets.ts';
import { until } from './until.ts';

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const QUIET_MS = 150;
const WAIT_MS = 15_000;

export interface StreamFields {
  readonly name: string;
  readonly [field: string]: unknown;
}

export type HeaderLines = Readonly<Record<string, string>>;

export class StreamTalk {
  readonly lines: string[] = [];
  readonly client: NatsConnection;
  readonly server: RunningServer;

  constructor(client: NatsConnection, server: RunningServer) {
    this.client = client;
    this.server = server;
  }

  /** Asks the API; the whole answer counts. */
  async api(request: string, body: unknown = ''): Promise<unknown> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = (await this.client.request(`$JS.API.${request}`, text, { timeout: WAIT_MS })).string();
    this.note(`${request} ${text}`, answer);
    return JSON.parse(answer);
  }

  /** Makes a stream; what of the answer counts is whether that is possible. */
  async stream(config: StreamFields): Promise<void> {
    const answer = await this.client.request(`$JS.API.STREAM.CREATE.${config.name}`, JSON.stringify(config));
    const { error } = answer.json<{ error?: unknown }>();
    this.note(`create ${JSON.stringify(config)}`, JSON.stringify(error ?? 'created'));
  }

  async update(config: StreamFields): Promise<void> {
    const answer = await this.client.request(`$JS.API.STREAM.UPDATE.${config.name}`, JSON.stringify(config));
    const { error } = answer.json<{ error?: unknown }>();
    this.note(`update ${JSON.stringify(config)}`, JSON.stringify(error ?? 'updated'));
  }

  /** Publishes and waits for the acknowledgement. */
  async publish(subject: string, payload = '', lines: HeaderLines = {}): Promise<void> {
    const answer = await this.client.request(subject, payload, { headers: headersOf(lines), timeout: WAIT_MS });
    this.note(`${subject} ${JSON.stringify(lines)} ${payload}`, answer.string());
  }

  /** Asks for messages; everything that comes counts, up to an end or a lonely message. */
  async get(request: string, body: unknown = '', lines: HeaderLines = {}): Promise<void> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { client } = this;
    const inbox = `_INBOX.${Math.random().toString(36).slice(2)}`;
    const came: Msg[] = [];
    const subscription = client.subscribe(inbox, { callback: (_error, message) => void came.push(message) });
    client.publish(`$JS.API.DIRECT.GET.${request}`, text, { reply: inbox, headers: headersOf(lines) });
    const isMany = /"batch"|"multi_last":\[[^\]]/.test(text);
    await until(
      () => came.some((message) => !isMany || (message.headers?.code ?? 0) > 0),
      `an answer to ${request} ${text}`,
    );
    await client.flush();
    subscription.unsubscribe();
    for (const [at, message] of came.entries()) this.note(`${request} ${text} #${at}`, shown(message));
  }

  /** What the stream holds. */
  async state(name: string): Promise<void> {
    const answer = await this.client.request(
      `$JS.API.STREAM.INFO.${name}`,
      '{"deleted_details":true,"subjects_filter":">"}',
    );
    const { state } = answer.json<{ state: object }>();
    this.note(`state of ${name}`, JSON.stringify(state));
  }

  /** Every message of the stream, with its headers. */
  async content(name: string): Promise<void> {
    const answer = await this.client.request(`$JS.API.STREAM.INFO.${name}`, '');
    const { state } = answer.json<{ state: { first_seq: number; last_seq: number } }>();
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const found = await this.client.request(`$JS.API.STREAM.MSG.GET.${name}`, JSON.stringify({ seq }));
      const { message } = found.json<{ message?: { subject: string; hdrs?: string; data?: string } }>();
      if (message === undefined) continue;
      const [hdrs, data] = [message.hdrs, message.data].map((text) => Buffer.from(text ?? '', 'base64').toString());
      this.note(`${name} ${seq}`, JSON.stringify([message.subject, hdrs, data]));
    }
  }

  /** Until the stream holds so many messages. */
  async messages(name: string, count: number): Promise<void> {
    const has = async (): Promise<boolean> => {
      const answer = await this.client.request(`$JS.API.STREAM.INFO.${name}`, '');
      return answer.json<{ state: { messages: number } }>().state.messages === count;
    };
    const deadline = Date.now() + WAIT_MS;
    while (!(await has())) {
      if (Date.now() > deadline) {
        await this.state(name);
        throw new Error(`no ${count} messages in ${name}: ${this.lines.at(-1)}`);
      }
      await this.pause(20);
    }
  }

  async pause(ms: number = QUIET_MS): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  note(what: string, said: string): void {
    this.lines.push(`${what} → ${said}`.replaceAll(TIME, '<time>'));
  }
}

const targets: readonly Target[] = [natsServer(), petiole()].filter((each): each is Target => !isAbsent(each));

/** Has the same talk with both servers; both must say the same. Where one is missing there is nothing to compare. */
export async function sameTalk(talk: (with_: StreamTalk) => Promise<void>, config = ''): Promise<string[]> {
  const all: string[][] = [];
  for (const target of targets) {
    const server = await startServer(target, { config: `jetstream { store_dir: "store" }\n${config}` });
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    const one = new StreamTalk(client, server);
    try {
      await talk(one);
    } finally {
      await client.close();
      await server.stop();
    }
    all.push(one.lines);
  }
  const [first = [], second = first] = all;
  expect(second).toEqual(first);
  return first;
}

function headersOf(lines: HeaderLines) {
  const block = headers();
  for (const [name, value] of Object.entries(lines)) block.set(name, value);
  return block;
}

function shown(message: Msg): string {
  const { headers: block } = message;
  const status = block === undefined ? 'no headers' : `${block.code} ${block.description}`;
  const lines = block === undefined ? [] : block.keys().map((name) => `${name}: ${block.values(name).join(', ')}`);
  return `${status} [${lines.join('; ')}] ${message.string()}`;
}
