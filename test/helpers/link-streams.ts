/**
 * Streams at both ends of a leaf link, each followed from the other end, under load, and core messages that the leaf
 * spools for the hub. Publishers talk to their own server, which stays up: whatever becomes of the link, all that was
 * acknowledged has to be in the followers in the end, once and in order, and all that went into the spool at the hub.
 *
 *     leaf                                             hub
 *     log.leaf ──► LEAFLOG ─────────────────────────►  LEAFMIRROR, LEAFCOPY (a stream with a source)
 *     HUBMIRROR, HUBCOPY  ◄─────────────────────────── HUBLOG ◄── log.hub
 *     spooled.site ──► spool of the remote ─────────►  SPOOLED
 */
import { setTimeout as delay } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { TargetName } from './targets.ts';
import { until } from './until.ts';

const BETWEEN_MS = 10;
const ACK_MS_MAX = 10_000;
const FETCH_MS_MAX = 10_000;
/** Longer than a spool waits until it takes the hub's interest for whole. */
const SETTLED_MS = 1500;
const SPOOLED = 'spooled.site';

/** One end of the link: who serves there, and a client of that server. */
export interface StreamEnd {
  readonly name: 'leaf' | 'hub';
  readonly kind: TargetName;
  readonly client: NatsConnection;
}

/** A stream at one end that is to become like what was published at the other. */
interface Follower {
  readonly stream: string;
  readonly at: StreamEnd;
  /** How many messages it has to get, so far. */
  readonly due: () => number;
}

export class LinkStreams {
  /** Publishing that failed, in words. */
  readonly failed: string[] = [];
  readonly #followers: readonly Follower[];
  readonly #publishing: Promise<void>[] = [];
  #isStopped = false;
  #spooled = 0;

  /** Both ends have JetStream, in domains of their names. The leaf spools where it can. */
  private constructor(ends: readonly StreamEnd[], spool: { readonly from: StreamEnd; readonly to: StreamEnd } | null) {
    const followers: Follower[] = [];
    for (const origin of ends) {
      const acknowledged = this.#publish(origin);
      const at = ends.find((each) => each !== origin) as StreamEnd;
      for (const kind of ['MIRROR', 'COPY']) followers.push({ stream: nameOf(origin, kind), at, due: acknowledged });
    }
    if (spool !== null) {
      this.#publishing.push(this.#fillSpool(spool.from.client));
      followers.push({ stream: 'SPOOLED', at: spool.to, due: () => this.#spooled });
    }
    this.#followers = followers;
  }

  /** Makes the streams over a link that stands, and begins to publish. */
  static async between(leaf: StreamEnd, hub: StreamEnd): Promise<LinkStreams> {
    const ends = [leaf, hub];
    for (const end of ends) await create(end, { name: nameOf(end, 'LOG'), subjects: [`log.${end.name}`] });
    for (const [at, origin] of [ends, ends.toReversed()] as [StreamEnd, StreamEnd][]) {
      const source = { name: nameOf(origin, 'LOG'), external: { api: `$JS.${origin.name}.API`, deliver: '' } };
      await create(at, { name: nameOf(origin, 'MIRROR'), mirror: source });
      await create(at, { name: nameOf(origin, 'COPY'), sources: [source] });
    }
    if (leaf.kind !== 'petiole') return new LinkStreams(ends, null);
    await create(hub, { name: 'SPOOLED', subjects: [SPOOLED] });
    await delay(SETTLED_MS);
    return new LinkStreams(ends, { from: leaf, to: hub });
  }

  /** Resolves when the followers at ends of this kind have everything that has been published until now. */
  async followed(kinds: readonly TargetName[], timeoutMs: number): Promise<void> {
    const due = this.#followersAt(kinds).map((each) => [each, each.due()] as const);
    await Promise.all(
      due.map(async ([{ stream, at }, count]) => {
        const isThere = async (): Promise<boolean> => (await held(at, stream)) >= count;
        await until(isThere, `${stream} at the ${at.name} to have ${count} messages`, timeoutMs);
      }),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#publishing);
  }

  /** What is wrong with these followers, now that nothing more is published; and how much they have. */
  async verdict(
    kinds: readonly TargetName[],
  ): Promise<{ readonly wrongs: readonly string[]; readonly messages: number }> {
    const wrongs: string[] = [];
    let messages = 0;
    for (const { stream, at, due } of this.#followersAt(kinds)) {
      const numbers = await numbersOf(at, stream);
      messages += numbers.length;
      const first = numbers.findIndex((number, i) => number !== i);
      if (first >= 0) wrongs.push(`${stream} at the ${at.name}: number ${numbers[first]} in place ${first}`);
      else if (numbers.length !== due()) wrongs.push(`${stream} at the ${at.name}: ${numbers.length} of ${due()}`);
    }
    return { wrongs, messages };
  }

  #followersAt(kinds: readonly TargetName[]): readonly Follower[] {
    return this.#followers.filter(({ at }) => kinds.includes(at.kind));
  }

  /** Publishes numbers to the stream of this end; tells how many have been acknowledged. */
  #publish(end: StreamEnd): () => number {
    let acknowledged = 0;
    const publish = async (): Promise<void> => {
      while (!this.#isStopped) {
        const answer = await end.client.request(`log.${end.name}`, String(acknowledged), { timeout: ACK_MS_MAX });
        const { seq } = answer.json<{ seq?: number }>();
        if (seq !== ++acknowledged) this.failed.push(`${end.name} answered ${answer.string()} to ${acknowledged}`);
        await delay(BETWEEN_MS);
      }
    };
    this.#publishing.push(publish().catch((error: unknown) => void this.failed.push(`${end.name}: ${String(error)}`)));
    return () => acknowledged;
  }

  async #fillSpool(client: NatsConnection): Promise<void> {
    while (!this.#isStopped) {
      client.publish(SPOOLED, String(this.#spooled++));
      await delay(BETWEEN_MS);
    }
    await client.flush();
  }
}

function nameOf(origin: StreamEnd, kind: string): string {
  return `${origin.name.toUpperCase()}${kind}`;
}

async function create({ client, name: end }: StreamEnd, config: { readonly name: string; [field: string]: unknown }) {
  const answer = await client.request(`$JS.API.STREAM.CREATE.${config.name}`, JSON.stringify(config));
  if (answer.json<{ error?: object }>().error !== undefined) throw new Error(`the ${end}: ${answer.string()}`);
}

async function held({ client }: StreamEnd, stream: string): Promise<number> {
  const answer = await client.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: ACK_MS_MAX });
  return answer.json<{ state: { messages: number } }>().state.messages;
}

/** The numbers of all messages, in order. */
async function numbersOf(end: StreamEnd, stream: string): Promise<number[]> {
  const count = await held(end, stream);
  const numbers: number[] = [];
  if (count === 0) return numbers;
  const consumer = await jetstream(end.client).consumers.get(stream);
  for await (const message of await consumer.fetch({ max_messages: count, expires: FETCH_MS_MAX })) {
    numbers.push(Number(message.string()));
  }
  return numbers;
}
