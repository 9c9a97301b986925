/**
 * Publishes again what a stream has stored, under other subjects, for those who only want to follow: with headers that say
 * where it stands, and with the sequence before it under the same subject, so that they notice gaps.
 *
 *     Nats-Stream, Nats-Subject, Nats-Sequence, Nats-Time-Stamp, Nats-Last-Sequence
 *     Nats-Msg-Size            instead of the payload, where only headers are wanted
 *
 * A copy is made when a message is appended and leaves when it is durable, in the order of the stream, also when the message
 * is replaced or removed by then. What is on its way is bounded by what a stream takes in (`max_buffered_size`).
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { Message } from '../../server/protocol/message.ts';
import { formatTime } from '../../server/protocol/rfc3339.ts';
import { isValidPublishSubject } from '../../server/subject/subject.ts';
import { compileTransform, type Transform } from '../../server/subject/transform.ts';
import type { FractionSource } from '../../server/subject/transform-token.ts';
import type { Time } from '../store/store.ts';
import type { Republish } from './stream-config-parts.ts';

const VERSION_LINE = 'NATS/1.0\r\n';
const CRLF_BYTES = 2;

interface Copy {
  readonly sequence: number;
  readonly subject: Buffer;
  readonly body: Buffer;
  readonly headerBytes: number;
}

export class Republisher {
  private readonly account: Account;
  private readonly streamName: string;
  private readonly transform: Transform;
  private readonly headersOnly: boolean;
  private readonly random: FractionSource;
  private readonly message = new Message();
  private copies: Copy[] = [];
  private isReleasing = false;

  /** Use `of`. */
  private constructor(
    account: Account,
    streamName: string,
    transform: Transform,
    headersOnly: boolean,
    random: FractionSource,
  ) {
    this.account = account;
    this.streamName = streamName;
    this.transform = transform;
    this.headersOnly = headersOnly;
    this.random = random;
  }

  /** `null`: nothing is published again. */
  static of(account: Account, name: string, config: Republish | null, random: FractionSource): Republisher | null {
    if (config === null) return null;
    const { value } = compileTransform(config.source, config.destination);
    return value === null ? null : new Republisher(account, name, value, config.headersOnly, random);
  }

  /** A message was appended; `last` is the sequence before it under its subject, 0 when there is none. */
  appended(message: Message, sequence: number, time: Time, last: number): void {
    const stored = message.subjectText();
    const subject = this.transform.apply(stored, this.random);
    if (subject === null || !isValidPublishSubject(subject)) return;
    const headers = this.headersOf(message, stored, sequence, time, last);
    const payload = message.body.subarray(message.payloadStart, message.bodyEnd);
    this.copies.push({
      sequence,
      subject: Buffer.from(subject, 'latin1'),
      body: this.headersOnly ? headers : Buffer.concat([headers, payload]),
      headerBytes: headers.length,
    });
  }

  /** Everything up to `sequence` is durable. */
  release(sequence: number): void {
    // What is published may lead here again; the copies leave in their order.
    if (this.isReleasing) return;
    this.isReleasing = true;
    let count = 0;
    for (; count < this.copies.length && (this.copies[count] as Copy).sequence <= sequence; count++) {
      const { subject, body, headerBytes } = this.copies[count] as Copy;
      this.message.setSubject(subject, 0, subject.length);
      this.message.setBody(body, 0, headerBytes, body.length);
      this.account.route(this.message);
    }
    this.copies = this.copies.slice(count);
    this.isReleasing = false;
  }

  private headersOf(message: Message, subject: string, sequence: number, time: Time, last: number): Buffer {
    const { body, bodyStart, payloadStart } = message;
    // The message's own header block ends with an empty line, in whose place ours go.
    const own = payloadStart > bodyStart ? body.toString('latin1', bodyStart, payloadStart - CRLF_BYTES) : VERSION_LINE;
    const lines = [
      `Nats-Stream: ${this.streamName}`,
      `Nats-Subject: ${subject}`,
      `Nats-Sequence: ${sequence}`,
      `Nats-Time-Stamp: ${formatTime(time)}`,
      `Nats-Last-Sequence: ${last}`,
    ];
    if (this.headersOnly) lines.push(`Nats-Msg-Size: ${message.payloadBytes}`);
    return Buffer.from(`${own}${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  }
}
