/**
 * One exported service and the answers that are awaited from it. A request from another account carries a reply subject
 * made here, `_R_.<of this service>.<of this request>`; what is published to it goes to the one who asked, in its own
 * account and under its own reply subject.
 *
 *     importer     REQ svc, reply _INBOX.x ──► exporter   svc, reply _R_.k3Xa90.Qw81cZp2
 *     importer     _INBOX.x                ◄── exporter   _R_.k3Xa90.Qw81cZp2
 *
 * A singleton's answer ends the wait; streams and pieces go on until a message without body. Whoever stays silent for
 * longer than the threshold is no longer awaited.
 *
 * Bound: `AWAITED_MAX` requests; with one more the oldest is given up.
 */

import { Buffer } from 'node:buffer';
import type { ExportOptions } from '../config/account-options.ts';
import type { Io } from '../io/io.ts';
import type { Sink, SinkKind } from '../ports.ts';
import { Message } from '../protocol/message.ts';
import { Subscription } from '../subject/subscription.ts';
import type { Account } from './account.ts';
import { copyMessage } from './message-copy.ts';
import { ReplyInterest, type WatchedReply } from './reply-interest.ts';
import { type Failure, type MeasuredRequest, measure } from './service-latency.ts';
import { base62 } from '../protocol/base62.ts';

const AWAITED_MAX = 65_536;
/** Acknowledgements find their stream by this subject, wherever they come from. */
export const ACK_PREFIX = '$JS.ACK.';
const SERVICE_LETTERS = 6;
const REQUEST_LETTERS = 8;

interface Awaited {
  readonly requester: Account;
  readonly reply: Buffer;
  endMs: number;
  /** Set until there is something to tell of how long it took. */
  measured: Measured | null;
}

interface Measured {
  readonly request: MeasuredRequest;
  readonly watched: WatchedReply;
}

/** What the configuration says of the service's answers. */
export type AnswerOptions = Pick<ExportOptions, 'responseType' | 'responseThresholdMs'> &
  Partial<Pick<ExportOptions, 'latency'>>;

type ExportIo = Pick<Io, 'clock' | 'random' | 'timers'>;

