/**
 * What a client says to a server about consumers and hears from it, as lines to compare: what differs from run to run
 * (moments, ids, durations) is replaced by what kind of value it is.
 */
import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { type AbsentTarget, isAbsent, natsServer, petiole, startServer, type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

/** Long enough for a server on a busy machine to do what it should not. */
const QUIET_MS = 250;

export class Conversation {
  readonly client: NatsConnection;
  readonly lines: string[] = [];
  private heard = 0;
  private awaited = 0;

  constructor(client: NatsConnection) {
    this.client = client;
  }

  /** Asks the JetStream API, and notes the answer. */
  async ask(request: string, body: object | string = ''): Promise<string> {
    const answer = await this.tell(request, body);
    this.lines.push(`${request} -> ${answer}`);
    return answer;
  }

  /** The same for what is also told of in `count` messages: whether they or the answer come first is chance. */
  async askAndHear(count: number, request: string, body: object | string): Promise<void> {
    const answer = await this.tell(request, body);
    await this.more(count);
    this.lines.push(`${request} -> ${answer}`);
  }

  /** Asks without a note. */
  async tell(request: string, body: object | string = ''): Promise<string> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return normalized((await this.client.request(`$JS.API.${request}`, text)).string());
  }

  /** Makes or changes a consumer of the stream S, and notes the answer if it is an error. */
  async consumer(name: string, config: object): Promise<void> {
    const body = { stream_name: 'S', config: { name, ack_policy: 'explicit', ...config } };
    const answer = await this.tell(`CONSUMER.CREATE.S.${name}`, body);
    if (answer.includes('"error"')) this.lines.push(`${name} -> ${answer}`);
  }

  /** Notes whether the consumer's receivers are there, and where it stands. */
  async stand(name: string): Promise<void> {
    const info = JSON.parse(await this.tell(`CONSUMER.INFO.S.${name}`)) as Record<string, unknown>;
    const { error, push_bound: bound, num_pending: pending, num_ack_pending: unacknowledged, paused } = info;
    const what = error === undefined ? { bound, pending, unacknowledged, paused } : { error };
    this.lines.push(`${name} stands at ${JSON.stringify(what)}`);
  }

  /** Stores messages `s.<first>` and on, each with its number. */
  async store(first: number, last: number, bytes = 0): Promise<void> {
    for (let i = first; i <= last; i++) await this.client.request(`s.${i}`, `${i}`.padEnd(bytes, 'x'));
  }

  /** Notes what comes; `answer` says what to reply to it. The end of it all is the function given back. */
  listen(subject: string, queue = '', answer: (message: Msg) => string | null = () => null): () => void {
    const name = queue === '' ? subject : `${subject} ${queue}`;
    const callback = (_error: Error | null, message: Msg): void => {
      const reply = answer(message);
      if (reply !== null) message.respond(reply);
      this.heard++;
      this.lines.push(`${name} <- ${shown(message)}`);
    };
    const subscription = this.client.subscribe(subject, queue === '' ? { callback } : { callback, queue });
    return () => subscription.unsubscribe();
  }

  /** Waits until so many more messages have come than were waited for before. */
  async more(count: number): Promise<void> {
    this.awaited += count;
    await until(() => this.heard >= this.awaited, `${count} more messages behind ${JSON.stringify(this.lines)}`);
  }

  /** Waits for a while, and notes if anything came. */
  async quiet(): Promise<void> {
    await this.client.flush();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    if (this.heard !== this.awaited) this.lines.push(`${this.heard - this.awaited} that nobody waits for`);
    this.awaited = this.heard;
  }
}

function shown(message: Msg): string {
  const { subject, reply, headers } = message;
  const status = headers === undefined || headers.code === 0 ? '' : ` ${headers.code} ${headers.description}`;
  const fields = [...(headers ?? [])].map(([name, values]) => ` ${name}: ${values.join()}`).join('');
  const text = message.string();
  const body = text.length > 400 ? `${text.length} bytes` : text;
  return normalized(`${subject}${reply === undefined || reply === '' ? '' : ` (${reply})`}${status}${fields} ${body}`);
}

function normalized(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
      time.startsWith('0001') || time.startsWith('2100') ? time : '<time>',
    )
    .replaceAll(/(\$JS\.ACK\.\S+)\.\d{18,19}\./g, '$1.<ns>.')
    .replaceAll(/(\$JS\.FC\.\w+\.\w+)\.\w{4}\b/g, '$1.<id>')
    .replaceAll(/"(id|_nats\.level)":"\w+"/g, '"$1":"<$1>"')
    .replaceAll(/"(ack_time|pause_remaining)":\d+/g, '"$1":"<ns>"');
}

export type Talk = (conversation: Conversation) => Promise<void>;

/** Why nothing can be compared here; `null` if it can. */
export function absence(): string | null {
  const absent = [natsServer(), petiole()].find(isAbsent);
  return absent === undefined ? null : absent.absent;
}

/** The lines of a talk with each of the servers; the stream S takes `s.>`. */
export async function onBoth(talk: Talk): Promise<{ theirs: readonly string[]; ours: readonly string[] }> {
  const [theirs, ours] = await Promise.all([heard(natsServer(), talk), heard(petiole(), talk)]);
  return { theirs, ours };
}

async function heard(target: Target | AbsentTarget, talk: Talk): Promise<readonly string[]> {
  if (isAbsent(target)) throw new Error(`${target.absent}; in CI this is a failure`);
  const server = await startServer(target, { config: 'jetstream { store_dir: "store" }' });
  onTestFinished(() => server.stop());
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  const conversation = new Conversation(client);
  await conversation.tell('STREAM.CREATE.S', { name: 'S', subjects: ['s.>'] });
  await talk(conversation);
  return [...conversation.lines];
}
