/**
 * The parser of the leaf protocol, as the soliciting side hears it:
 *
 *     INFO {…}                                    at the start, and whenever something changes
 *     LS+ subject                                 LS+ subject queue weight
 *     LS- subject                                 LS- subject queue
 *     LMSG subject [reply] size                   to plain subscriptions alone
 *     LMSG subject + reply queue… size            to plain subscriptions and one member of each of these groups
 *     LMSG subject | queue… size                  the same without a reply
 *     HMSG … headerSize size                      the same forms with a header block
 *     PING  PONG  +OK  -ERR 'text'
 *
 * Verbs in any case, arguments separated by runs of blanks, a line ends with LF, a CR before it is dropped, a payload is
 * followed by exactly CR LF. The usual LMSG is read in one pass over its line. A message is offsets into the read buffer; strings are made of interest and of the names of
 * queue groups. A line may be LINE_FACTOR times as long as a client's, since it may carry many queue groups
 * (nats-server's rule). What is malformed closes the link without a word, an unknown verb is answered before.
 *
 * Source: nats-server 2.15, docs.nats.io/reference/reference-protocols (leaf nodes share the routes' form).
 */

import type { Buffer } from 'node:buffer';
import { type ParserLimits, parseSize } from '../server/protocol/client-parser.ts';
import { type PeerError, PeerErrors } from '../server/protocol/errors.ts';
import type { Message } from '../server/protocol/message.ts';
import { OperationReader, STOPPED } from '../server/protocol/operation-reader.ts';

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const PLUS = 0x2b;
const BAR = 0x7c;
const CASE = 0x20;
const LINE_FACTOR = 16;
const LMSG_BYTES = 4;
const DIGITS_MAX = 9;
const SNIPPET_BYTES = 32;

/** What a link does with the operations of its peer. */
export interface LeafOperations {
  /** No operation is wanted any more. Asked after each. */
  readonly isClosed: boolean;
  info(json: string): void;
  /** A whole message; which queue groups it is for stands in it. */
  message(message: Message): void;
  /** `queueGroup` is empty for a plain subscription. */
  subscribe(subject: string, queueGroup: string, weight: number): void;
  unsubscribe(subject: string, queueGroup: string): void;
  ping(): void;
  pong(): void;
  /** The peer reported an error; the text as it came, with its quotes. */
  peerError(text: string): void;
  /** The peer broke the protocol: told with this text, or not at all. `detail` is for the log. */
  violation(error: PeerError | null, detail: string): void;
}

const VERBS = ['LMSG', 'HMSG', 'LS+', 'LS-', 'PING', 'PONG', 'INFO', '+OK', '-ERR'] as const;
type Verb = (typeof VERBS)[number];

const NO_GROUPS: readonly string[] = [];

export class LeafParser extends OperationReader {
  private readonly operations: LeafOperations;
  private readonly limits: ParserLimits;
  private readonly message: Message;
  /** Messages parsed since the owner last took the count, and their header and payload bytes. */
  messagesIn = 0;
  bytesIn = 0;
  /** Ranges of the arguments of the line at hand; behind its count they are those of earlier lines. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(operations: LeafOperations, limits: ParserLimits, message: Message) {
    super();
    this.operations = operations;
    this.limits = limits;
    this.message = message;
  }

  protected override parse(buffer: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const next = isMessage(buffer, at, end)
        ? this.parsePlainMessage(buffer, at, end)
        : this.parseOperation(buffer, at, end);
      if (next === STOPPED || this.operations.isClosed) return STOPPED;
      if (next === at) return at;
      at = next;
    }
    return at;
  }

  /** Offset behind the operation at `at`; `at` itself while it is incomplete. */
  private parseOperation(buffer: Buffer, at: number, end: number): number {
    const verb = verbAt(buffer, at, end);
    if (verb === null) return this.unknownOperation(buffer, at, end);
    if (verb === 'incomplete') return at;
    const from = at + verb.length;
    const lf = indexOfLf(buffer, from, end);
    const limit = this.limits.maxControlLineBytes * LINE_FACTOR;
    if ((lf < 0 ? end : lf) - from > limit) {
      this.operations.violation(PeerErrors.maximumControlLine, `max_control_line ${limit}`);
      return STOPPED;
    }
    if (lf < 0) return at;
    const lineEnd = buffer[lf - 1] === CR ? lf - 1 : lf;
    if (verb === 'LMSG' || verb === 'HMSG') return this.parseMessage(verb, buffer, at, lf + 1, end);
    return this.dispatch(verb, buffer, from, lineEnd) ? lf + 1 : STOPPED;
  }

  private dispatch(verb: Exclude<Verb, 'LMSG' | 'HMSG'>, buffer: Buffer, start: number, lineEnd: number): boolean {
    const { operations } = this;
    switch (verb) {
      case 'PING':
        operations.ping();
        return true;
      case 'PONG':
        operations.pong();
        return true;
      case '+OK':
        return true;
      case 'INFO':
        operations.info(buffer.toString('utf8', start, lineEnd));
        return true;
      case '-ERR':
        operations.peerError(buffer.toString('utf8', start, lineEnd).trim());
        return true;
      case 'LS+':
        return this.subscribe(buffer, start, lineEnd);
      case 'LS-':
        return this.unsubscribe(buffer, start, lineEnd);
    }
  }

