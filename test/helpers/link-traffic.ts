/**
 * Load over a leaf link in both directions, by official clients at both ends, and what has to hold of it whatever happens
 * to the link: core messages may be lost while it is cut, but none comes twice, none overtakes another of its sender, and
 * of each request to a queue group with members at both ends one member hears, once.
 *
 *     each end ─┬─ publishes numbered messages ──────────────► subscriber at the other end
 *               ├─ asks a service at the other end
 *               ├─ asks a queue group with a member at each end
 *               └─ has a subscription that changes with each fault
 */
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { until } from './until.ts';
import type { ServerAddress } from './wire-client.ts';

const BETWEEN_MS = 5;
const FLOWS_MS_MAX = 15_000;
/** For a first answer; on a busy machine the next may take twice as long, and so on. */
const ANSWER_MS = 400;
const ANSWER_MS_MAX = 5000;
const POLL_MS = 10;
const GROUP_SUBJECT = 'shared.work';

export class LinkTraffic {
  /** Messages that came twice, in words. */
  readonly repeated: string[] = [];
  readonly outOfOrder: string[] = [];
  received = 0;
  readonly #ends: readonly [End, End];
  readonly #timer: NodeJS.Timeout;
  readonly #handled = new Set<string>();
  #requests = 0;

  constructor(leaf: NatsConnection, hub: NatsConnection) {
    this.#ends = [new End('leaf', leaf, this), new End('hub', hub, this)];
    const [first, second] = this.#ends;
    first.other = second;
    second.other = first;
    for (const end of this.#ends) end.listen();
    this.#timer = setInterval(() => this.#send(), BETWEEN_MS);
  }

  /** Connects to both ends of a link and begins. */
  static async between(leaf: ServerAddress, hub: ServerAddress): Promise<LinkTraffic> {
    return new LinkTraffic(await clientOf(leaf), await clientOf(hub));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const { client } of this.#ends) await client.close();
  }

  /** Resolves when everything has crossed the link, both ways, that was sent after this was called. */
  async flows(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end.flows()));
  }

  /** Each end wants to hear something else from now on. */
  changeInterest(): void {
    for (const end of this.#ends) end.changeInterest();
  }

  /** What an end no longer wants to hear has no subscriber at the other one. */
  async interestIsExact(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end.formerIsForgotten()));
  }

  /** A member of the group has got the request. */
  handled(request: string): void {
    if (this.#handled.has(request)) this.repeated.push(`request ${request}`);
    this.#handled.add(request);
  }

  #send(): void {
    for (const end of this.#ends) {
      end.publish();
      end.client.publish(GROUP_SUBJECT, `${end.name} ${this.#requests++}`);
    }
  }
}

/** One end of the link, and its client. */
class End {
  readonly name: string;
  readonly client: NatsConnection;
  other!: End;
  readonly #traffic: LinkTraffic;
  #sent = 0;
  /** The highest number that has come from the other end. */
  #last = -1;
  #changes = 0;
  #changing: Subscription | null = null;
  #changingHeard = false;

  constructor(name: string, client: NatsConnection, traffic: LinkTraffic) {
    this.name = name;
    this.client = client;
    this.#traffic = traffic;
  }

  listen(): void {
    const { client, name, other } = this;
    client.subscribe(`from.${other.name}`, { callback: (_, message) => this.#heard(Number(message.string())) });
    client.subscribe(`service.${name}`, { callback: (_, message) => void message.respond(message.data) });
    client.subscribe(GROUP_SUBJECT, {
      queue: 'workers',
      callback: (_, message) => this.#traffic.handled(message.string()),
    });
    this.changeInterest();
  }

  publish(): void {
    this.client.publish(`from.${this.name}`, String(this.#sent++));
  }

  changeInterest(): void {
    this.#changing?.unsubscribe();
    this.#changes++;
    this.#changingHeard = false;
    this.#changing = this.client.subscribe(this.#changingSubject(this.#changes), {
      callback: (_, message) => {
        this.#changingHeard = true;
        message.respond(message.data);
      },
    });
  }

  async flows(): Promise<void> {
    const { name, other, client } = this;
    const from = other.#sent;
    const deadlineMs = performance.now() + FLOWS_MS_MAX;
    await until(() => this.#last >= from, `messages from the ${other.name} to reach the ${name}`, FLOWS_MS_MAX);
    await answered(client, `service.${other.name}`, deadlineMs);
    await answered(client, other.#changingSubject(other.#changes), deadlineMs);
    expectHeard(other.#changingHeard, other.name);
  }

  async formerIsForgotten(): Promise<void> {
    if (this.#changes < 2) return;
    const former = this.#changingSubject(this.#changes - 1);
    await until(async () => (await this.other.#asks(former)) === 'no responders', `${former} to be forgotten`);
  }

  async #asks(subject: string): Promise<'answer' | 'no responders' | 'nothing'> {
    return ask(this.client, subject, ANSWER_MS);
  }

  #changingSubject(change: number): string {
    return `changing.${this.name}.${change}`;
  }

  #heard(number: number): void {
    const { name, other } = this;
    this.#traffic.received++;
    if (number === this.#last) this.#traffic.repeated.push(`${number} from the ${other.name}`);
    else if (number < this.#last) this.#traffic.outOfOrder.push(`${number} after ${this.#last} at the ${name}`);
    else this.#last = number;
  }
}

function expectHeard(isHeard: boolean, name: string): void {
  if (!isHeard) throw new Error(`the ${name} answered without having been asked`);
}

async function answered(client: NatsConnection, subject: string, deadlineMs: number): Promise<void> {
  let timeoutMs = ANSWER_MS;
  let outcome = await ask(client, subject, timeoutMs);
  while (outcome !== 'answer') {
    if (performance.now() > deadlineMs) throw new Error(`waited in vain for an answer on ${subject}: ${outcome}`);
    if (outcome === 'nothing') timeoutMs = Math.min(2 * timeoutMs, ANSWER_MS_MAX);
    else await delay(POLL_MS);
    outcome = await ask(client, subject, timeoutMs);
  }
}

async function ask(
  client: NatsConnection,
  subject: string,
  timeoutMs: number,
): Promise<'answer' | 'no responders' | 'nothing'> {
  try {
    await client.request(subject, 'ping', { timeout: timeoutMs });
    return 'answer';
  } catch (error) {
    return String(error).toLowerCase().includes('no responders') ? 'no responders' : 'nothing';
  }
}

async function clientOf({ host, port }: ServerAddress): Promise<NatsConnection> {
  return connect({ servers: `${host}:${port}` });
}
