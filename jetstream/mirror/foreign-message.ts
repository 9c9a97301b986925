/**
 * A message as a stream takes it over from another: without the headers that said what had to be so before the origin
 * stored it, and, from a source, with one that says where it comes from. Its bytes live until the next call.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';

const VERSION_LINE = 'NATS/1.0\r\n';
const CRLF = '\r\n';
const CONDITIONS = ['Nats-Expected-', 'Nats-Batch-'];
const REQUEST_INFO = 'Nats-Request-Info:';
const SOURCE = 'Nats-Stream-Source';

export class ForeignMessage {
  private readonly changed = new Message();

  /** As a mirror stores it. */
  ofMirror(message: Message, subject: string | null): Message {
    const block = headerBlock(message);
    const kept = without(block, [...CONDITIONS, REQUEST_INFO]);
    if (kept !== block) return this.copy(message, subject, kept);
    this.setSubject(message, subject);
    this.changed.setBody(message.body, message.bodyStart, message.payloadStart, message.bodyEnd);
    return this.changed;
  }

  /** As a stream stores what came from a source; `header` says from where. */
  ofSource(message: Message, subject: string | null, header: string): Message {
    const kept = without(headerBlock(message), [...CONDITIONS, REQUEST_INFO, `${SOURCE}:`]);
    const lines = kept === '' ? VERSION_LINE : kept.slice(0, -CRLF.length);
    return this.copy(message, subject, `${lines}${SOURCE}: ${header}${CRLF}${CRLF}`);
  }

  private copy(message: Message, subject: string | null, block: string): Message {
    const headers = Buffer.from(block, 'latin1');
    const body = Buffer.concat([headers, message.body.subarray(message.payloadStart, message.bodyEnd)]);
    this.setSubject(message, subject);
    this.changed.setBody(body, 0, headers.length, body.length);
    return this.changed;
  }

  private setSubject(message: Message, subject: string | null): void {
    const { changed } = this;
    if (subject === null) changed.setSubject(message.subject, message.subjectStart, message.subjectEnd);
    else changed.setSubject(Buffer.from(subject, 'latin1'), 0, subject.length);
  }
}

function headerBlock({ body, bodyStart, payloadStart }: Message): string {
  return body.toString('latin1', bodyStart, payloadStart);
}

/** The block without the lines that begin like that; empty when nothing is left. */
function without(block: string, beginnings: readonly string[]): string {
  if (!beginnings.some((each) => block.includes(`${CRLF}${each}`))) return block;
  const [version = '', ...lines] = block.split(CRLF).slice(0, -2);
  const kept = lines.filter((line) => !beginnings.some((each) => line.startsWith(each)));
  return kept.length === 0 ? '' : `${[version, ...kept].join(CRLF)}${CRLF}${CRLF}`;
}
