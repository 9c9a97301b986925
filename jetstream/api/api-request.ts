/** One request to the JetStream API, copied off the wire, and how it is answered. */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { Message } from '../../server/protocol/message.ts';
import { type ApiError, errorJson } from '../errors.ts';

const TYPE_PREFIX = 'io.nats.jetstream.api.v1.';

export class ApiRequest {
  readonly account: Account;
  /** The subject behind `$JS.API.`, by tokens. */
  readonly tokens: readonly string[];
  readonly body: string;
  /** It counts on a level of the API that this server does not have. */
  readonly asksTooHighLevel: boolean;
  /** Called once, with whether the answer was an error. */
  onAnswered: (isError: boolean) => void = () => undefined;
  private readonly reply: Buffer;

  constructor(account: Account, tokens: readonly string[], reply: Buffer, body: string, asksTooHighLevel: boolean) {
    this.account = account;
    this.tokens = tokens;
    this.reply = reply;
    this.body = body;
    this.asksTooHighLevel = asksTooHighLevel;
  }

  /** Answers with `type` and these fields; an undefined field is left out. */
  respond(type: string, fields: object): void {
    this.send({ type: `${TYPE_PREFIX}${type}`, ...fields });
    this.onAnswered(false);
  }

  /** Answers with an error; some answers carry fields besides. */
  refuse(type: string, error: ApiError, fields: object = {}): void {
    this.send({ type: `${TYPE_PREFIX}${type}`, error: errorJson(error), ...fields });
    this.onAnswered(true);
  }

  private send(answer: object): void {
    if (this.reply.length === 0) return;
    const body = Buffer.from(encode(answer), 'latin1');
    const message = new Message();
    message.setSubject(this.reply, 0, this.reply.length);
    message.setBody(body, 0, 0, body.length);
    this.account.route(message);
  }
}
