/**
 * One request to the API of an origin, wherever that is, and its answer: at most one, within a time. Where nobody listens
 * to the request's subject that is known at once.
 *
 *     send ─► nobody
 *          └► answered │ timed out │ (dropped: neither is heard)
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import type { Io, Timer } from '../../server/io/io.ts';
import { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { CallbackSink } from '../consumer/consumer-sinks.ts';
import { base62 } from '../../server/protocol/base62.ts';

const SUFFIX_LENGTH = 8;

export interface OriginCalls {
  readonly account: Account;
  readonly io: Io;
}

/** What came back: the text and the header block, both strings of bytes. */
export interface CallAnswer {
  readonly headers: string;
  readonly text: string;
}

/** A subject that nobody else has. */
export function uniqueSubject({ io }: OriginCalls, prefix: string): string {
  return `${prefix}.${base62(io.random.bytes(SUFFIX_LENGTH))}`;
}

/** Publishes in the account; false when nobody listens. All are strings of bytes, `headers` a block or empty. */
export function publish(account: Account, subject: string, reply: string, headers: string, text: string): boolean {
  const message = new Message();
  const to = Buffer.from(subject, 'latin1');
  const answerTo = Buffer.from(reply, 'latin1');
  const body = Buffer.from(headers + text, 'latin1');
  message.setSubject(to, 0, to.length);
  message.setReply(answerTo, 0, answerTo.length);
  message.setBody(body, 0, headers.length, body.length);
  return account.route(message);
}

export class OriginCall {
  private readonly calls: OriginCalls;
  private readonly answered: (answer: CallAnswer | null) => void;
  private readonly subscription: Subscription;
  private timer: Timer | null = null;
  private isOver = false;

  /** `answered` hears `null` when no answer came in time. */
  constructor(calls: OriginCalls, answered: (answer: CallAnswer | null) => void) {
    this.calls = calls;
    this.answered = answered;
    const sink = new CallbackSink((message) => this.take(message));
    this.subscription = new Subscription(sink, uniqueSubject(calls, '$JSC.R'), '', '');
  }

  /** Asks; false when there is nobody, and then no answer is heard. */
  send(subject: string, headers: string, text: string, timeoutMs: number): boolean {
    const { account, io } = this.calls;
    account.subscribe(this.subscription);
    this.timer = io.timers.after(timeoutMs, () => this.end(null));
    if (publish(account, subject, this.subscription.subject, headers, text)) return true;
    this.drop();
    return false;
  }

  /** No answer is waited for any more. */
  drop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer?.cancel();
    this.calls.account.unsubscribe(this.subscription);
  }

  private take({ body, bodyStart, payloadStart, bodyEnd }: Message): void {
    this.end({
      headers: body.toString('latin1', bodyStart, payloadStart),
      text: body.toString('latin1', payloadStart, bodyEnd),
    });
  }

  private end(answer: CallAnswer | null): void {
    if (this.isOver) return;
    this.drop();
    this.answered(answer);
  }
}
