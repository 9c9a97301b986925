/**
 * The same life led on nats-server and on petiole, and what their monitoring says about it afterwards. What differs from
 * run to run (ids, moments, ports, ages, memory) is replaced by what kind of value it is; everything else, names, order
 * and values, is compared as it is.
 */
/* oxlint-disable vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests,
   vitest/no-disabled-tests -- tests are wrapped here, and a missing server must show as skipped */
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { absenceIsFailure, isAbsent, natsServer, petiole, startServer } from '../helpers/targets.ts';
import type { RunningServer, StartOptions, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';
import type { ServerAddress, WireClient } from '../helpers/wire-client.ts';

export interface Page {
  readonly status: number;
  readonly type: string | undefined;
  readonly allowedOrigin: string | undefined;
  readonly location: string | undefined;
  readonly text: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly body?: string;
}

/** A JSON object of an answer. */
export type Json = Readonly<Record<string, unknown>>;

/** Beside `listen`, which the test helpers set. */
const CONFIG = `
  http: "127.0.0.1:-1"
  server_name: observed
  max_payload: 100KB
  max_pending: 256KB
  max_subscriptions: 50
  ping_interval: "1h2m"
  write_deadline: "2.5s"
  write_timeout: close
  server_tags: [Edge, "zone:1"]
  server_metadata { b: "2", a: "<1>" }
  authorization {
    timeout: 1.5
    users: [ { user: a, password: p }, { user: "<c&d>", password: p } ]
  }
  no_auth_user: a
  leafnodes { remotes: [
    { urls: ["nats://u:secret@127.0.0.1:1", "nats://127.0.0.1:2"], deny_imports: ["x"], deny_exports: ["y", ">"] }
  ] }
`;

export class Observed {
  readonly server: RunningServer;
  readonly #address: ServerAddress;
  readonly #clients: WireClient[] = [];

  constructor(server: RunningServer, address: ServerAddress) {
    this.server = server;
    this.#address = address;
  }

  /** Asks for exactly this path: not even `//` is tidied. */
  async page(path: string, options: RequestOptions = {}): Promise<Page> {
    const { method = 'GET', body = '' } = options;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const { host, port } = this.#address;
      request({ host, port, path, method, agent: false }, resolve).on('error', reject).end(body);
    });
    const { statusCode: status = 0, headers } = response;
    return {
      status,
      type: headers['content-type'],
      allowedOrigin: headers['access-control-allow-origin'],
      location: headers.location,
      text: await text(response),
    };
  }

  async json(path: string): Promise<Json> {
    return JSON.parse((await this.page(path)).text) as Json;
  }

  /** A client that has said who it is, and whose further words have been taken. */
  async client(words: string, connect: object = {}): Promise<WireClient> {
    const client = await this.dial();
    const options = { verbose: false, pedantic: false, user: 'a', pass: 'p', protocol: 0, ...connect };
    client.send(`CONNECT ${JSON.stringify(options)}\r\n${words}PING\r\n`);
    await client.take((received) => behindPong(received), 'PONG');
    return client;
  }

  async dial(): Promise<WireClient> {
    const client = await dial(this.server.address());
    this.#clients.push(client);
    await client.line();
    return client;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.server.stop();
  }

  /** Waits until so many connections have ended. */
  async closed(count: number): Promise<void> {
    await until(async () => (await this.json('/connz?state=closed'))['total'] === count, `${count} to have closed`);
  }
}

/** The two servers of a group of tests, once they run. */
export interface Both {
  readonly natsServer: () => Observed;
  readonly petiole: () => Observed;
}

/**
 * Registers tests over both servers, which are started before the first test and have lived the life that is set then. Without
 * one of the servers the tests show as skipped, and fail in CI.
 */
export function describeBoth(title: string, tests: (both: Both) => void, setting: Setting = {}): void {
  const [theirs, ours] = [natsServer(), petiole()];
  if (isAbsent(theirs) || isAbsent(ours)) {
    const absent = [theirs, ours].map((target) => (isAbsent(target) ? target.absent : '')).join(' ');
    describe(title, () => {
      if (absenceIsFailure())
        test('has both servers', () => expect.fail(`skipped: ${absent}; in CI this is a failure`));
      else test.skip(`skipped: ${absent}`, () => {});
    });
    return;
  }
  describe(`${title}, nats-server ${theirs.version} and petiole ${ours.version}`, () => {
    const started = new Map<Target, Observed>();
    beforeAll(async () => {
      for (const target of [theirs, ours]) {
        const observed = await observe(target, { config: setting.config ?? CONFIG });
        started.set(target, observed);
        await setting.life?.(observed);
      }
    });
    afterAll(() => Promise.all([...started.values()].map((observed) => observed.stop())));
    tests({ natsServer: () => started.get(theirs) as Observed, petiole: () => started.get(ours) as Observed });
  });
}

export interface Setting {
  readonly config?: string;
  readonly life?: (observed: Observed) => Promise<void>;
}

export async function observe(target: Target, options: StartOptions): Promise<Observed> {
  const server = await startServer(target, options);
  return new Observed(server, await server.listening('monitor'));
}

