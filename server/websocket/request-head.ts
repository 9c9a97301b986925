/**
 * The head of an HTTP request by which somebody asks for WebSocket, read from the first bytes of a connection.
 *
 *     GET /path?query HTTP/1.1 CRLF  name: value CRLF …  CRLF │ what comes behind it is left where it is
 *     └──────────────── at most HEAD_BYTES_MAX ─────────────┘
 *
 * Usually it comes in one read, and nothing of it is kept. Lines may end in LF alone. Whatever is no request as Go's
 * library would have it is answered by a status, and nothing of it is looked at.
 */

import { Buffer } from 'node:buffer';

const HEAD_BYTES_MAX = 32 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NO_BYTES = Buffer.alloc(0);

/** Why it is no request: what is answered, behind `HTTP/1.1`. */
export type HeadFault =
  | '400 Bad Request'
  | '400 Bad Request: missing required Host header'
  | '431 Request Header Fields Too Large'
  | '505 HTTP Version Not Supported: unsupported protocol version';

export class RequestHead {
  fault: HeadFault | null = null;
  isComplete = false;
  method = '';
  /** Path and query as they came. */
  target = '';
  private readonly fields = new Map<string, readonly string[]>();
  private bytes: Buffer = NO_BYTES;
  /** Of the line that is being read. */
  private lineLength = 0;
  private hasLine = false;

  /** Bytes that are kept while the head is not complete. */
  get keptBytes(): number {
    return this.bytes.length;
  }

  /** Takes bytes in until the head is complete or can't become one; the position behind what it took. */
  read(buffer: Buffer, start: number, end: number): number {
    const at = this.findEnd(buffer, start, end);
    const fresh = buffer.subarray(start, at);
    if (this.isComplete) {
      this.parse(this.bytes.length === 0 ? fresh : Buffer.concat([this.bytes, fresh]));
      this.bytes = NO_BYTES;
    } else if (this.bytes.length + fresh.length > HEAD_BYTES_MAX) {
      this.bytes = NO_BYTES;
      this.fault = '431 Request Header Fields Too Large';
    } else this.bytes = Buffer.concat([this.bytes, fresh]);
    return at;
  }

  /** All values of a header, each on its own; `name` in lower case. */
  all(name: string): readonly string[] {
    return this.fields.get(name) ?? [];
  }

  /** The first value of a header; '' when there is none. */
  first(name: string): string {
    return this.fields.get(name)?.[0] ?? '';
  }

  /** Whether one of the values, of which there may be several in a line, is this one in any case. */
  lists(name: string, value: string): boolean {
    const wanted = value.toLowerCase();
    return this.all(name).some((line) => line.split(',').some((each) => each.trim().toLowerCase() === wanted));
  }

  /** Behind the empty line, or how far the head may go. */
  private findEnd(buffer: Buffer, start: number, end: number): number {
    const limit = Math.min(end, start + HEAD_BYTES_MAX + 1 - this.bytes.length);
    for (let at = start; at < limit; at++) {
      const byte = buffer[at];
      if (byte === LINE_FEED) {
        // Empty lines before the request are none of it.
        this.isComplete = this.lineLength === 0 && this.hasLine;
        if (this.isComplete) return at + 1;
        this.lineLength = 0;
      } else if (byte !== CARRIAGE_RETURN) {
        this.lineLength++;
        this.hasLine = true;
      }
    }
    return limit;
  }

  private parse(bytes: Buffer): void {
    const [requestLine = '', ...lines] = bytes.toString('latin1').trim().split(/\r?\n/);
    const [, method = '', target = '', version = ''] = /^(\S+) (\S+) (HTTP\/\d\.\d)$/.exec(requestLine) ?? [];
    if (!TOKEN.test(method) || !(target.startsWith('/') || /^https?:\/\//i.test(target))) {
      this.fault = '400 Bad Request';
    } else if (!version.startsWith('HTTP/1.')) {
      this.fault = '505 HTTP Version Not Supported: unsupported protocol version';
    } else if (!lines.every((line) => this.takeField(line)) || this.all('host').length > 1) {
      this.fault = '400 Bad Request';
    } else if (version !== 'HTTP/1.0' && this.all('host').length === 0) {
      this.fault = '400 Bad Request: missing required Host header';
    }
    this.method = method;
    this.target = target;
  }

  private takeField(line: string): boolean {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon <= 0 || !TOKEN.test(name)) return false;
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
    // eslint-disable-next-line no-control-regex -- what has no place in a header
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) return false;
    const key = name.toLowerCase();
    this.fields.set(key, [...this.all(key), value]);
    return true;
  }
}
