/** One request to the JetStream API, copied off the wire, and how it is answered. */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { Message } from '../../server/protocol/message.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import type { Sink } from '../../server/ports.ts';
import { type ApiError, errorJson } from '../errors.ts';

const TYPE_PREFIX = 'io.nats.jetstream.api.v1.';
const PREFIX_TOKENS = 2;

/** In a header block, behind the line before it. */
const IDENTITY_LINE = '\r\nNats-Stream-Identity:';

/** Hears, once, of the answer to a request. */
export type Answered = (isError: boolean, answer: () => string) => void;

export class ApiRequest {
  readonly account: Account;
  /** `$JS.API.…` */
  readonly subject: string;
  /** The subject behind `$JS.API.`, by tokens. */
  readonly tokens: readonly string[];
  readonly body: string;
  /** It counts on a level of the API that this server does not have. */
  readonly asksTooHighLevel: boolean;
  /** The identity of the stream that is meant; empty: any, and its identity is to be told; `null`: it does not matter. */
  readonly streamIdentity: string | null;
  /** Over which connection it came. */
  readonly source: Sink | null;
  onAnswered: Answered = () => undefined;
  /** Called instead when nobody answers it. */
  onLeft: () => void = () => undefined;
  private readonly reply: Buffer;

  /** Copies what it needs of the message, which came under `subject`. */
  constructor(account: Account, subject: string, message: Message) {
    this.account = account;
    this.subject = subject;
    this.tokens = subject.split('.').slice(PREFIX_TOKENS);
    this.reply = Buffer.from(message.reply.subarray(message.replyStart, message.replyEnd));
    this.body = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    this.asksTooHighLevel = asksTooHighLevel(message);
    this.streamIdentity = identityIn(message);
    this.source = message.source;
  }

  /** Answers with `type` and these fields; an undefined field is left out. An identity of a stream stands in a header. */
  respond(type: string, fields: object, identity = ''): void {
    const headers = identity === '' ? '' : `NATS/1.0${IDENTITY_LINE} ${identity}\r\n\r\n`;
    this.send({ type: `${TYPE_PREFIX}${type}`, ...fields }, false, headers);
  }

  /** Answers with an error; some answers carry fields besides. */
  refuse(type: string, error: ApiError, fields: object = {}): void {
    this.send({ type: `${TYPE_PREFIX}${type}`, error: errorJson(error), ...fields }, true);
  }

  /** Leaves it unanswered, as nats-server does where nobody is there to be asked. */
  leave(): void {
    this.onLeft();
  }

  private send(fields: object, isError: boolean, headers = ''): void {
    let text = '';
    const answer = (): string => {
      if (text === '') text = encode(fields);
      return text;
    };
    if (this.reply.length > 0) this.sendText(headers, answer());
    this.onAnswered(isError, answer);
  }

  private sendText(headers: string, text: string): void {
    const body = Buffer.from(headers + text, 'latin1');
    const message = new Message();
    message.setSubject(this.reply, 0, this.reply.length);
    message.setBody(body, 0, headers.length, body.length);
    this.account.route(message);
  }
}

function identityIn({ body, bodyStart, payloadStart }: Message): string | null {
  if (payloadStart === bodyStart) return null;
  const block = body.toString('latin1', bodyStart, payloadStart);
  const at = block.indexOf(IDENTITY_LINE);
  if (at < 0) return null;
  return block.slice(at + IDENTITY_LINE.length, block.indexOf('\r\n', at + IDENTITY_LINE.length)).trim();
}