/** Clients that subscribe, publish, ask, are too slow, are refused, and hang up. */
export async function live(observed: Observed): Promise<void> {
  const named = { name: 'first', lang: 'wire', version: '1.2.3' };
  await observed.client('SUB foo.> 1\r\nSUB work q 2\r\nSUB once 3\r\nUNSUB 3 10\r\nSUB service 4\r\n', named);
  await observed.client('SUB work q 1\r\nSUB a<b&c 2\r\nSUB \u00fc.* 3\r\n', { user: '<c&d>' });
  const publisher = await observed.client('PUB foo.bar 3\r\nabc\r\nPUB once 0\r\n\r\n', { name: 'publisher' });
  publisher.send('SUB _INBOX.1 9\r\nPUB service _INBOX.1 2\r\nhi\r\nPUB nobody 5\r\nhello\r\nPING\r\n');
  await publisher.expect('PONG\r\n');
  const silent = await observed.dial();
  silent.send('PUB foo.silent 1\r\nx\r\nPING\r\n');
  await silent.take(behindPong, 'PONG');

  const gone = await observed.client('SUB gone 1\r\nSUB gone.q q 2\r\nUNSUB 1 5\r\nPUB foo.gone 4\r\ngone\r\n', named);
  // A client may have its PONG before the server counts it as sent; closed then, it keeps the bytes as pending.
  await until(async () => !(await observed.page('/connz')).text.includes('"pending_bytes": 6'), 'the PONG to be sent');
  await gone.close();
  await observed.closed(1);
  const refused = await observed.dial();
  refused.send('CONNECT {"verbose":false,"user":"a","pass":"wrong","name":"burglar"}\r\n');
  await refused.cut();
  await observed.closed(2);
  await beTooSlow(observed);
  await observed.closed(3);
  await until(async () => (await observed.json('/connz'))['total'] === 5, 'five clients to be left');
}

async function beTooSlow(observed: Observed): Promise<void> {
  const slow = await observed.client('SUB flood 1\r\n', { name: 'slow' });
  slow.stopReading();
  const publisher = await observed.client('', { name: 'flooder' });
  const message = `PUB flood 65536\r\n${'x'.repeat(65_536)}\r\n`;
  const isClosed = async (): Promise<boolean> => {
    for (let i = 0; i < 16; i++) publisher.send(message);
    publisher.send('PING\r\n');
    await publisher.take(behindPong, 'PONG');
    return (await observed.json('/varz'))['slow_consumers'] !== 0;
  };
  await until(isClosed, 'the slow one to be closed', 20_000);
}

function behindPong(received: Buffer): number | 'more' {
  const at = received.indexOf('PONG\r\n');
  return at < 0 ? 'more' : at + 'PONG\r\n'.length;
}

const MOMENT = /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z"$/;
const AGE = /^"(\d+m)?\d+s"$/;
const COUNT = /^\d+$/;

/** Values that differ from run to run, and what they have to look like. */
export const VOLATILE: Readonly<Record<string, RegExp>> = {
  server_id: /^"N[A-Z2-7]{55}"$/,
  now: MOMENT,
  start: MOMENT,
  stop: MOMENT,
  last_activity: MOMENT,
  config_load_time: MOMENT,
  rtt: /^"(0s|\d+(\.\d+)?(µs|ms|s))"$/,
  uptime: AGE,
  idle: AGE,
  port: COUNT,
  mem: COUNT,
  cpu: /^\d+(\.\d)?$/,
  go: /^".+"$/,
};

/** What a client that is too slow got before that showed is nowhere the same. */
const VOLATILE_OF_SLOW: Readonly<Record<string, RegExp>> = {
  pending_bytes: COUNT,
  out_msgs: COUNT,
  out_bytes: COUNT,
  stalls: COUNT,
  msgs: COUNT,
};
/** Whether anybody waited for it before it was closed is chance; a server that counted none leaves the field out. */
const STALLS = /^ *"stalls": <stalls>,\n/m;
const VOLATILE_OF_FLOODER: Readonly<Record<string, RegExp>> = { in_msgs: COUNT, in_bytes: COUNT };
/** Whether nats-server's error has gone out when it closes the connection is chance. */
const VOLATILE_OF_BURGLAR: Readonly<Record<string, RegExp>> = { pending_bytes: COUNT };

/** The document's text with volatile values blotted out, each cid as its place among all, and lists without order sorted. */
export function settled(text: string, volatile: Readonly<Record<string, RegExp>> = VOLATILE): string {
  const cids = [...new Set(Array.from(text.matchAll(/"cid": (\d+)/g), ([, id]) => Number(id)))].sort((a, b) => a - b);
  const rows = text.replaceAll(/^ {4}\{\n.*?^ {4}\}/gms, (row) => {
    if (row.includes('"name": "slow"')) return blotted(row, VOLATILE_OF_SLOW).replace(STALLS, '');
    if (row.includes('"name": "burglar"')) return blotted(row, VOLATILE_OF_BURGLAR);
    return row.includes('"name": "flooder"') ? blotted(row, VOLATILE_OF_FLOODER) : row;
  });
  const renumbered = rows.replaceAll(/"cid": (\d+)/g, (_, id) => `"cid": ${cids.indexOf(Number(id))}`);
  return sortedLists(blotted(renumbered, volatile));
}

function blotted(text: string, volatile: Readonly<Record<string, RegExp>>): string {
  return text.replaceAll(
    /^( *"(\w+)": )(.*?)(,?)$/gm,
    (line, head: string, key: string, value: string, comma: string) =>
      volatile[key]?.test(value) === true ? `${head}<${key}>${comma}` : line,
  );
}

/** Subscriptions come in any order. */
function sortedLists(text: string): string {
  const lists = /("subscriptions_list(?:_detail)?": \[\n)(.*?)(\n *\])/gs;
  return text.replaceAll(lists, (_, head: string, items: string, end: string) => {
    const each = items.match(/^ *\{.*?\}|^ *"[^:\n]*"(?=,?$)/gms) ?? [];
    return head + each.sort().join(',\n') + end;
  });
}
