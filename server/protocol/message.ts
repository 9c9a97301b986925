/**
 * One message on its way: ranges of buffers, no strings. A message is a view that its maker reuses for the next one;
 * its bytes die when delivery returns, so a receiver copies what it keeps.
 *
 *     subject [subjectStart, subjectEnd)      reply [replyStart, replyEnd), empty when there is none
 *     body    │ header block │ payload │ CR LF        (the two bytes behind the payload are part of the buffer)
 *             bodyStart      payloadStart
 *                                       bodyEnd
 *
 * The destination is the subject whose receivers get the message. It is the subject itself but for what JetStream
 * delivers: that goes to a receiver's inbox and shows the subject under which it was stored.
 *
 * Subject, reply and body may lie in different buffers (a mapped subject, an acknowledgement subject made for a stored
 * message). When a PUB came in the usual form, `tailStart` is where its size begins in the body's buffer: from there to
 * behind the final CR LF the bytes of PUB and of MSG are the same, and a receiver takes them in one copy.
 */

import { Buffer } from 'node:buffer';
import type { LinkSink, Producer, Sink } from '../ports.ts';

const NOTHING: Buffer = Buffer.alloc(0);

export class Message {
  subject: Buffer = NOTHING;
  subjectStart = 0;
  subjectEnd = 0;
  /** `null`: the subject is the destination. */
  destination: Buffer | null = null;
  destinationStart = 0;
  destinationEnd = 0;
  reply: Buffer = NOTHING;
  replyStart = 0;
  replyEnd = 0;
  body: Buffer = NOTHING;
  bodyStart = 0;
  payloadStart = 0;
  bodyEnd = 0;
  /** Start of `size CR LF payload CR LF` in `body`, or -1 when these bytes do not stand there like this. */
  tailStart = -1;
  /** Who published it, when it came over a connection. */
  source: Sink | null = null;
  /** Who can be told to send less, when that is possible. */
  producer: Producer | null = null;
  /** The only queue groups that may get it, when the server it came from has chosen them; `null`: any. */
  queueGroups: readonly string[] | null = null;
  /** It is a request from another account, by a service import. */
  cameByImport = false;
  /** It was published in another account than the one whose receivers get it. */
  isFromOtherAccount = false;
  /**
   * Links that have collected something for this message and send it once all receivers are known: the first so many.
   * The list never gets shorter: emptying it would cost each message a new one.
   */
  private readonly links: (LinkSink | null)[] = [];
  private linkCount = 0;

  get headerBytes(): number {
    return this.payloadStart - this.bodyStart;
  }

  get payloadBytes(): number {
    return this.bodyEnd - this.payloadStart;
  }

  /** Bytes that count against limits and in statistics: header block and payload. */
  get bodyBytes(): number {
    return this.bodyEnd - this.bodyStart;
  }

  get hasReply(): boolean {
    return this.replyEnd > this.replyStart;
  }

  /** The link is among those that send it in the end. */
  collectFor(link: LinkSink): void {
    this.links[this.linkCount++] = link;
  }

  isCollectedFor(link: LinkSink): boolean {
    const at = this.links.indexOf(link);
    return at >= 0 && at < this.linkCount;
  }

  /** All receivers are known: the links that have collected something send it. */
  sendCollected(): void {
    const { links, linkCount } = this;
    if (linkCount === 0) return;
    for (let i = 0; i < linkCount; i++) (links[i] as LinkSink).sendCollected(this);
    // Only now: each may ask who the others are.
    for (let i = 0; i < linkCount; i++) links[i] = null;
    this.linkCount = 0;
  }

  subjectText(): string {
    return this.subject.toString('latin1', this.subjectStart, this.subjectEnd);
  }

  replyText(): string {
    return this.reply.toString('latin1', this.replyStart, this.replyEnd);
  }

  /** Sets the subject, which is the destination too. */
  setSubject(buffer: Buffer, start: number, end: number): void {
    this.subject = buffer;
    this.subjectStart = start;
    this.subjectEnd = end;
    this.destination = null;
  }

  /** Sets the destination of a message that shows another subject. */
  setDestination(buffer: Buffer, start: number, end: number): void {
    this.destination = buffer;
    this.destinationStart = start;
    this.destinationEnd = end;
  }

  setReply(buffer: Buffer, start: number, end: number): void {
    this.reply = buffer;
    this.replyStart = start;
    this.replyEnd = end;
  }

  clearReply(): void {
    this.setReply(NOTHING, 0, 0);
  }

  setBody(buffer: Buffer, start: number, payloadStart: number, end: number): void {
    this.body = buffer;
    this.bodyStart = start;
    this.payloadStart = payloadStart;
    this.bodyEnd = end;
    this.tailStart = -1;
  }
}
