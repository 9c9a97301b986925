/**
 * The JetStream API of a real nats-server, asked request by request: what it answers decides what configurations must
 * become. One server per way to configure JetStream, started when it is first asked.
 */
import { isAbsent, natsServer, startServer } from '../helpers/targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { dial } from '../helpers/wire-client.ts';
import type { WireClient } from '../helpers/wire-client.ts';

/** Ways to configure JetStream. */
export type Setting = 'strict' | 'lenient' | 'limited';

const CONFIGS: Record<Setting, string> = {
  strict: '',
  lenient: 'strict: false',
  limited: 'limits { duplicate_window: "1m", max_ack_pending: 100, max_request_batch: 50 }',
};

/** What nats-server answers to a creation now and then while the files of an earlier stream by that name are removed. */
const FILES_NOT_GONE = 'error creating store for stream';

/** Why there is nothing to compare with; `null` when there is. */
export function referenceAbsence(): string | null {
  const target = natsServer();
  return isAbsent(target) ? target.absent : null;
}

/** An answer: the configuration in it as it was sent, or the error as `<code> <err_code> <description>`. */
export type Answer = { readonly config: string } | { readonly error: string };

export class ReferenceServers {
  readonly #running: Map<Setting, Promise<Connection>> = new Map();

  /** Asks `$JS.API.<endpoint>`; the answer as a string of bytes. */
  async request(setting: Setting, endpoint: string, body: string): Promise<string> {
    const running = this.#running.get(setting) ?? connect(setting);
    this.#running.set(setting, running);
    const { client } = await running;
    for (;;) {
      const answer = await ask(client, endpoint, Buffer.from(body));
      if (!answer.includes(FILES_NOT_GONE)) return answer;
    }
  }

  async stop(): Promise<void> {
    for (const running of this.#running.values()) {
      const { client, server } = await running;
      await client.close();
      await server.stop();
    }
  }
}

/** The configuration in an answer to a request for it, or the error. */
export function answerIn(text: string): Answer {
  const { error } = JSON.parse(text) as { error?: { code: number; err_code: number; description: string } };
  if (error !== undefined) return { error: `${error.code} ${error.err_code} ${error.description}` };
  const config = /"config":(\{.*\}),"(?:created|delivered)":/s.exec(text)?.[1];
  if (config === undefined) throw new Error(`no configuration in ${text}`);
  return { config };
}

/** The text of an error as the tables have it: without the first code, and not as bytes. */
export function textOfError(error: string): string {
  return Buffer.from(error.slice('400 '.length), 'latin1').toString();
}

/** The metadata that an answer shows when `changes` has the client's own. */
export function shownMetadata(changes: Readonly<Record<string, unknown>>): object {
  const own = changes['metadata'] as object | undefined;
  return { '_nats.level': '5', '_nats.req.level': '0', '_nats.ver': '2.15.2', ...own };
}

/** Parsed text, with a bigint where a number would not be exact. */
export function parse(text: string): unknown {
  const exact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(context?.source ?? '') : value;
  return JSON.parse(Buffer.from(text, 'latin1').toString(), exact);
}

/** The string of bytes that a text is on the wire. */
export function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const CRLF = Buffer.from('\r\n');

interface Connection {
  readonly server: RunningServer;
  readonly client: WireClient;
}

async function connect(setting: Setting): Promise<Connection> {
  const target = natsServer();
  if (isAbsent(target)) throw new Error(target.absent);
  const server = await startServer(target, { config: `jetstream { store_dir: "jetstream"\n${CONFIGS[setting]} }` });
  const client = await dial(server.address());
  await client.line();
  client.send('CONNECT {"verbose":false,"pedantic":false}\r\nSUB _R 1\r\nPING\r\n');
  await client.expect('PONG\r\n');
  return { server, client };
}

async function ask(client: WireClient, endpoint: string, body: Buffer): Promise<string> {
  client.send(Buffer.concat([Buffer.from(`PUB $JS.API.${endpoint} _R ${body.length}\r\n`), body, CRLF]));
  let line = await client.line();
  for (; line === 'PING'; line = await client.line()) client.send('PONG\r\n');
  const length = Number(/^MSG _R 1 (\d+)$/.exec(line)?.[1]);
  if (Number.isNaN(length)) throw new Error(`nats-server says ${line}`);
  const end = length + CRLF.length;
  const payload = await client.take((received) => (received.length < end ? 'more' : end), 'an answer');
  return payload.toString('latin1', 0, length);
}
