/**
 * Talks with pull consumers as text, held with nats-server and with petiole at the same time: what both say must be the
 * same, line by line. The stream S takes `s.>`; one pair of servers serves all talks of a file.
 *
 *     stream {"max_msgs_per_subject":2}   makes the stream, if it is not to be a plain one; first line
 *     put a b*3 c:100                     stores under s.a, three times under s.b, 100 bytes under s.c
 *     put a Key: value                    with a header
 *     consumer C {"ack_policy":"all"}     makes or changes a consumer; explicit acknowledgements unless it says so
 *     pull C {"batch":2,"no_wait":true}   asks for messages; <pin 1> in it is the first id of a pinned client that was heard of
 *     listen $JS.EVENT.>                  what comes there is noted too
 *     hear 2                              waits for so many more messages and statuses
 *     quiet                               waits a while; what comes is noted
 *     ack 1                               acknowledges the first message delivered, and notes whether there is an answer
 *     ack 2 -NAK 5s                       says something else of the second; the answers to +NXT are heard
 *     info C                              notes where the consumer stands
 *     api STREAM.PURGE.S {"keep":1}       any request, and its answer
 *     tell CONSUMER.DELETE.S.C            the same without a note, where it is chance whether the answer comes first
 *     leave 1                             whoever asked first does not listen any more
 *     wait 100                            milliseconds
 *     restart                             the server is stopped and started again
 */
import {
  connect,
  headers as newHeaders,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteStreams } from './delete-streams.ts';
import {
  absenceIsFailure,
  isAbsent,
  natsServer,
  petiole,
  type RunningServer,
  startServer,
  type Target,
} from './targets.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

/** Long enough for a server on a busy machine to say what it has to say. */
const QUIET_MS = 150;
/** An answer may wait for the disk; hardly a request stays without one. */
const REPLY_MS = 1000;

/** `said`: lines that must be among what both servers say. */
export type PullTalk = readonly [title: string, script: string, ...said: readonly string[]];

/** Tests that hold the talks. */
export function describePullTalks(title: string, talks: readonly PullTalk[]): void {
  const targets = [natsServer(), petiole()];
  const absent = targets.find((target) => isAbsent(target));
  describe.skipIf(absent !== undefined && !absenceIsFailure())(`${title} (${absent?.absent ?? 'both servers'})`, () => {
    const sites: Site[] = [];
    beforeAll(async () => {
      if (absent !== undefined) expect.fail(`skipped: ${absent.absent}; in CI this is a failure`);
      for (const target of targets) sites.push(new Site(target as Target, temporaryDirectory(afterAll)));
      await Promise.all(sites.map((site) => site.start()));
    });
    afterAll(async () => {
      await Promise.all(sites.map((site) => site.stop()));
    });

    const held = new Set<string>();
    test.each(talks)('%s', async (talkTitle, script, ...said) => {
      if (held.has(talkTitle)) await Promise.all(sites.map((site) => deleteStreams(site.client)));
      held.add(talkTitle);
      const [theirs, ours] = await Promise.all(sites.map((site) => new Talker(site).hold(script)));
      expect(theirs?.length).toBeGreaterThan(0);
      expect(ours).toEqual(theirs);
      expect(ours).toEqual(expect.arrayContaining([...said]));
    });
  });
}

/** One server with its store, and a client. */
class Site {
  client!: NatsConnection;
  private readonly target: Target;
  private readonly directory: string;
  private server!: RunningServer;

  constructor(target: Target, directory: string) {
    this.target = target;
    this.directory = directory;
  }

  async start(): Promise<void> {
    this.server = await startServer(this.target, { config: `jetstream { store_dir: "${this.directory}" }` });
    const { host, port } = this.server.address();
    this.client = await connect({ servers: `${host}:${port}`, reconnect: false });
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.server.stop();
  }
}

class Talker {
  private readonly site: Site;
  private readonly lines: string[] = [];
  private readonly delivered: Msg[] = [];
  private readonly inboxes: Subscription[] = [];
  private readonly pins: string[] = [];
  private heard = 0;
  private awaited = 0;
  private stored = 0;

  constructor(site: Site) {
    this.site = site;
  }

  async hold(script: string): Promise<readonly string[]> {
    const steps = script
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const config = steps[0]?.startsWith('stream ') === true ? (steps.shift() as string).slice(7) : '{}';
    await this.api('STREAM.CREATE.S', { name: 'S', subjects: ['s.>'], ...(JSON.parse(config) as object) });
    try {
      for (const step of steps) await this.take(step);
      await this.quiet();
    } finally {
      for (const inbox of this.inboxes) inbox.unsubscribe();
      await this.api('STREAM.DELETE.S', '');
    }
    return this.lines;
  }