  private subscribe(buffer: Buffer, start: number, lineEnd: number): boolean {
    const count = this.splitArguments(buffer, start, lineEnd);
    if (count !== 1 && count !== 3) return this.malformed('processLeafSub Parse Error', buffer, start, lineEnd);
    const { starts, ends } = this;
    if (count === 1) {
      this.operations.subscribe(this.argument(buffer, 0), '', 1);
      return true;
    }
    // As nats-server: a weight that is none counts as one member.
    const weight = Math.max(1, parseSize(buffer, starts[2] as number, ends[2] as number));
    this.operations.subscribe(this.argument(buffer, 0), this.argument(buffer, 1), weight);
    return true;
  }

  private unsubscribe(buffer: Buffer, start: number, lineEnd: number): boolean {
    const count = this.splitArguments(buffer, start, lineEnd);
    if (count !== 1 && count !== 2) return this.malformed('processLeafUnsub Parse Error', buffer, start, lineEnd);
    this.operations.unsubscribe(this.argument(buffer, 0), count === 2 ? this.argument(buffer, 1) : '');
    return true;
  }

  /**
   * `LMSG subject [reply] size CR LF` in its usual form: single blanks, no queue groups. One pass over the line; anything
   * else goes to `parseOperation`.
   */
  private parsePlainMessage(buffer: Buffer, at: number, end: number): number {
    const subjectStart = at + LMSG_BYTES + 1;
    const subjectEnd = endOfWord(buffer, subjectStart, end);
    let tailStart = subjectEnd + 1;
    let replyEnd = 0;
    let i = endOfDigits(buffer, tailStart, end);
    if (i < end && buffer[i] !== CR) {
      replyEnd = endOfWord(buffer, i, end);
      tailStart = replyEnd + 1;
      i = endOfDigits(buffer, tailStart, end);
    }
    const isUsual =
      i + 1 < end &&
      buffer[i] === CR &&
      buffer[i + 1] === LF &&
      buffer[subjectEnd] === SPACE &&
      subjectEnd > subjectStart &&
      buffer[tailStart - 1] === SPACE &&
      i > tailStart &&
      i - tailStart <= DIGITS_MAX &&
      i + 2 - subjectStart <= this.limits.maxControlLineBytes * LINE_FACTOR;
    if (!isUsual || replyEnd === subjectEnd + 1) return this.parseOperation(buffer, at, end);
    const { message } = this;
    message.setSubject(buffer, subjectStart, subjectEnd);
    if (replyEnd > 0) message.setReply(buffer, subjectEnd + 1, replyEnd);
    else message.clearReply();
    message.queueGroups = NO_GROUPS;
    const bodyStart = i + 2;
    message.setBody(buffer, bodyStart, bodyStart, bodyStart + parseSize(buffer, tailStart, i));
    message.tailStart = tailStart;
    return this.finishMessage(buffer, at, end);
  }

  /** The message whose line began at `at` and whose body begins at `bodyStart`. */
  private parseMessage(verb: 'LMSG' | 'HMSG', buffer: Buffer, at: number, bodyStart: number, end: number): number {
    const from = at + verb.length;
    const lineEnd = buffer[bodyStart - 2] === CR ? bodyStart - 2 : bodyStart - 1;
    const { starts, ends, message } = this;
    const withHeaders = verb === 'HMSG';
    const sizes = withHeaders ? 2 : 1;
    const addressing = this.splitArguments(buffer, from, lineEnd) - sizes;
    const size = addressing < 1 ? -1 : this.sizeAt(buffer, addressing + sizes - 1);
    const headerSize = withHeaders && addressing >= 1 ? this.sizeAt(buffer, addressing) : 0;
    if (size < 0 || headerSize < 0 || headerSize > size) return this.malformedMessage(verb, buffer, from, lineEnd);
    const hasGroups = addressing > 2;
    const sign = hasGroups && (ends[1] as number) - (starts[1] as number) === 1 ? buffer[starts[1] as number] : 0;
    if (hasGroups && sign !== PLUS && sign !== BAR) return this.malformedMessage(verb, buffer, from, lineEnd);
    message.setSubject(buffer, starts[0] as number, ends[0] as number);
    const reply = hasGroups ? (sign === PLUS ? 2 : 0) : addressing === 2 ? 1 : 0;
    if (reply > 0) message.setReply(buffer, starts[reply] as number, ends[reply] as number);
    else message.clearReply();
    message.queueGroups = hasGroups ? this.groupNames(buffer, sign === PLUS ? 3 : 2, addressing) : NO_GROUPS;
    message.setBody(buffer, bodyStart, bodyStart + headerSize, bodyStart + size);
    message.tailStart = this.tailStart(buffer, addressing, headerSize, lineEnd, bodyStart);
    return this.finishMessage(buffer, at, end);
  }

