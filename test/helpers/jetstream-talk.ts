/**
 * What one says to JetStream and hears from it, written down so that it can be laid beside what another server said:
 * what differs between any two servers, times above all, is replaced by its kind.
 */
/* oxlint-disable vitest/valid-title, vitest/no-conditional-tests, vitest/no-disabled-tests -- tests are wrapped here, and
   what did not run must show as skipped */
import { connect, headers as newHeaders, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteStreams } from './delete-streams.ts';
import { absenceIsFailure, isAbsent, natsServer, petiole, type RunningServer, startServer } from './targets.ts';
import type { Target } from './targets.ts';
import { until } from './until.ts';

const PULL_MS = 2000;

export class JetStreamTalk {
  readonly lines: string[] = [];
  readonly #client: NatsConnection;

  constructor(client: NatsConnection) {
    this.#client = client;
  }

  /** Asks the API; the answer is written down and returned. */
  async api(request: string, body: object | string = ''): Promise<Record<string, unknown>> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await this.#client.request(`$JS.API.${request}`, text, { timeout: PULL_MS });
    this.lines.push(`${request} ${text} -> ${normalized(answer.string())}`);
    return JSON.parse(answer.string()) as Record<string, unknown>;
  }

  /** Publishes and waits for the acknowledgement, which is written down. */
  async publish(subject: string, payload = '', fields: Readonly<Record<string, string>> = {}): Promise<void> {
    const headers = newHeaders();
    for (const [name, value] of Object.entries(fields)) headers.set(name, value);
    const options = { timeout: PULL_MS, ...(headers.keys().length > 0 ? { headers } : {}) };
    const answer = await this.#client.request(subject, payload, options);
    const shown = payload.length > 40 ? `${payload.length} bytes` : payload;
    this.lines.push(`${subject} ${shown} ${JSON.stringify(fields)} -> ${normalized(answer.string())}`);
  }

  /** Publishes without wanting to hear of it. */
  tell(subject: string, payload = ''): void {
    this.#client.publish(subject, payload);
  }

  /** Gets up to `batch` messages, which are written down. */
  async pull(stream: string, consumer: string, batch = 1): Promise<Msg[]> {
    const inbox = `_INBOX.${Math.random().toString(36).slice(2)}`;
    const heard: Msg[] = [];
    let isOver = false;
    const subscription = this.#client.subscribe(inbox, {
      callback: (_error, message) => {
        if ((message.headers?.code ?? 0) > 0) isOver = true;
        else heard.push(message);
        if (heard.length === batch) isOver = true;
      },
    });
    const body = JSON.stringify({ batch, no_wait: true });
    this.#client.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, body, { reply: inbox });
    await until(() => isOver, `messages of ${stream}.${consumer}`);
    subscription.unsubscribe();
    this.lines.push(`pull ${consumer} -> ${heard.map((each) => `${each.subject} ${each.string()}`).join(', ')}`);
    return heard;
  }

  /** Acknowledges with this payload and waits until that has counted. */
  async ack(message: Msg | undefined, payload = '+ACK'): Promise<void> {
    if (message?.reply === undefined) throw new Error('no message to acknowledge');
    await this.#client.request(message.reply, payload, { timeout: PULL_MS });
  }

  /** What the stream holds, and what its consumers think, when that has come to rest. */
  async state(stream: string, ...consumers: string[]): Promise<void> {
    await until(async () => {
      const before = await this.#described(stream, consumers);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const after = await this.#described(stream, consumers);
      if (before !== after) return false;
      this.lines.push(after);
      return true;
    }, `${stream} to come to rest`);
  }

  async #described(stream: string, consumers: readonly string[]): Promise<string> {
    const info = await this.#client.request(`$JS.API.STREAM.INFO.${stream}`, '{"deleted_details":true}');
    const { state } = info.json<{ state: object }>();
    const shown = [`${stream} holds ${normalized(JSON.stringify(state))}`];
    for (const consumer of consumers) {
      const answer = await this.#client.request(`$JS.API.CONSUMER.INFO.${stream}.${consumer}`);
      const { delivered, ack_floor, num_ack_pending, num_redelivered, num_pending } = answer.json<ConsumerInfo>();
      const facts = { delivered, ack_floor, num_ack_pending, num_redelivered, num_pending };
      shown.push(`${consumer} ${normalized(JSON.stringify(facts))}`);
    }
    return shown.join('\n');
  }
}

interface ConsumerInfo {
  readonly delivered: object;
  readonly ack_floor: object;
  readonly num_ack_pending: number;
  readonly num_redelivered: number;
  readonly num_pending: number;
}

function normalized(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, (time) =>
      time.startsWith('0001') ? '<never>' : '<time>',
    )
    .replaceAll(/\bN[A-Z2-7]{55}\b/g, '<server>')
    .replaceAll(/"_nats\.level":"\d+"/g, '"_nats.level":"<level>"')
    .replaceAll(/"api":\{"level":\d+/g, '"api":{"level":"<level>"')
    .replace(/(?<=violates consumers: )[\w, ]+/, (names) => names.split(', ').toSorted().join(', '))
    .replaceAll(/,"last_active":"<time>"/g, '');
}

export type Talk = (to: JetStreamTalk) => Promise<void>;

/**
 * Registers a test for each talk: what petiole says in it must be what nats-server says. Both servers run from the first
 * test to the last; `config` is that of `jetstream {}`.
 */
export function describeTalks(title: string, config: string, talks: readonly (readonly [string, Talk])[]): void {
  const [theirs, ours] = [natsServer(), petiole()];
  if (isAbsent(theirs) || isAbsent(ours)) {
    describe(title, () => {
      if (absenceIsFailure()) it('has both servers', () => expect.fail('skipped; in CI this is a failure'));
      else it.skip('skipped: a server is absent', () => {});
    });
    return;
  }
  describe(`${title}, nats-server ${theirs.version} and petiole ${ours.version}`, () => {
    const running: { server: RunningServer; client: NatsConnection }[] = [];
    beforeAll(async () => {
      for (const target of [theirs, ours]) running.push(await startWithClient(target, config));
    });
    afterAll(async () => {
      for (const { client, server } of running) {
        await client.close();
        await server.stop();
      }
    });
    const held = new Set<string>();
    it.each(talks)('%s', async (talkTitle, talk) => {
      const isRetry = held.has(talkTitle);
      held.add(talkTitle);
      const [said = [], answered = []] = await Promise.all(
        running.map(async ({ client }) => {
          if (isRetry) await deleteStreams(client);
          const to = new JetStreamTalk(client);
          await talk(to);
          return to.lines;
        }),
      );
      expect(said.length).toBeGreaterThan(0);
      expect(answered).toEqual(said);
    });
  });
}

async function startWithClient(
  target: Target,
  config: string,
): Promise<{ server: RunningServer; client: NatsConnection }> {
  const server = await startServer(target, { config: `jetstream { store_dir: "store"\n${config} }` });
  const { host, port } = server.address();
  return { server, client: await connect({ servers: `${host}:${port}` }) };
}
