/**
 * The parser of the client protocol. It walks bytes and keeps offsets: a PUB or HPUB makes no string, no object and no
 * view. Strings appear only on the slow verbs.
 *
 * Rules it follows (nats-server 2.15, docs.nats.io nats-protocol): verbs in any case; arguments separated by runs of
 * spaces and tabs; a line ends with LF, a CR before it is dropped; a payload is followed by exactly CR LF. A verb that
 * cannot become one any more is refused at once, without waiting for its line. max_control_line bounds the arguments
 * of every verb. Malformed arguments close the connection without a word, as nats-server does.
 */

import type { Buffer } from 'node:buffer';
import { type PeerError, PeerErrors } from './errors.ts';
import type { Message } from './message.ts';
import { OperationReader, STOPPED } from './operation-reader.ts';

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const DIGITS_MAX = 9;
const CASE = 0x20;

/** Limits of one connection; changed in place when the configuration is reloaded. */
export interface ParserLimits {
  maxPayloadBytes: number;
  maxControlLineBytes: number;
}

/** What a connection does with the operations of its client. */
export interface ClientOperations {
  /** No operation but CONNECT is accepted now. Asked before each. */
  readonly awaitsConnect: boolean;
  /** Who the client is, is being found out: what it sent further has to wait. Asked while a CONNECT is awaited. */
  readonly isDeciding: boolean;
  /** No operation at all is wanted any more. Asked after each. */
  readonly isClosed: boolean;
  /** A publication whose line and payload are complete. */
  publish(message: Message): void;
  /** The line of a publication is complete and valid; the payload may still be on its way. */
  publishAnnounced(message: Message): void;
  connect(json: string): void;
  subscribe(subject: string, queueGroup: string, sid: string): void;
  unsubscribe(sid: string, max: number): void;
  ping(): void;
  pong(): void;
  /** The client reported an error of its own. */
  peerError(text: string): void;
  /** A verb other than CONNECT came first; true if the connection may go on without it. */
  beginWithoutConnect(): boolean;
  /** The client broke the protocol: told with this text, or not at all. `detail` is for the log. */
  violation(error: PeerError | null, detail: string): void;
  /** HPUB without headers agreed on. */
  readonly acceptsHeaders: boolean;
}

const VERBS = ['CONNECT', 'PUB', 'HPUB', 'SUB', 'UNSUB', 'PING', 'PONG', 'INFO', '+OK', '-ERR'] as const;
export type Verb = (typeof VERBS)[number];

export class ClientParser extends OperationReader {
  private readonly operations: ClientOperations;
  limits: ParserLimits;
  private readonly message: Message;
  /** Publications parsed since the owner last took the count, and their header and payload bytes. */
  messagesIn = 0;
  bytesIn = 0;
  /** Offset, from its start, of the announced operation; a publication is announced once even if parsed twice. */
  protected announced = false;

  constructor(operations: ClientOperations, limits: ParserLimits, message: Message) {
    super();
    this.operations = operations;
    this.limits = limits;
    this.message = message;
  }

  protected override parse(buffer: Buffer, start: number, end: number): number {
    const { operations } = this;
    let at = start;
    while (at < end) {
      if (operations.awaitsConnect) {
        if (operations.isDeciding) return at;
        if (((buffer[at] as number) | CASE) !== 0x63 && !operations.beginWithoutConnect()) return STOPPED;
      }
      const next = this.parseOperation(buffer, at, end);
      if (next === STOPPED || operations.isClosed) return STOPPED;
      if (next === at) return at;
      at = next;
    }
    return at;
  }

  /** Offset behind the operation at `at`; `at` itself while it is incomplete. */
  private parseOperation(buffer: Buffer, at: number, end: number): number {
    const first = buffer[at] as number;
    if (first === 0x50 && at + 4 <= end && buffer[at + 1] === 0x55 && buffer[at + 2] === 0x42) {
      if (buffer[at + 3] === SPACE) return this.parsePlainPublish(buffer, at, end);
    } else if (first === 0x48 && at + 5 <= end && buffer[at + 1] === 0x50 && buffer[at + 2] === 0x55) {
      if (buffer[at + 3] === 0x42 && isBlank(buffer[at + 4] as number)) {
        return this.parsePublish(buffer, at, at + 5, end, true);
      }
    }
    return this.parseSlow(buffer, at, end);
  }

