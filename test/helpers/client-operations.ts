/**
 * What the parser of the client protocol makes of bytes that arrive in given pieces, as text, a line per operation.
 * Around each piece lies what a read buffer holds from earlier reads, and after it the bytes are overwritten.
 */
import { HEADROOM_BYTES } from '../../server/io/io.ts';
import { type ClientOperations, ClientParser } from '../../server/protocol/client-parser.ts';
import { Message } from '../../server/protocol/message.ts';

export interface ReadingOptions {
  readonly acceptsHeaders: boolean;
  readonly maxPayloadBytes: number;
  readonly maxControlLineBytes: number;
}

const DEFAULTS: ReadingOptions = { acceptsHeaders: true, maxPayloadBytes: 20_000, maxControlLineBytes: 100 };
/** Bytes of an earlier read, which must not be taken for the end of this one. */
const STALE = Buffer.from('5\r\n\r\nPING\r\n');
const READ_BYTES_MAX = 65_536;
/** A parser puts at most so much of what it kept in front of a read. */
const KEPT_BYTES_MAX = 8192;
const readBuffer = Buffer.alloc(HEADROOM_BYTES + READ_BYTES_MAX + STALE.length);

class Noting implements ClientOperations {
  readonly isDeciding = false;
  readonly lines: string[] = [];
  readonly acceptsHeaders: boolean;
  readonly awaitsConnect = false;
  isClosed = false;
  messages = 0;
  bytes = 0;

  constructor(acceptsHeaders: boolean) {
    this.acceptsHeaders = acceptsHeaders;
  }

  publish(message: Message): void {
    const { body, bodyStart, payloadStart, bodyEnd } = message;
    this.messages++;
    this.bytes += message.bodyBytes;
    const headers = body.toString('latin1', bodyStart, payloadStart);
    this.#note(
      publishLine(message.subjectText(), message.replyText(), headers, body.toString('latin1', payloadStart, bodyEnd)),
    );
    if (!isTailWhole(message)) this.#note('the tail is not that of the message');
  }

  publishAnnounced(message: Message): void {
    this.#note(announceLine(message.subjectText(), message.bodyBytes));
  }

  connect(json: string): void {
    this.#note(`connect ${json}`);
  }

  subscribe(subject: string, queueGroup: string, sid: string): void {
    this.#note(`subscribe ${subject} ${queueGroup} ${sid}`);
  }

  unsubscribe(sid: string, max: number): void {
    this.#note(`unsubscribe ${sid} ${max}`);
  }

  ping(): void {
    this.#note('ping');
  }

  pong(): void {
    this.#note('pong');
  }

  peerError(text: string): void {
    this.#note(`error ${text}`);
    this.isClosed = true;
  }

  beginWithoutConnect(): boolean {
    return true;
  }

  violation(error: { readonly text: string } | null): void {
    this.#note(`violation ${error === null ? 'malformed' : error.text}`);
    this.isClosed = true;
  }

  #note(line: string): void {
    this.lines.push(this.isClosed ? `after the end: ${line}` : line);
  }
}

export function announceLine(subject: string, bytes: number): string {
  return `announce ${subject} ${bytes}`;
}

export function publishLine(subject: string, reply: string, headers: string, payload: string): string {
  return `publish ${[subject, reply, headers, payload].map((each) => JSON.stringify(each)).join(' ')}`;
}

/** The operations in these pieces of at most 64 KiB, and the parser's own count of publications behind them. */
export function readClientOperations(pieces: readonly Buffer[], options: Partial<ReadingOptions> = {}): string {
  const { acceptsHeaders, ...limits } = { ...DEFAULTS, ...options };
  const noting = new Noting(acceptsHeaders);
  const parser = new ClientParser(noting, limits, new Message());
  for (const piece of pieces) {
    if (noting.isClosed) break;
    const end = HEADROOM_BYTES + piece.copy(readBuffer, HEADROOM_BYTES);
    STALE.copy(readBuffer, end);
    parser.read(readBuffer, HEADROOM_BYTES, end);
    readBuffer.fill(0xdd, HEADROOM_BYTES - KEPT_BYTES_MAX, end + STALE.length);
  }
  const counted = parser.messagesIn === noting.messages && parser.bytesIn === noting.bytes;
  if (!counted) noting.lines.push(`the parser counted ${parser.messagesIn} messages, ${parser.bytesIn} bytes`);
  return noting.lines.join('\n');
}

/** Where a message says that the end of its PUB can be passed on as it is, that has to be so. */
function isTailWhole(message: Message): boolean {
  const { body, bodyStart, bodyEnd, tailStart } = message;
  if (tailStart < 0) return true;
  const tail = body.toString('latin1', tailStart, bodyEnd + 2);
  const [line, headerSize, size] = /^(?:(\d+) )?(\d+)\r\n/.exec(tail) ?? [];
  return (
    line !== undefined &&
    Number(headerSize ?? 0) === message.headerBytes &&
    Number(size) === message.bodyBytes &&
    tail.slice(line.length) === `${body.toString('latin1', bodyStart, bodyEnd)}\r\n`
  );
}
