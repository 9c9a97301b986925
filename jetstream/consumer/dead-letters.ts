/**
 * The dead letters of one consumer: a message that nobody could handle is published under another subject, and leaves the
 * consumer only when it has arrived there.
 *
 *     leave ─► waiting ─► under way ──stored, says the answer──────────────────────────► it may leave, as if acknowledged
 *                             │ ▲────nobody listens, or an error: again, later and later
 *                             └─────no answer: again; ANSWERS_MISSED_MAX times, then it may leave
 *
 * A stream that captures the subject, here or behind a leaf link, answers when the letter is durable. Those who listen
 * without storing do not answer: after some tries they count as having it. While nobody listens at all the message stays
 * in the consumer, not delivered any more: it is nowhere else.
 *
 * A kill in between sends a letter again; it has the same `Nats-Msg-Id`, so that a stream drops the repetition inside its
 * window.
 *
 * Bounds: UNDER_WAY_MAX letters at a time; those that wait are messages pending in the consumer (max_ack_pending).
 */

import { Buffer } from 'node:buffer';
import type { Io, Timer } from '../../server/io/io.ts';
import type { Log } from '../../server/io/log.ts';
import { NoticePace } from '../../server/io/notice-pace.ts';
import { Message } from '../../server/protocol/message.ts';
import { Receivers } from '../../server/subject/receivers.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { RecordView } from '../store/record.ts';
import type { ConsumedStream } from './consumed-stream.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import type { DeadLetterGate, Leave, LeaveReason } from './consumer-events.ts';
import { CallbackSink } from './consumer-sinks.ts';
import { deadLetterBody } from './dead-letter-message.ts';
import { deadLetterSubject } from './dead-letter-subject.ts';

const UNDER_WAY_MAX = 64;
const ANSWER_MS = 5000;
/** How often nobody may answer. A stream of this server answers in the end, unless it never does (no_ack). */
const ANSWERS_MISSED_MAX = 3;
const ANSWERS_MISSED_MAX_STREAM = 20;
const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;
const COMPLAINTS_MS = 60_000;
const ERROR = /"error":\s*\{.*?"description":\s*"([^"]*)"/;
const ID_BYTES = 12;

interface Letter {
  readonly sequence: number;
  readonly deliveries: number;
  readonly reason: LeaveReason;
  readonly text: string;
  readonly done: Leave;
  /** Under which it was last published. */
  subject: string;
  failures: number;
  answersMissed: number;
  timer: Timer | null;
}

export interface DeadLetterConsumer {
  readonly stream: ConsumedStream;
  readonly name: string;
  readonly created: string;
  readonly config: ConsumerConfig;
}

export class DeadLetters implements DeadLetterGate {
  private readonly consumer: DeadLetterConsumer;
  private readonly log: Log;
  private readonly io: Io;
  private readonly answers: string;
  private readonly view = new RecordView(Buffer.alloc(0));
  private readonly underWay = new Map<number, Letter>();
  private waiting: Letter[] = [];
  private subscription: Subscription | null = null;
  private readonly pace = new NoticePace(COMPLAINTS_MS);
  private isStopped = false;

  constructor(consumer: DeadLetterConsumer) {
    this.consumer = consumer;
    this.log = consumer.stream.host.log;
    this.io = consumer.stream.host.io;
    this.answers = `_INBOX.${this.io.random.bytes(ID_BYTES).toString('hex')}`;
  }

  leave(sequence: number, deliveries: number, reason: LeaveReason, text: string, done: Leave): void {
    if (deadLetterSubject(this.consumer.config) === null) {
      done(false);
      return;
    }
    this.listen();
    const letter = {
      sequence,
      deliveries,
      reason,
      text,
      done,
      subject: '',
      failures: 0,
      answersMissed: 0,
      timer: null,
    };
    this.waiting.push(letter);
    this.sendWaiting();
  }

  /** Sends nothing more; what has not arrived stays in the consumer. */
  stop(): void {
    this.isStopped = true;
    for (const letter of this.underWay.values()) letter.timer?.cancel();
    this.underWay.clear();
    this.waiting = [];
    if (this.subscription !== null) this.consumer.stream.account.unsubscribe(this.subscription);
  }

