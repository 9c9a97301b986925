/**
 * A connection of an actor of the mixed load: it asks and hears answers, over a real network or a simulated one. What was
 * asked and not answered when the connection went may have happened or not.
 */
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { ReceivedMessage, SimulatedClient } from '../sim/simulated-client.ts';

/** Where actors live: one life of the server, with randomness of its own. */
export interface LoadSite {
  readonly random: SeededRandom;
  /** A new connection; its name is one of a kind in this life. */
  client(name: string): SimulatedClient;
  /** Runs the callback among the clients, unless they are gone by then. */
  after(ms: number, run: () => void): void;
  wallMs(): number;
}

/** What the JetStream API and streams answer, as far as it matters here. */
export interface LoadAnswer {
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly code: number; readonly err_code?: number; readonly description: string };
  readonly success?: boolean;
  readonly state?: { readonly messages: number; readonly first_seq: number; readonly last_seq: number };
  readonly num_pending?: number;
  readonly num_ack_pending?: number;
}

export class LoadLink {
  readonly site: LoadSite;
  readonly name: string;
  readonly random: SeededRandom;
  private readonly client: SimulatedClient;
  private readonly waiting = new Map<string, (message: ReceivedMessage) => boolean>();
  private readonly listeners = new Map<string, (message: ReceivedMessage) => void>();
  private asked = 0;

  constructor(site: LoadSite, name: string) {
    this.site = site;
    this.name = name;
    this.random = site.random.fork(`link ${name}`);
    this.client = site.client(name);
    this.client.onMessage = (message) => this.heard(message);
    this.client.subscribe('answers', `_I.${name}.*`);
  }

  get isClosed(): boolean {
    return this.client.isClosed;
  }

  listen(subject: string, heard: (message: ReceivedMessage) => void): void {
    const sid = `s${this.listeners.size}`;
    this.listeners.set(sid, heard);
    this.client.subscribe(sid, subject);
  }

  /** A message nobody answers. */
  say(subject: string, payload: string): void {
    this.client.send(`PUB ${subject} ${payload.length}\r\n${payload}\r\n`);
  }

  /** `headers` are lines without their ends; an empty list for none. */
  publish(subject: string, headers: readonly string[], payload: string, reply: string): void {
    const block = headers.length === 0 ? '' : `NATS/1.0\r\n${headers.join('\r\n')}\r\n\r\n`;
    const address = reply === '' ? subject : `${subject} ${reply}`;
    const size = block.length + payload.length;
    if (block === '') this.client.send(`PUB ${address} ${size}\r\n${payload}\r\n`);
    else this.client.send(`HPUB ${address} ${block.length} ${size}\r\n${block}${payload}\r\n`);
  }

  ask(subject: string, headers: readonly string[], payload: string, answered: (answer: LoadAnswer) => void): void {
    const reply = this.inbox((message) => {
      answered(message.payload.length === 0 ? {} : (JSON.parse(message.payload.toString()) as LoadAnswer));
      return true;
    });
    this.publish(subject, headers, payload, reply);
  }

  request(api: string, body: object | null, answered: (answer: LoadAnswer) => void): void {
    this.ask(`$JS.API.${api}`, [], body === null ? '' : JSON.stringify(body), answered);
  }

  /** A subject for answers; `heard` says whether it was the last one. */
  inbox(heard: (message: ReceivedMessage) => boolean): string {
    const reply = `_I.${this.name}.${++this.asked}`;
    this.waiting.set(reply, heard);
    return reply;
  }

  /** Runs the callback later, if the connection is there still. */
  after(ms: number, run: () => void): void {
    this.site.after(ms, () => {
      if (!this.isClosed) run();
    });
  }

  private heard(message: ReceivedMessage): void {
    if (message.sid !== 'answers') {
      this.listeners.get(message.sid)?.(message);
      return;
    }
    const heard = this.waiting.get(message.subject);
    if (heard === undefined)
      throw new Error(
        `${this.name}: a second answer on ${message.subject}: ${message.headers} ${message.payload.toString()}`,
      );
    if (heard(message)) this.waiting.delete(message.subject);
  }
}
