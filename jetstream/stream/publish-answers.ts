/**
 * What the publishers of one stream are told. An acknowledgement, and whatever must not overtake one, waits until what
 * was appended before it is visible; that a message was refused is said at once.
 *
 *     {"stream":"S","domain":"D","seq":7}                          the message has sequence 7
 *     {"stream":"S","seq":7,"duplicate": true}                     it repeats the one with sequence 7
 *     {"stream":"S","seq":9,"batch":"B","count":3}                 the batch ends with sequence 9
 *     {"stream":"S","seq":7,"val":"42"}                            the counter stands at 42 now
 *     {"error":{"code":…,"err_code":…,"description":…},"stream":"S","seq":0}
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { quotedBytes } from '../../server/protocol/go-json-reader.ts';
import { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors, errorJson } from '../errors.ts';
import { type AnswerSender, PendingAcks } from './pending-acks.ts';
import { PublishAck } from './publish-ack.ts';

const TOO_MANY_REQUESTS = 'NATS/1.0 429 Too Many Requests\r\n\r\n';

export class PublishAnswers implements AnswerSender {
  private readonly account: Account;
  private readonly streamName: string;
  private readonly pending = new PendingAcks();
  private readonly message = new Message();
  /** An acknowledgement's JSON up to the sequence. */
  private readonly head: string;
  private readonly publishAck: PublishAck;

  /** `domain` empty: none. */
  constructor(account: Account, streamName: string, domain: string) {
    this.account = account;
    this.streamName = streamName;
    const fields = encode(domain === '' ? { stream: streamName } : { stream: streamName, domain });
    this.head = `${fields.slice(0, -1)},"seq":`;
    this.publishAck = new PublishAck(this.head);
  }

  /** Acknowledges `message` under `sequence` when everything up to the sequence `gate` is visible. */
  acknowledge(message: Message, gate: number, sequence: number, isDuplicate: boolean): void {
    this.pending.add(gate, sequence, isDuplicate, message.reply, message.replyStart, message.replyEnd);
  }

  /** Answers `message` with this text, a string of bytes, when everything up to the sequence `gate` is visible. */
  answer(message: Message, gate: number, text: string): void {
    this.pending.addText(gate, text, message.reply, message.replyStart, message.replyEnd);
  }

  /** Answers at once that the message was not taken. */
  refuse(message: Message, error: ApiError): void {
    const headers = error === ApiErrors.tooManyRequests ? TOO_MANY_REQUESTS : '';
    const body = Buffer.from(headers + this.errorText(error), 'latin1');
    const { message: reply } = this;
    reply.setSubject(message.reply, message.replyStart, message.replyEnd);
    reply.setBody(body, 0, headers.length, body.length);
    this.account.route(reply);
  }

  errorText(error: ApiError): string {
    return encode({ error: errorJson(error), stream: this.streamName, seq: 0 });
  }

  /** The acknowledgement of an increment: where the counter stands now. */
  counterText(sequence: number, total: string): string {
    return `${this.head}${sequence},"val":"${total}"}`;
  }

  /** The acknowledgement of a batch with this id, `count` messages long, which ends with `sequence`. */
  batchText(id: string, count: number, sequence: number, isDuplicate: boolean): string {
    const duplicate = isDuplicate ? ',"duplicate": true' : '';
    return `${this.head}${sequence}${duplicate},"batch":${quotedBytes(id)},"count":${count}}`;
  }

  /** Everything up to `sequence` is visible: what waited for that leaves. */
  release(sequence: number): void {
    this.pending.release(sequence, this);
  }

  sendAck(reply: Buffer, start: number, end: number, sequence: number, isDuplicate: boolean): void {
    this.account.route(this.publishAck.encode(reply, start, end, sequence, isDuplicate));
  }

  sendText(buffer: Buffer, start: number, end: number, textEnd: number): void {
    this.message.setSubject(buffer, start, end);
    this.message.setBody(buffer, end, end, textEnd);
    this.account.route(this.message);
  }
}
