/**
 * A real nats-server as the hub of leaf links: it listens for leaves on a port that it keeps when it is restarted, and
 * tells over its monitoring port what it believes each link wants to hear.
 */
/* oxlint-disable vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests,
   vitest/no-disabled-tests -- tests are wrapped here, and a missing hub must show as skipped */
import { describe, expect, onTestFinished, test } from 'vitest';
import { absenceIsFailure, isAbsent, natsServer, startServer } from './targets.ts';
import type { RunningServer, Target } from './targets.ts';
import { until } from './until.ts';
import { dial } from './wire-client.ts';
import type { ServerAddress, WireClient } from './wire-client.ts';

/** What /leafz tells of one link. */
interface LeafzLink {
  readonly name: string;
  readonly account: string;
  readonly subscriptions_list?: string[];
  readonly in_msgs: number;
  readonly out_msgs: number;
}

export interface HubOptions {
  /** Inside of `leafnodes { }`, beside listen. */
  readonly leafnodes?: string;
  /** Beside it. */
  readonly config?: string;
}

/** Registers tests that need a real hub; where there is none they show as skipped, and fail in CI. */
export function describeWithHub(title: string, tests: () => void): void {
  const target = natsServer();
  if (!isAbsent(target)) {
    describe(`${title}, hub: nats-server ${target.version}`, tests);
    return;
  }
  describe(title, () => {
    if (absenceIsFailure()) test('has a hub', () => expect.fail(`skipped: ${target.absent}; in CI this is a failure`));
    else test.skip(`skipped: ${target.absent}`, () => {});
  });
}

export class RealHub {
  readonly leafAddress: ServerAddress;
  readonly #target: Target;
  readonly #options: HubOptions;
  #server: RunningServer;
  /** What earlier runs wrote. */
  #earlierLog = '';

  constructor(target: Target, options: HubOptions, leafAddress: ServerAddress, server: RunningServer) {
    this.#target = target;
    this.#options = options;
    this.leafAddress = leafAddress;
    this.#server = server;
  }

  get server(): RunningServer {
    return this.#server;
  }

  get log(): string {
    return this.#earlierLog + this.#server.log;
  }

  /** `nats://login@host:port` of the leaf port. */
  url(login = ''): string {
    const { host, port } = this.leafAddress;
    return `nats://${login === '' ? '' : `${login}@`}${host}:${port}`;
  }

  async client(options: object = {}): Promise<WireClient> {
    const client = await dial(this.#server.address());
    await client.line();
    client.send(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, ...options })}\r\nPING\r\n`);
    await client.expect('PONG\r\n');
    onTestFinished(() => client.close());
    return client;
  }

  async stop(): Promise<void> {
    this.#earlierLog += this.#server.log;
    await this.#server.stop();
  }

  async startAgain(): Promise<void> {
    const config = configOf(this.#options, this.leafAddress.port);
    // Meanwhile a client may have been given the port as its own, for a moment.
    this.#server = await until(
      async () => startServer(this.#target, { config, flags: FLAGS }).catch((error: unknown) => keepIfPortTaken(error)),
      'the hub to get its port back',
    );
    await this.#server.listening('leafnode');
  }

  /** The links that the hub has. */
  async links(): Promise<readonly LeafzLink[]> {
    const { host, port } = await this.#server.listening('monitor');
    const answer = await fetch(`http://${host}:${port}/leafz?subs=1`);
    const { leafs } = (await answer.json()) as { leafs: LeafzLink[] | null };
    return leafs ?? [];
  }

  /** What the hub believes that the site wants to hear, sorted, without loop subjects; `null`: it has no such link. */
  async interestOf(site: string): Promise<readonly string[] | null> {
    const links = (await this.links()).filter(({ name }) => name === site);
    if (links.length !== 1) return null;
    return (links[0]?.subscriptions_list ?? []).filter((subject) => !subject.startsWith('$LDS.')).toSorted();
  }

  /** Waits until the hub believes that the site wants to hear exactly these. */
  async awaitInterest(site: string, subjects: readonly string[], timeoutMs?: number): Promise<void> {
    const wanted = JSON.stringify(subjects.toSorted());
    await until(
      async () => JSON.stringify(await this.interestOf(site)) === wanted,
      `the hub to know the interest ${wanted.slice(0, 200)} of ${site}`,
      timeoutMs,
    );
  }
}

const FLAGS: readonly string[] = ['-DV'];

/** Starts a hub; it is stopped when the test has ended. */
export async function startHub(options: HubOptions = {}): Promise<RealHub> {
  const target = natsServer();
  if (isAbsent(target)) throw new Error(target.absent);
  const server = await startServer(target, { config: configOf(options, -1), flags: FLAGS });
  const hub = new RealHub(target, options, await server.listening('leafnode'), server);
  onTestFinished(() => hub.stop());
  return hub;
}

function configOf({ leafnodes = '', config = '' }: HubOptions, leafPort: number): string {
  return `leafnodes { listen: "127.0.0.1:${leafPort}"\n${leafnodes} }\nhttp: "127.0.0.1:-1"\n${config}\n`;
}

function keepIfPortTaken(error: unknown): null {
  if (String(error).includes('address already in use')) return null;
  throw error;
}
