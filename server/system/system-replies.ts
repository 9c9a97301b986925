/**
 * How answers are sent: in an envelope that says who answers.
 *
 *     {"server":{"name":…,"id":…,…},"data":{…}}       or  "error":{"code":400,"description":"…"} in the place of data
 *
 * Everything is strings of bytes. Data is compressed as its requester can take it, and says how:
 *
 *     Accept-Encoding: gzip      ►     Content-Encoding: gzip
 *     Accept-Encoding: snappy    ►     as it is, which everybody can take
 *     Accept-Encoding: br        ►     Content-Encoding: identity
 */

import { Buffer } from 'node:buffer';
import { gzip } from 'node:zlib';
import type { Account } from '../account/account.ts';
import { encode } from '../protocol/go-json.ts';
import { Message } from '../protocol/message.ts';
import type { ServerDescription } from './server-description.ts';

const NO_HEADERS = Buffer.alloc(0);

export class SystemReplies {
  private readonly account: Account;
  private readonly description: ServerDescription;

  /** Answers go into `account`. */
  constructor(account: Account, description: ServerDescription) {
    this.account = account;
    this.description = description;
  }

  /** Says that it is done. */
  succeed(to: string): void {
    this.send(to, [`{"server":${this.description.next()}}`]);
  }

  /** The summary has a name of its own, and is never compressed. */
  sendStatistics(to: string, json: string): void {
    this.send(to, [`{"server":${this.description.next()},"statsz":`, json, '}']);
  }

  /** `accepted`: what the requester says of compression; `done` when the data is on its way. */
  sendData(to: string, json: string | Buffer, accepted: string, done: () => void): void {
    const body = joined([`{"server":${this.description.next()},"data":`, json, '}']);
    const encoding = encodingFor(accepted);
    if (encoding !== 'gzip') {
      this.publish(to, encoding === null ? NO_HEADERS : headersOf(encoding), body);
      done();
      return;
    }
    gzip(body, (error, packed) => {
      if (error === null) this.publish(to, headersOf(encoding), packed);
      else this.publish(to, NO_HEADERS, body);
      done();
    });
  }

  /** `hasNoData`: says that there is none. */
  refuse(to: string, code: number, description: string, hasNoData: boolean = false): void {
    const data = hasNoData ? '"data":null,' : '';
    this.send(to, [`{"server":${this.description.next()},${data}"error":${encode({ code, description })}}`]);
  }

  /** Sends these parts as they are. */
  send(to: string, parts: readonly (string | Buffer)[]): void {
    this.publish(to, NO_HEADERS, joined(parts));
  }

  private publish(to: string, headers: Buffer, payload: Buffer): void {
    if (to === '') return;
    const subject = Buffer.from(to, 'latin1');
    const body = headers.length === 0 ? payload : Buffer.concat([headers, payload]);
    const message = new Message();
    message.setSubject(subject, 0, subject.length);
    message.setBody(body, 0, headers.length, body.length);
    this.account.route(message);
  }
}

/** `null`: nothing is said of it. */
function encodingFor(accepted: string): 'gzip' | 'identity' | null {
  if (accepted === '' || /snappy|s2/i.test(accepted)) return null;
  return /gzip/i.test(accepted) ? 'gzip' : 'identity';
}

function headersOf(encoding: string): Buffer {
  return Buffer.from(`NATS/1.0\r\nContent-Encoding: ${encoding}\r\n\r\n`, 'latin1');
}

function joined(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
}