  /**
   * `PUB subject size CR LF` in its usual form: single blanks, no reply. One pass over the line; anything else goes to
   * `parsePublish`.
   */
  private parsePlainPublish(buffer: Buffer, at: number, end: number): number {
    const subjectStart = at + 4;
    let i = subjectStart;
    while (i < end && (buffer[i] as number) > SPACE) i++;
    const subjectEnd = i;
    const sizeStart = ++i;
    let size = 0;
    let digit = 0;
    while (i < end && (digit = (buffer[i] as number) - 0x30) >= 0 && digit <= 9) {
      size = size * 10 + digit;
      i++;
    }
    const usual =
      i + 1 < end &&
      buffer[subjectEnd] === SPACE &&
      buffer[i] === CR &&
      buffer[i + 1] === LF &&
      subjectEnd > subjectStart &&
      i > sizeStart &&
      i - sizeStart <= DIGITS_MAX &&
      i - subjectStart <= this.limits.maxControlLineBytes;
    if (!usual) return this.parsePublish(buffer, at, subjectStart, end, false);
    const { message } = this;
    message.setSubject(buffer, subjectStart, subjectEnd);
    message.replyStart = 0;
    message.replyEnd = 0;
    message.setBody(buffer, i + 2, i + 2, i + 2 + size);
    message.tailStart = sizeStart;
    return this.finishPublish(buffer, at, i + 2 + size, end);
  }

  /**
   * `PUB subject [reply] size` or `HPUB subject [reply] headerSize size`: from `at`, arguments from `from` on.
   * Up to four arguments are found in one pass over the line.
   */
  private parsePublish(buffer: Buffer, at: number, from: number, end: number, withHeaders: boolean): number {
    let i = from;
    let c = 0;
    while (i < end && isBlank(buffer[i] as number)) i++;
    const argumentsStart = i;
    // First argument.
    const s0 = i;
    while (i < end && isArgument((c = buffer[i] as number))) i++;
    const e0 = i;
    while (i < end && isBlankOrCr((c = buffer[i] as number))) i++;
    // Second.
    const s1 = i;
    while (i < end && isArgument((c = buffer[i] as number))) i++;
    const e1 = i;
    while (i < end && isBlankOrCr((c = buffer[i] as number))) i++;
    // Third and fourth.
    const s2 = i;
    while (i < end && isArgument((c = buffer[i] as number))) i++;
    const e2 = i;
    while (i < end && isBlankOrCr((c = buffer[i] as number))) i++;
    const s3 = i;
    while (i < end && isArgument((c = buffer[i] as number))) i++;
    const e3 = i;
    while (i < end && isBlankOrCr((c = buffer[i] as number))) i++;
    if (i >= end || c !== LF) return this.parsePublishSlow(buffer, at, argumentsStart, end, withHeaders);
    const lineEnd = buffer[i - 1] === CR ? i - 1 : i;
    if (lineEnd - argumentsStart > this.limits.maxControlLineBytes) return this.controlLineExceeded();
    const count = e3 > s3 ? 4 : e2 > s2 ? 3 : e1 > s1 ? 2 : e0 > s0 ? 1 : 0;
    const expected = withHeaders ? 3 : 2;
    if (count < expected || count > expected + 1) return this.malformed(withHeaders, buffer, argumentsStart, lineEnd);
    const { message } = this;
    message.setSubject(buffer, s0, e0);
    if (count > expected) message.setReply(buffer, s1, e1);
    else message.clearReply();
    const sizeStart = count === 4 ? s3 : count === 3 ? s2 : s1;
    const sizeEnd = count === 4 ? e3 : count === 3 ? e2 : e1;
    const size = parseSize(buffer, sizeStart, sizeEnd);
    let headerSize = 0;
    if (withHeaders) {
      headerSize = count === 4 ? parseSize(buffer, s2, e2) : parseSize(buffer, s1, e1);
      if (headerSize < 0 || headerSize > size || !this.operations.acceptsHeaders) {
        return this.malformed(withHeaders, buffer, argumentsStart, lineEnd);
      }
    }
    if (size < 0) return this.malformed(withHeaders, buffer, argumentsStart, lineEnd);
    const bodyStart = i + 1;
    message.setBody(buffer, bodyStart, bodyStart + headerSize, bodyStart + size);
    // In the usual form the size is followed by CR LF alone, and the rest of the operation can be passed on as it is.
    if (i === sizeEnd + 1 && buffer[sizeEnd] === CR) {
      const headerSizeStart = count === 4 ? s2 : s1;
      const headerSizeEnd = count === 4 ? e2 : e1;
      if (headerSize === 0) message.tailStart = sizeStart;
      else if (headerSizeEnd + 1 === sizeStart && buffer[headerSizeEnd] === SPACE) message.tailStart = headerSizeStart;
    }
    return this.finishPublish(buffer, at, bodyStart + size, end);
  }