  /** Answers come to an inbox of its own, made for the first letter. */
  private listen(): void {
    if (this.subscription !== null) return;
    const sink = new CallbackSink((message) => this.answered(message));
    this.subscription = new Subscription(sink, `${this.answers}.*`, '', '');
    this.consumer.stream.account.subscribe(this.subscription);
  }

  // ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────────

  private sendWaiting(): void {
    while (this.underWay.size < UNDER_WAY_MAX) {
      const letter = this.waiting.shift();
      if (letter === undefined) return;
      this.underWay.set(letter.sequence, letter);
      this.send(letter);
    }
  }

  private send(letter: Letter): void {
    letter.timer = null;
    if (this.isStopped || this.underWay.get(letter.sequence) !== letter) return;
    const { store } = this.consumer.stream;
    const subject = deadLetterSubject(this.consumer.config);
    const outcome = subject === null ? 'missing' : store.read(letter.sequence, this.view);
    if (outcome === 'loading') store.whenReadable(letter.sequence, () => this.send(letter));
    else if (outcome === 'missing' || subject === null) this.finish(letter);
    else {
      letter.subject = subject;
      this.publish(letter, Buffer.from(subject, 'latin1'));
    }
  }

  /** Publishes the message in `view`. */
  private publish(letter: Letter, subject: Buffer): void {
    const { stream, name, created } = this.consumer;
    const { bytes, headerBytes } = deadLetterBody(this.view, {
      ...letter,
      stream: stream.name,
      consumer: name,
      created,
    });
    const reply = Buffer.from(`${this.answers}.${letter.sequence}`, 'latin1');
    const message = new Message();
    message.setSubject(subject, 0, subject.length);
    message.setReply(reply, 0, reply.length);
    message.setBody(bytes, 0, headerBytes, bytes.length);
    // The answer may come before `route` returns.
    letter.timer = this.io.timers.after(ANSWER_MS, () => this.missedAnswer(letter, subject));
    if (!stream.account.route(message)) this.failed(letter, 'nobody listens to the dead letter subject');
  }

  // ── what comes of it ─────────────────────────────────────────────────────────────────────────────────────────────

  private answered(message: Message): void {
    const sequence = Number(message.subjectText().slice(this.answers.length + 1));
    const letter = this.underWay.get(sequence);
    if (letter === undefined) return;
    const [, description] = ERROR.exec(message.body.toString('latin1', message.payloadStart, message.bodyEnd)) ?? [];
    if (description === undefined) this.finish(letter);
    else this.failed(letter, description);
  }

  private missedAnswer(letter: Letter, subject: Buffer): void {
    letter.answersMissed++;
    const max = this.isForStream(subject) ? ANSWERS_MISSED_MAX_STREAM : ANSWERS_MISSED_MAX;
    if (letter.answersMissed < max) this.send(letter);
    else this.finish(letter);
  }

  /** Whether a stream of this server captures the subject. */
  private isForStream(subject: Buffer): boolean {
    const { sublist } = this.consumer.stream.account;
    const { plain } = sublist.match(subject, 0, subject.length, new Receivers());
    return plain.some(({ sink }) => sink.sinkKind === 'internal');
  }

  private failed(letter: Letter, why: string): void {
    letter.timer?.cancel();
    const delay = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** letter.failures++);
    letter.timer = this.io.timers.after(delay, () => this.send(letter));
    this.complain(letter, why);
  }

  private complain({ sequence, subject }: Letter, why: string): void {
    if (!this.pace.isDue(this.io.clock.monotonicMs())) return;
    const { stream, name } = this.consumer;
    const message = `Message ${sequence} of consumer '${stream.account.name} > ${stream.name} > ${name}'`;
    this.log.warn(`${message} stays there, its dead letter can't be stored under '${subject}': ${why}`);
  }

  private finish(letter: Letter): void {
    letter.timer?.cancel();
    this.underWay.delete(letter.sequence);
    letter.done(true);
    this.sendWaiting();
  }
}