  private async take(step: string): Promise<void> {
    const [verb = '', first = ''] = step.split(' ');
    const rest = step.slice(verb.length + 1);
    const behind = rest.slice(first.length + 1);
    switch (verb) {
      case 'put':
        await this.put(rest);
        break;
      case 'consumer':
        await this.makeConsumer(first, behind);
        break;
      case 'pull':
        this.site.client.publish(`$JS.API.CONSUMER.MSG.NEXT.S.${first}`, this.pinned(behind), { reply: this.inbox() });
        break;
      case 'listen':
        this.inboxes.push(this.site.client.subscribe(first, { callback: (_error, message) => this.hear(message) }));
        await this.site.client.flush();
        break;
      case 'hear':
        await this.more(Number(first));
        break;
      case 'quiet':
        await this.quiet();
        break;
      case 'ack':
        await this.acknowledge(Number(first), behind);
        break;
      case 'info':
        await this.describe(first);
        break;
      case 'api':
        this.lines.push(`${first} -> ${await this.api(first, behind)}`);
        break;
      case 'tell':
        await this.api(first, behind);
        break;
      case 'leave':
        this.inboxes[Number(first) - 1]?.unsubscribe();
        break;
      case 'wait':
        await delay(Number(first));
        break;
      case 'restart':
        await this.site.stop();
        await this.site.start();
        break;
      default:
        throw new Error(`what is ${step}?`);
    }
  }

  private async api(request: string, body: string | object): Promise<string> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return normalized((await this.site.client.request(`$JS.API.${request}`, text)).string());
  }

  private async put(what: string): Promise<void> {
    const headers = newHeaders();
    const [, key, value] = /(\w[\w-]*): (.*)$/.exec(what) ?? [];
    if (key !== undefined) headers.set(key, value as string);
    const words = (key === undefined ? what : what.slice(0, what.indexOf(`${key}: `))).trim().split(' ');
    for (const word of words) {
      const [, subject = '', bytes, times] = /^([\w.]+)(?::(\d+))?(?:\*(\d+))?$/.exec(word) ?? [];
      for (let left = Number(times ?? 1); left > 0; left--) {
        const text = bytes === undefined ? `${++this.stored}` : 'x'.repeat(Number(bytes));
        await this.site.client.request(`s.${subject}`, text, { timeout: 5000, headers });
      }
    }
  }

  private async makeConsumer(name: string, config: string): Promise<void> {
    const body = {
      stream_name: 'S',
      config: { name, durable_name: name, ack_policy: 'explicit', ...(JSON.parse(config || '{}') as object) },
    };
    const answer = await this.api(`CONSUMER.CREATE.S.${name}`, body);
    this.lines.push(`consumer ${name} -> ${answer}`);
  }

  private inbox(): string {
    const name = `inbox.${this.inboxes.length + 1}`;
    const callback = (_error: Error | null, message: Msg): void => this.hear(message);
    this.inboxes.push(this.site.client.subscribe(name, { callback }));
    return name;
  }

  private hear(message: Msg): void {
    const { subject, reply, headers } = message;
    this.heard++;
    const fields = [...(headers ?? [])].map(([name, values]) => `${name}: ${values.join()}`);
    const status = headers !== undefined && headers.code > 0 ? `${headers.code} ${headers.description}` : '';
    if (reply !== undefined && reply !== '') this.delivered.push(message);
    const text = message.string();
    const pin = headers?.get('Nats-Pin-Id') || (/"pinned_id":"(\w+)"/.exec(text)?.[1] ?? '');
    if (pin !== '' && !this.pins.includes(pin)) this.pins.push(pin);
    const body = text.length > 40 && !text.startsWith('{') ? `${text.length} bytes` : text;
    this.note(`${subject} <- ${[status, reply ?? '', ...fields, body].filter(Boolean).join(' | ')}`);
  }

  /** Notes a line, in which ids of pinned clients are numbers. */
  private note(line: string): void {
    const numbered = this.pins.reduce((text, pin, at) => text.replaceAll(pin, `<pin ${at + 1}>`), line);
    this.lines.push(normalized(numbered));
  }

  /** The text with the ids in place of their numbers. */
  private pinned(text: string): string {
    return text.replaceAll(/<pin (\d+)>/g, (_found, at) => this.pins[Number(at) - 1] ?? 'unknown');
  }

  private async more(count: number): Promise<void> {
    this.awaited += count;
    await until(() => this.heard >= this.awaited, `${count} more messages behind ${JSON.stringify(this.lines)}`);
  }

  private async quiet(): Promise<void> {
    await this.site.client.flush();
    await delay(QUIET_MS);
    this.awaited = this.heard;
  }

  private async acknowledge(index: number, payload: string): Promise<void> {
    const subject = this.delivered[index - 1]?.reply;
    if (subject === undefined) throw new Error(`nothing was delivered as ${index} of ${JSON.stringify(this.lines)}`);
    if (payload.startsWith('+NXT')) {
      this.site.client.publish(subject, payload, { reply: this.inbox() });
      return;
    }
    const said = this.site.client.request(subject, payload, { timeout: REPLY_MS }).then(
      (message) => `answer '${message.string()}'`,
      () => 'no answer',
    );
    this.lines.push(`ack ${index} ${payload} -> ${await said}`);
  }

  private async describe(name: string): Promise<void> {
    const info = JSON.parse(await this.api(`CONSUMER.INFO.S.${name}`, '')) as Record<string, unknown>;
    const { type: _type, stream_name: _stream, name: _name, created: _created, config: _config, ...rest } = info;
    this.note(`${name} stands at ${JSON.stringify(rest)}`);
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function normalized(text: string): string {
  return text
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, (time) => (time.startsWith('"0001') ? time : '"<time>"'))
    .replaceAll(/(\$JS\.ACK\.\S+)\.\d{18,19}\./g, '$1.<ns>.')
    .replaceAll(/"id":"\w{22}"/g, '"id":"<id>"')
    .replaceAll(/"_nats\.level":"\w+"/g, '"_nats.level":"<level>"');
}