  protected finishPublish(buffer: Buffer, at: number, bodyEnd: number, end: number): number {
    const { message, operations } = this;
    const size = message.bodyEnd - message.bodyStart;
    if (!this.announced) {
      if (size > this.limits.maxPayloadBytes) {
        operations.violation(
          PeerErrors.maximumPayload,
          `maximum payload exceeded: ${size} vs ${this.limits.maxPayloadBytes}`,
        );
        return STOPPED;
      }
      operations.publishAnnounced(message);
    }
    if (bodyEnd < end && buffer[bodyEnd] !== CR) return this.unknownOperation(buffer, bodyEnd, end);
    if (bodyEnd + 1 < end && buffer[bodyEnd + 1] !== LF) return this.unknownOperation(buffer, bodyEnd, end);
    if (bodyEnd + 2 > end) {
      this.announced = true;
      this.operationBytes = bodyEnd + 2 - at;
      return at;
    }
    this.announced = false;
    this.messagesIn++;
    this.bytesIn += size;
    operations.publish(message);
    return bodyEnd + 2;
  }

  /** A publication whose line is incomplete, or holds bytes that are neither argument, blank nor line end. */
  private parsePublishSlow(buffer: Buffer, at: number, start: number, end: number, withHeaders: boolean): number {
    const lf = indexOfLf(buffer, start, end);
    const lineEnd = endOfArguments(buffer, start, lf < 0 ? end : lf);
    if (lineEnd - start > this.limits.maxControlLineBytes) return this.controlLineExceeded();
    if (lf < 0) return at;
    return this.malformed(withHeaders, buffer, start, lineEnd);
  }

  /** Every verb but PUB and HPUB in capitals. */
  private parseSlow(buffer: Buffer, at: number, end: number): number {
    const verb = verbAt(buffer, at, end);
    if (verb === null) return this.unknownOperation(buffer, at, end);
    if (verb === 'incomplete') return at;
    const from = at + verb.length;
    if (verb === 'PUB' || verb === 'HPUB') return this.parsePublish(buffer, at, from + 1, end, verb === 'HPUB');
    const lf = indexOfLf(buffer, from, end);
    const argumentsStart = skipBlanks(buffer, from, lf < 0 ? end : lf);
    const lineEnd = endOfArguments(buffer, argumentsStart, lf < 0 ? end : lf);
    if (lineEnd - argumentsStart > this.limits.maxControlLineBytes) return this.controlLineExceeded();
    if (lf < 0) return at;
    return this.dispatch(verb, buffer, argumentsStart, lineEnd) ? lf + 1 : STOPPED;
  }

  protected dispatch(verb: Exclude<Verb, 'PUB' | 'HPUB'>, buffer: Buffer, start: number, lineEnd: number): boolean {
    const { operations } = this;
    switch (verb) {
      case 'PING':
        operations.ping();
        return true;
      case 'PONG':
        operations.pong();
        return true;
      case 'CONNECT':
        operations.connect(buffer.toString('utf8', start, lineEnd));
        return true;
      case '-ERR':
        operations.peerError(buffer.toString('utf8', start, lineEnd));
        return true;
      case 'INFO':
        return this.info(buffer.toString('utf8', start, lineEnd));
      case '+OK':
        return true;
      case 'SUB':
        return this.subscribe(buffer.toString('latin1', start, lineEnd));
      case 'UNSUB':
        return this.unsubscribe(buffer.toString('latin1', start, lineEnd));
    }
  }

  /** What a client tells of itself as if it were a server is of no use, but it has to be JSON. */
  private info(json: string): boolean {
    try {
      JSON.parse(json);
      return true;
    } catch (error) {
      this.operations.violation(null, `processInfo: ${(error as Error).message}`);
      return false;
    }
  }

