/**
 * An origin as it is seen from behind a link: an API that makes consumers, and consumers that deliver. It loses, on
 * demand, what is said in either direction, or everything that it knows of its consumers.
 */
import type { Account } from '../../server/account/account.ts';
import { Message } from '../../server/protocol/message.ts';
import type { Io } from '../../server/io/io.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { CallbackSink } from '../../jetstream/consumer/consumer-sinks.ts';
import { publish } from '../../jetstream/mirror/origin-call.ts';

const HEARTBEAT_MS = 1000;
const WINDOW = 64;
const TOO_NEW = { code: 412, err_code: 10_185, description: 'JetStream minimum api level required' };
const TIME_NS = '1700000000000000000';

interface OriginConsumer {
  readonly name: string;
  readonly deliverSubject: string;
  next: number;
  delivered: number;
  /** Messages that may be sent before flow control is answered. */
  room: number;
  /** Where the open question of flow control is answered; empty: none is open. */
  asks: string;
}

interface CreateRequest {
  readonly config: {
    readonly name: string;
    readonly deliver_subject: string;
    readonly opt_start_seq?: number;
    readonly sourcing?: boolean;
  };
}

export class ScriptedOrigin {
  readonly identity: string;
  /** Sequences of all messages, in order; the payload is the sequence. */
  readonly sequences: number[] = [];
  requests = 0;
  /** Names that were asked for. */
  readonly names: string[] = [];
  /** Whether what it says, and what is said to it, gets through. */
  isHeard = true;
  hears = true;
  /** It knows nothing of what came with 2.14, and says so. */
  isOld = false;
  /** The error that the API answers with; `null`: it does what it is asked. */
  error: object | null = null;
  private readonly account: Account;
  private readonly io: Io;
  private readonly api: Subscription;
  private readonly flow: Subscription;
  private consumers: OriginConsumer[] = [];
  private made = 0;
  private isListening = false;

  constructor(account: Account, io: Io, identity = 'Identity') {
    this.account = account;
    this.io = io;
    this.identity = identity;
    this.api = new Subscription(new CallbackSink((each) => this.asked(each)), '$JS.hub.API.CONSUMER.>', '', '');
    this.flow = new Subscription(new CallbackSink((each) => this.answered(each)), '$JS.FC.O.>', '', '');
    account.subscribe(this.flow);
    this.beat();
  }

  /** Whether there is anybody behind the subjects of the API. */
  listen(listens: boolean): void {
    if (listens === this.isListening) return;
    this.isListening = listens;
    if (listens) this.account.subscribe(this.api);
    else this.account.unsubscribe(this.api);
  }

  store(sequence: number): void {
    this.sequences.push(sequence);
    for (const each of this.consumers) this.deliver(each);
  }

  /** Forgets all consumers, as a server that was started again. */
  forget(): void {
    this.consumers = [];
  }

  private asked(message: Message): void {
    this.requests++;
    if (!this.hears) return;
    const text = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    const reply = message.replyText();
    const { config } = JSON.parse(text) as CreateRequest;
    this.names.push(config.name);
    const isNew = message.payloadStart > message.bodyStart || config.sourcing === true;
    if (this.isOld && isNew) this.say(reply, '', '', JSON.stringify({ error: TOO_NEW }));
    else if (this.error !== null) this.say(reply, '', '', JSON.stringify({ error: this.error }));
    else this.make(config, reply);
  }

  private make(
    { deliver_subject: deliverSubject, opt_start_seq: start = 1 }: CreateRequest['config'],
    reply: string,
  ): void {
    const name = `C${++this.made}`;
    const consumer = { name, deliverSubject, next: start, delivered: 0, room: WINDOW, asks: '' };
    this.consumers.push(consumer);
    const info = { name, config: { deliver_subject: deliverSubject }, delivered: { stream_seq: start - 1 } };
    this.say(reply, '', `NATS/1.0\r\nNats-Stream-Identity: ${this.identity}\r\n\r\n`, JSON.stringify(info));
    this.io.timers.after(1, () => this.deliver(consumer));
  }

  private deliver(consumer: OriginConsumer): void {
    for (const sequence of this.sequences) {
      if (sequence < consumer.next || consumer.room === 0 || !this.consumers.includes(consumer)) continue;
      consumer.next = sequence + 1;
      consumer.delivered++;
      consumer.room--;
      const ack = `$JS.ACK.O.${consumer.name}.1.${sequence}.${consumer.delivered}.${TIME_NS}.0`;
      this.sayAs(`o.${sequence}`, consumer.deliverSubject, ack, '', String(sequence));
      if (consumer.room < WINDOW / 2 && consumer.asks === '') this.ask(consumer);
    }
  }

  private ask(consumer: OriginConsumer): void {
    consumer.asks = `$JS.FC.O.${consumer.name}.${consumer.delivered}`;
    this.say(consumer.deliverSubject, consumer.asks, 'NATS/1.0 100 FlowControl Request\r\n\r\n', '');
  }

  private answered(message: Message): void {
    const subject = message.subjectText();
    const consumer = this.consumers.find(({ asks }) => asks === subject);
    if (consumer === undefined || !this.hears) return;
    consumer.asks = '';
    consumer.room = WINDOW;
    this.deliver(consumer);
  }

  private beat(): void {
    for (const { deliverSubject, delivered, next, asks } of this.consumers) {
      const stalled = asks === '' ? '' : `Nats-Consumer-Stalled: ${asks}\r\n`;
      const last = `Nats-Last-Consumer: ${delivered}\r\nNats-Last-Stream: ${next - 1}\r\n${stalled}`;
      this.say(deliverSubject, '', `NATS/1.0 100 Idle Heartbeat\r\n${last}\r\n`, '');
    }
    this.io.timers.after(HEARTBEAT_MS, () => this.beat());
  }

  private say(subject: string, reply: string, headers: string, text: string): void {
    if (this.isHeard) publish(this.account, subject, reply, headers, text);
  }

  /** A message that shows another subject than the one it is sent to. */
  private sayAs(subject: string, destination: string, reply: string, headers: string, text: string): void {
    if (!this.isHeard) return;
    const message = new Message();
    const [shown, to, replyTo] = [subject, destination, reply].map((each) => Buffer.from(each, 'latin1'));
    const body = Buffer.from(headers + text, 'latin1');
    message.setSubject(shown as Buffer, 0, subject.length);
    message.setDestination(to as Buffer, 0, destination.length);
    message.setReply(replyTo as Buffer, 0, reply.length);
    message.setBody(body, 0, headers.length, body.length);
    this.account.route(message);
  }
}