export class ServiceExport implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  readonly account: Account;
  private options: AnswerOptions;
  private readonly io: ExportIo;
  private readonly prefix: string;
  private readonly subscription: Subscription;
  /** By the last token; in the order in which they end. */
  private readonly awaited = new Map<string, Awaited>();
  /** By requester. */
  private readonly interest = new Map<Account, ReplyInterest>();
  private readonly reversed = new Map<Account, ServiceExport>();
  private isOpen = false;
  private isSweeping = false;

  constructor(account: Account, options: AnswerOptions, io: ExportIo) {
    this.account = account;
    this.options = options;
    this.io = io;
    this.prefix = `_R_.${letters(io, SERVICE_LETTERS)}.`;
    this.subscription = new Subscription(this, `${this.prefix}>`, '', '');
  }

  get awaitedCount(): number {
    return this.awaited.size;
  }

  /** Answers from now on are awaited as these options say. */
  reconfigure(options: AnswerOptions): void {
    this.options = options;
    for (const each of this.reversed.values()) each.reconfigure(options);
  }

  /** A reply subject for a request of `requester`, whose own one is `reply`. */
  awaitAnswer(requester: Account, reply: Buffer, measured: MeasuredRequest | null = null): Buffer {
    if (!this.isOpen) this.account.subscribe(this.subscription);
    this.isOpen = true;
    const token = letters(this.io, REQUEST_LETTERS);
    const endMs = this.io.clock.monotonicMs() + this.options.responseThresholdMs;
    const waiting: Awaited = { requester, reply, endMs, measured: null };
    this.awaited.set(token, waiting);
    if (measured !== null) waiting.measured = { request: measured, watched: this.watch(token, waiting) };
    if (this.awaited.size > AWAITED_MAX) this.giveUp(this.awaited.keys().next().value as string, null);
    this.sweepLater();
    return Buffer.from(this.prefix + token, 'latin1');
  }

  /** What is to be measured of a request that has come; `null` for nothing. */
  measure(message: Message, isShared: boolean): MeasuredRequest | null {
    const { latency = null } = this.options;
    return latency === null ? null : measure(this.account, this.io, latency, message, isShared);
  }

  /** Nobody took the request. */
  forget(subject: Buffer): void {
    this.giveUp(subject.toString('latin1', this.prefix.length), 503);
  }

  /** The answer is awaited no more; what is measured ends with this status, or untold. */
  private giveUp(token: string, status: Failure | null): void {
    const waiting = this.awaited.get(token);
    if (waiting === undefined) return;
    this.awaited.delete(token);
    const request = this.takeMeasured(waiting);
    if (status !== null) request?.failed(status);
  }

  /** What is measured of the request, which is told of once. */
  private takeMeasured(waiting: Awaited): MeasuredRequest | null {
    const { measured, requester } = waiting;
    if (measured === null) return null;
    waiting.measured = null;
    this.interest.get(requester)?.unwatch(measured.watched);
    return measured.request;
  }

  /** Has it told when nobody in the requester's account waits for the answer any more. */
  private watch(token: string, { requester, reply }: Awaited): WatchedReply {
    const interest = this.interest.get(requester) ?? new ReplyInterest(requester);
    this.interest.set(requester, interest);
    const watched = { subject: reply.toString('latin1'), lost: () => this.giveUp(token, 408) };
    interest.watch(watched);
    return watched;
  }

  /** Interest in answers ends with the account. */
  close(): void {
    if (this.isOpen) this.account.unsubscribe(this.subscription);
    this.isOpen = false;
    for (const token of this.awaited.keys()) this.giveUp(token, null);
    this.interest.clear();
    for (const each of this.reversed.values()) each.close();
    this.reversed.clear();
  }

  deliver(_subscription: Subscription, message: Message): boolean {
    const { destination, destinationStart, destinationEnd } = message;
    const subject = destination?.toString('latin1', destinationStart, destinationEnd) ?? message.subjectText();
    const token = subject.slice(this.prefix.length);
    const waiting = this.awaited.get(token);
    if (waiting === undefined) return false;
    this.takeMeasured(waiting)?.answered(message.source);
    const answer = new Message();
    copyMessage(message, answer);
    // What a stream delivers keeps the subject under which it was stored.
    if (destination === null) answer.setSubject(waiting.reply, 0, waiting.reply.length);
    else answer.setDestination(waiting.reply, 0, waiting.reply.length);
    if (message.hasReply && !message.replyText().startsWith(ACK_PREFIX)) {
      const reply = this.backwards(waiting.requester).awaitAnswer(
        this.account,
        Buffer.from(message.replyText(), 'latin1'),
      );
      answer.setReply(reply, 0, reply.length);
    }
    const taken = waiting.requester.route(answer);
    const isLast = this.options.responseType === 'singleton' || message.bodyBytes === 0;
    this.awaited.delete(token);
    if (taken && !isLast) {
      waiting.endMs = this.io.clock.monotonicMs() + this.options.responseThresholdMs;
      this.awaited.set(token, waiting);
    }
    return taken;
  }

  /** An answer may ask in turn: that answer takes the same way back. */
  private backwards(requester: Account): ServiceExport {
    const known = this.reversed.get(requester);
    if (known !== undefined) return known;
    const made = new ServiceExport(requester, this.options, this.io);
    this.reversed.set(requester, made);
    return made;
  }

  private sweepLater(): void {
    if (this.isSweeping) return;
    this.isSweeping = true;
    this.io.timers.after(this.options.responseThresholdMs, () => {
      this.isSweeping = false;
      const now = this.io.clock.monotonicMs();
      for (const [token, { endMs }] of this.awaited) {
        if (endMs > now) break;
        this.giveUp(token, 504);
      }
      if (this.awaited.size > 0) this.sweepLater();
    });
  }
}

function letters({ random }: ExportIo, count: number): string {
  return base62(random.bytes(count));
}