  private subscribe(line: string): boolean {
    const args = splitArguments(line);
    if (args.length !== 2 && args.length !== 3) {
      this.operations.violation(null, `processSub Parse Error: ${JSON.stringify(line)}`);
      return false;
    }
    const queueGroup = args.length === 3 ? (args[1] as string) : '';
    this.operations.subscribe(args[0] as string, queueGroup, args.at(-1) as string);
    return true;
  }

  private unsubscribe(line: string): boolean {
    const args = splitArguments(line);
    if (args.length !== 1 && args.length !== 2) {
      this.operations.violation(null, `processUnsub Parse Error: ${JSON.stringify(line)}`);
      return false;
    }
    // As nats-server: a maximum that is no number counts as none.
    const max = args.length === 2 ? Number.parseInt(/^\d{1,9}$/.exec(args[1] as string)?.[0] ?? '0', 10) : 0;
    this.operations.unsubscribe(args[0] as string, max);
    return true;
  }

  protected malformed(withHeaders: boolean, buffer: Buffer, start: number, end: number): typeof STOPPED {
    const name = withHeaders ? 'processHeaderPub' : 'processPub';
    this.operations.violation(null, `${name} Parse Error: ${JSON.stringify(buffer.toString('latin1', start, end))}`);
    return STOPPED;
  }

  private controlLineExceeded(): typeof STOPPED {
    const error = PeerErrors.maximumControlLine;
    this.operations.violation(error, error.text);
    return STOPPED;
  }

  private unknownOperation(buffer: Buffer, at: number, end: number): typeof STOPPED {
    const snippet = JSON.stringify(buffer.toString('latin1', at, Math.min(end, at + 32)));
    this.operations.violation(PeerErrors.unknownOperation, `proto=${snippet}`);
    return STOPPED;
  }
}

/** The verb at `at`, `null` if these bytes cannot be one, `incomplete` while they could become one. */
function verbAt(buffer: Buffer, at: number, end: number): Verb | 'incomplete' | null {
  for (const verb of VERBS) {
    let i = 0;
    while (i < verb.length && at + i < end && sameLetter(buffer[at + i] as number, verb.charCodeAt(i))) i++;
    if (i < verb.length) {
      if (at + i === end) return 'incomplete';
      continue;
    }
    if (!needsBlank(verb)) return verb;
    if (at + i === end) return 'incomplete';
    if (isBlank(buffer[at + i] as number)) return verb;
  }
  return null;
}

/** Verbs that must be followed by a blank; the others take whatever stands on the rest of their line. */
function needsBlank(verb: Verb): boolean {
  return verb === 'PUB' || verb === 'HPUB' || verb === 'SUB' || verb === 'UNSUB' || verb === '-ERR';
}

function sameLetter(byte: number, letter: number): boolean {
  return byte === letter || (letter >= 0x41 && letter <= 0x5a && byte === (letter | CASE));
}

function isBlank(c: number): boolean {
  return c === SPACE || c === TAB;
}

/** Everything but blanks and line ends; control characters are rare and therefore asked last. */
function isArgument(c: number): boolean {
  return c > SPACE || (c < SPACE && c !== TAB && c !== LF && c !== CR);
}

function isBlankOrCr(c: number): boolean {
  return c === SPACE || c === TAB || c === CR;
}

function skipBlanks(buffer: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && isBlank(buffer[i] as number)) i++;
  return i;
}

/** `end` but for a CR before it: part of the line's end, which may not be there yet. */
function endOfArguments(buffer: Buffer, start: number, end: number): number {
  return end > start && buffer[end - 1] === CR ? end - 1 : end;
}

function indexOfLf(buffer: Buffer, start: number, end: number): number {
  const lf = buffer.indexOf(LF, start);
  return lf < end ? lf : -1;
}

/** An unsigned decimal of at most nine digits; -1 for anything else. */
export function parseSize(buffer: Uint8Array, start: number, end: number): number {
  if (end <= start || end - start > DIGITS_MAX) return -1;
  let size = 0;
  for (let i = start; i < end; i++) {
    const digit = (buffer[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    size = size * 10 + digit;
  }
  return size;
}

function splitArguments(line: string): string[] {
  return line.split(/[ \t\r\n]+/).filter((argument) => argument !== '');
}
