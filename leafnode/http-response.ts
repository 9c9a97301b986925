/**
 * The head of an HTTP response, read from a connection on which something else follows it: what a proxy answers to
 * CONNECT, and a hub to the request for WebSocket.
 *
 *     HTTP/1.1 200 OK CRLF  name: value CRLF …  CRLF │ the bytes of whoever was asked for
 *     └──────────── at most HEAD_BYTES_MAX ─────────┘  are left where they are
 *
 * Whoever begins otherwise is found out with the first bytes and not waited for.
 */

import { Buffer } from 'node:buffer';
import { goQuoteBytes } from '../server/protocol/go-quote.ts';

const HEAD_BYTES_MAX = 16 * 1024;
const SHOWN_BYTES_MAX = 64;
const OPENING = Buffer.from('HTTP/1.', 'latin1');
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class HttpResponse {
  /** Why it is no response; '' if it is one as far as it goes. */
  failure = '';
  isComplete = false;
  status = 0;
  /** `407 Proxy Authentication Required` */
  statusText = '';
  private readonly headers = new Map<string, string>();
  private bytes = Buffer.alloc(0);
  /** Of the line that is being read. */
  private lineLength = 0;

  /** Takes bytes in until the head is complete or can't become one; the position behind what it took. */
  read(buffer: Buffer, start: number, end: number): number {
    const at = this.findEnd(buffer, start, end);
    this.bytes = Buffer.concat([this.bytes, buffer.subarray(start, at)]);
    const begun = Math.min(this.bytes.length, OPENING.length);
    if (this.bytes.compare(OPENING, 0, begun, 0, begun) !== 0) this.fail();
    else if (this.isComplete) this.parse();
    else if (this.bytes.length > HEAD_BYTES_MAX) {
      this.failure = `the header is longer than ${HEAD_BYTES_MAX} bytes`;
    }
    return at;
  }

  /** The value of a header, several of one name joined; '' when there is none. */
  header(name: string): string {
    return this.headers.get(name.toLowerCase()) ?? '';
  }

  /** Behind the empty line, or how far the head may go. */
  private findEnd(buffer: Buffer, start: number, end: number): number {
    const limit = Math.min(end, start + HEAD_BYTES_MAX + 1 - this.bytes.length);
    for (let at = start; at < limit; at++) {
      const byte = buffer[at];
      if (byte === LINE_FEED) {
        this.isComplete = this.lineLength === 0;
        if (this.isComplete) return at + 1;
        this.lineLength = 0;
      } else if (byte !== CARRIAGE_RETURN) this.lineLength++;
    }
    return limit;
  }

  private parse(): void {
    const [first = '', ...lines] = this.bytes.toString('latin1').split(/\r?\n/);
    const [, statusText = '', status = ''] = /^HTTP\/1\.\d ((\S+)(?: .*)?)$/.exec(first) ?? [];
    if (status === '') {
      this.fail();
      return;
    }
    if (!/^\d{3}$/.test(status)) {
      this.failure = `malformed HTTP status code ${goQuoteBytes(status.slice(0, SHOWN_BYTES_MAX))}`;
      return;
    }
    this.status = Number(status);
    this.statusText = shown(statusText.trimEnd());
    for (const line of lines) {
      const colon = line.indexOf(':');
      if (colon <= 0) continue;
      const name = line.slice(0, colon).toLowerCase();
      const before = this.headers.get(name);
      const value = line.slice(colon + 1).trim();
      this.headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }

  private fail(): void {
    const [line = ''] = this.bytes.toString('latin1').split(/\r?\n/, 1);
    this.failure = `malformed HTTP response ${goQuoteBytes(line.slice(0, SHOWN_BYTES_MAX))}`;
  }
}

/** Fit for a line of the log. */
function shown(text: string): string {
  return text.replaceAll(/[^ -~]/g, '?').slice(0, SHOWN_BYTES_MAX);
}