  /** Hands the message on whose line began at `at`, if it may be so long and all of it is there. */
  private finishMessage(buffer: Buffer, at: number, end: number): number {
    const { message, operations, limits } = this;
    const { bodyStart, bodyEnd } = message;
    const size = bodyEnd - bodyStart;
    if (size > limits.maxPayloadBytes) {
      const detail = `maximum payload exceeded: ${size} vs ${limits.maxPayloadBytes}`;
      operations.violation(PeerErrors.maximumPayload, detail);
      return STOPPED;
    }
    if (bodyEnd < end && buffer[bodyEnd] !== CR) return this.unknownOperation(buffer, bodyEnd, end);
    if (bodyEnd + 1 < end && buffer[bodyEnd + 1] !== LF) return this.unknownOperation(buffer, bodyEnd, end);
    if (bodyEnd + 2 > end) {
      this.operationBytes = bodyEnd + 2 - at;
      return at;
    }
    this.messagesIn++;
    this.bytesIn += size;
    operations.message(message);
    return bodyEnd + 2;
  }

  /**
   * Where the part begins that can be passed on as it is: sizes one space apart, CR LF behind them; or -1. The first
   * size is the argument number `first`.
   */
  private tailStart(buffer: Buffer, first: number, headerSize: number, lineEnd: number, bodyStart: number): number {
    const { starts, ends } = this;
    const last = headerSize === 0 ? first : first + 1;
    if (ends[last] !== lineEnd || lineEnd + 2 !== bodyStart) return -1;
    if (headerSize === 0) return starts[first] as number;
    const gap = ends[first] as number;
    return gap + 1 === starts[last] && buffer[gap] === SPACE ? (starts[first] as number) : -1;
  }

  private groupNames(buffer: Buffer, from: number, to: number): readonly string[] {
    const names: string[] = [];
    for (let i = from; i < to; i++) names.push(this.argument(buffer, i));
    return names;
  }

  private argument(buffer: Buffer, index: number): string {
    return buffer.toString('latin1', this.starts[index], this.ends[index]);
  }

  private sizeAt(buffer: Buffer, index: number): number {
    return parseSize(buffer, this.starts[index] as number, this.ends[index] as number);
  }

  /** Finds the arguments in `buffer[from, to)`; how many there are. */
  private splitArguments(buffer: Buffer, from: number, to: number): number {
    const { starts, ends } = this;
    let count = 0;
    let i = from;
    for (;;) {
      while (i < to && isBlank(buffer[i] as number)) i++;
      if (i >= to) break;
      starts[count] = i;
      while (i < to && !isBlank(buffer[i] as number)) i++;
      ends[count] = i;
      count++;
    }
    return count;
  }

  private malformedMessage(verb: 'LMSG' | 'HMSG', buffer: Buffer, start: number, end: number): typeof STOPPED {
    this.malformed(`processLeaf${verb === 'HMSG' ? 'Header' : ''}MsgArgs Parse Error`, buffer, start, end);
    return STOPPED;
  }

  private malformed(problem: string, buffer: Buffer, start: number, end: number): false {
    this.operations.violation(null, `${problem}: ${JSON.stringify(buffer.toString('latin1', start, end).trim())}`);
    return false;
  }

  private unknownOperation(buffer: Buffer, at: number, end: number): typeof STOPPED {
    const snippet = JSON.stringify(buffer.toString('latin1', at, Math.min(end, at + SNIPPET_BYTES)));
    this.operations.violation(PeerErrors.unknownOperation, `Leafnode parser ERROR, proto=${snippet}`);
    return STOPPED;
  }
}

/** Whether `LMSG` and a blank stand at `at`, in capitals. */
function isMessage(buffer: Buffer, at: number, end: number): boolean {
  return (
    at + LMSG_BYTES < end &&
    buffer[at] === 0x4c &&
    buffer[at + 1] === 0x4d &&
    buffer[at + 2] === 0x53 &&
    buffer[at + 3] === 0x47 &&
    buffer[at + 4] === SPACE
  );
}

/** The first blank, line end or control character from `at` on, or `end`. */
function endOfWord(buffer: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && (buffer[i] as number) > SPACE) i++;
  return i;
}

function endOfDigits(buffer: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && (buffer[i] as number) >= 0x30 && (buffer[i] as number) <= 0x39) i++;
  return i;
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
    if (!takesArguments(verb)) return verb;
    if (at + i === end) return 'incomplete';
    if (buffer[at + i] === SPACE || buffer[at + i] === TAB) return verb;
  }
  return null;
}

/** PING, PONG and +OK take whatever stands on the rest of their line. */
function takesArguments(verb: Verb): boolean {
  return verb !== 'PING' && verb !== 'PONG' && verb !== '+OK';
}

function sameLetter(byte: number, letter: number): boolean {
  return byte === letter || (letter >= 0x41 && letter <= 0x5a && byte === (letter | CASE));
}

/** A CR that does not end the line separates, as nats-server has it. */
function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CR;
}

function indexOfLf(buffer: Buffer, start: number, end: number): number {
  const lf = buffer.indexOf(LF, start);
  return lf < end ? lf : -1;
}
