/**
 * How answers are sent: in an envelope that says who answers.
 *
 *     {"server":{"name":…,"id":…,…},"data":{…}}       or  "error":{"code":400,"description":"…"} in the place of data
 *
 * Everything is strings of bytes.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import { encode } from '../protocol/go-json.ts';
import { Message } from '../protocol/message.ts';
import type { ServerDescription } from './server-description.ts';

export class SystemReplies {
  private readonly account: Account;
  private readonly description: ServerDescription;

  /** Answers go into `account`. */
  constructor(account: Account, description: ServerDescription) {
    this.account = account;
    this.description = description;
  }

  /** `json`: the data, as text or as the bytes they are; none says that it is done. */
  succeed(to: string, json: string | Buffer | null, member: 'data' | 'statsz' = 'data'): void {
    const beginning = `{"server":${this.description.next()}`;
    if (json === null) this.send(to, [beginning, '}']);
    else this.send(to, [`${beginning},"${member}":`, json, '}']);
  }

  /** `hasNoData`: says that there is none. */
  refuse(to: string, code: number, description: string, hasNoData: boolean = false): void {
    const data = hasNoData ? '"data":null,' : '';
    this.send(to, [`{"server":${this.description.next()},${data}"error":${encode({ code, description })}}`]);
  }

  /** Sends these parts as they are. */
  send(to: string, parts: readonly (string | Buffer)[]): void {
    if (to === '') return;
    const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
    const subject = Buffer.from(to, 'latin1');
    const message = new Message();
    message.setSubject(subject, 0, subject.length);
    message.setBody(body, 0, 0, body.length);
    this.account.route(message);
  }
}
