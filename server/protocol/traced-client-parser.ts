/**
 * The parser of clients whose lines are traced: it shows each line with its arguments as they came, and then does what
 * the plain parser does. Clients that are not traced have the plain one and pay nothing.
 *
 * As nats-server: a line is shown even if its arguments turn out to be malformed; the reports +OK and -ERR and an INFO
 * are not shown.
 */

import type { Buffer } from 'node:buffer';
import { type ClientOperations, ClientParser, type ParserLimits, type Verb } from './client-parser.ts';
import type { Message } from './message.ts';
import type { STOPPED } from './operation-reader.ts';
import { redact } from './redaction.ts';

const LOWER_H = 0x68;
const CASE = 0x20;
const CR = 13;
const SPACE = 32;
const TAB = 9;

export class TracedClientParser extends ClientParser {
  private line: Message;
  private trace: (text: string) => void;

  /** `trace` takes a line's verb and arguments. */
  constructor(operations: ClientOperations, limits: ParserLimits, message: Message, trace: (text: string) => void) {
    super(operations, limits, message);
    this.line = message;
    this.trace = trace;
  }

  /** Goes on where a plain parser is, in the middle of a message perhaps. */
  static goOn(parser: ClientParser, message: Message, trace: (text: string) => void): void {
    const traced = Object.setPrototypeOf(parser, TracedClientParser.prototype) as TracedClientParser;
    traced.line = message;
    traced.trace = trace;
  }

  protected override finishPublish(buffer: Buffer, at: number, bodyEnd: number, end: number): number {
    if (!this.announced) {
      const withHeaders = ((buffer[at] as number) | CASE) === LOWER_H;
      let from = at + (withHeaders ? 'HPUB' : 'PUB').length;
      while (buffer[from] === SPACE || buffer[from] === TAB) from++;
      const lf = this.line.bodyStart - 1;
      this.tracePublish(withHeaders, buffer, from, buffer[lf - 1] === CR ? lf - 1 : lf);
    }
    return super.finishPublish(buffer, at, bodyEnd, end);
  }

  protected override malformed(withHeaders: boolean, buffer: Buffer, start: number, end: number): typeof STOPPED {
    this.tracePublish(withHeaders, buffer, start, end);
    return super.malformed(withHeaders, buffer, start, end);
  }

  protected override dispatch(
    verb: Exclude<Verb, 'PUB' | 'HPUB'>,
    buffer: Buffer,
    start: number,
    lineEnd: number,
  ): boolean {
    if (verb === 'PING' || verb === 'PONG') this.trace(verb);
    else if (verb === 'CONNECT') this.trace(`${verb} ${redact(buffer.toString('utf8', start, lineEnd))}`);
    else if (verb === 'SUB' || verb === 'UNSUB') this.trace(`${verb} ${buffer.toString('utf8', start, lineEnd)}`);
    return super.dispatch(verb, buffer, start, lineEnd);
  }

  private tracePublish(withHeaders: boolean, buffer: Buffer, start: number, end: number): void {
    this.trace(`${withHeaders ? 'HPUB' : 'PUB'} ${buffer.toString('utf8', start, end)}`);
  }
}
