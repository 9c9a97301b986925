/**
 * The same questions in the system account of nats-server and of petiole. What differs from run to run (moments, ids,
 * ports, sizes) is replaced by what kind of value it is before answers are compared.
 */
import {
  connect,
  headers,
  type NatsConnection,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import { absenceIsFailure, isAbsent, natsServer, petiole, startServer } from '../helpers/targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';

const CONFIG = `
  server_name: asked
  server_tags: [edge, north]
  server_metadata { site: "<7>" }
  accounts {
    SYS { users: [{ user: sys, password: p }] }
    A { users: [{ user: a, password: p }], jetstream: enabled }
    B { users: [{ user: b, password: p }, { user: b2, password: p, permissions: { publish: "ok" } }] }
  }
  system_account: SYS
  jetstream { store_dir: "store", max_mem: 64MB, max_file: 1GB, domain: hill }
`;
const SILENCE_MS = 300;

export type Json = Readonly<Record<string, unknown>>;

export class Asked {
  readonly server: RunningServer;
  readonly system: NatsConnection;
  readonly id: string;

  constructor(server: RunningServer, system: NatsConnection, id: string) {
    this.server = server;
    this.system = system;
    this.id = id;
  }

  get name(): string {
    return this.server.target.name;
  }

  /** What the server answers, or that it does not. `ID` in the subject stands for the server's. */
  async ask(subject: string, body: string = '', accepted: string = ''): Promise<unknown> {
    const answer = await this.request(this.system, subject, body, accepted);
    return typeof answer === 'string' ? answer : (JSON.parse(Buffer.from(answer).toString()) as unknown);
  }

  /** The same through any connection; the bytes as they came. */
  async request(from: NatsConnection, subject: string, body: string, accepted: string): Promise<Uint8Array | string> {
    const options = { timeout: SILENCE_MS, ...(accepted === '' ? {} : { headers: headers() }) };
    options.headers?.set('Accept-Encoding', accepted);
    try {
      const message = await from.request(subject.replace('.ID.', `.${this.id}.`), body, options);
      return message.data;
    } catch (error) {
      if (error instanceof TimeoutError) return 'silence';
      if (error instanceof NoRespondersError) return 'nobody';
      if (error instanceof RequestError && error.isNoResponders()) return 'nobody';
      throw error;
    }
  }

  /** A client of an account that ends with the tests. */
  async client(user: string, name: string = ''): Promise<NatsConnection> {
    return connectTo(this.server, user, name);
  }
}

/** Registers tests for which both servers run, with one system client each. */
export function describeAsked(title: string, tests: (both: () => readonly [theirs: Asked, ours: Asked]) => void): void {
  const targets = [natsServer(), petiole()];
  const absences = targets.filter(isAbsent).map(({ absent }) => absent);
  const reason = absences.length > 0 && !absenceIsFailure() ? absences.join(', ') : null;
  describeUnless(reason, title, () => {
    let asked: Asked[] = [];
    beforeAll(async () => {
      const present = targets.filter((target): target is Target => !isAbsent(target));
      asked = await Promise.all(present.map((target) => begin(target)));
    }, 30_000);
    afterAll(async () => {
      await Promise.all(asked.map(({ system }) => system.close()));
      await Promise.all(asked.map(({ server }) => server.stop()));
    });
    tests(() => asked as unknown as readonly [Asked, Asked]);
  });
}

async function begin(target: Target): Promise<Asked> {
  const server = await startServer(target, { config: CONFIG });
  const system = await connectTo(server, 'sys', 'operator');
  const identity = (await system.request('$SYS.REQ.SERVER.PING.IDZ')).json<{ readonly id: string }>();
  return new Asked(server, system, identity.id);
}

function connectTo(server: RunningServer, user: string, name: string): Promise<NatsConnection> {
  const { host, port } = server.address();
  return connect({ servers: `${host}:${port}`, user, pass: 'p', name, reconnect: false });
}

/** What is said, without what differs between runs and between the two programs. */
export function settled(value: unknown): unknown {
  // nats-server's come in the order of Go's maps, which is none.
  if (Array.isArray(value)) return value.map((each) => settled(each)).toSorted(byText);
  if (typeof value === 'string') return value.replace(/^_INBOX\..*/, 'INBOX');
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([key]) => !OWN.has(key));
  return Object.fromEntries(members.map(([key, each]) => [key, VARYING.has(key) ? typeof each : settled(each)]));
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Only petiole has these, or they say what the program can do. */
const OWN: ReadonlySet<string> = new Set(['git_commit', 'flags', 'sync_always', 'level']);
const VARYING: ReadonlySet<string> = new Set(
  `id server_id sid cid port seq time timestamp now start stop last_activity uptime idle rtt mem cpu go msgs bytes
  subscriptions num_subscriptions num_cache num_inserts num_removes num_matches cache_hit_rate max_fanout avg_fanout
  total total_connections pending_bytes in_msgs in_bytes out_msgs out_bytes in_client_msgs in_client_bytes
  out_client_msgs out_client_bytes config_load_time config_digest store_dir update_time`.split(/\s+/),
);
