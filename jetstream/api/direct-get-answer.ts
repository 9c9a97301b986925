/** What somebody is sent who asked directly for messages. */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { Message } from '../../server/protocol/message.ts';
import type { RecordView } from '../store/record.ts';
import { encodeTime } from './api-time.ts';

const VERSION_LINE = 'NATS/1.0\r\n';
const CRLF_BYTES = 2;

export class DirectGetAnswer {
  private readonly account: Account;
  private readonly streamName: string;
  private readonly reply: Buffer;
  private readonly outgoing = new Message();

  constructor(account: Account, streamName: string, reply: Buffer) {
    this.account = account;
    this.streamName = streamName;
    this.reply = reply;
  }

  /** Whoever is to get it has much unsent. */
  get isCongested(): boolean {
    return this.account.isCongested(this.reply);
  }

  /** A status, with header lines of its own behind it. */
  status(status: string, lines: readonly string[] = []): void {
    const body = Buffer.from(`NATS/1.0 ${[status, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
    this.send(body, body.length);
  }

  /** A message with its headers and where it stands; `more`: further header lines, each with its CR LF. */
  message(found: RecordView, more: string): void {
    const { buffer, bodyStart, payloadStart, end } = found;
    // The message's own header block ends with an empty line, in whose place ours go.
    const own =
      payloadStart > bodyStart ? buffer.toString('latin1', bodyStart, payloadStart - CRLF_BYTES) : VERSION_LINE;
    const origin =
      `Nats-Stream: ${this.streamName}\r\nNats-Subject: ${found.subject}\r\n` +
      `Nats-Sequence: ${found.sequence}\r\nNats-Time-Stamp: ${encodeTime(found)}\r\n`;
    const headers = Buffer.from(`${own}${origin}${more}\r\n`, 'latin1');
    this.send(Buffer.concat([headers, buffer.subarray(payloadStart, end)]), headers.length);
  }

  /** A message without any headers. */
  payload({ buffer, payloadStart, end }: RecordView): void {
    this.send(Buffer.from(buffer.subarray(payloadStart, end)), 0);
  }

  private send(body: Buffer, headerBytes: number): void {
    const { outgoing, reply } = this;
    outgoing.setSubject(reply, 0, reply.length);
    outgoing.setBody(body, 0, headerBytes, body.length);
    this.account.route(outgoing);
  }
}
