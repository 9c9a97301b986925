/**
 * Messages on their way out over one link: which of them go, collected so that each goes once, and encoded.
 *
 *     begin(message), addQueueGroup…          send(message, end())
 *     plain, queue a, queue b         ──►      LMSG subject + reply a b size
 *
 * Not taken are: what permissions keep, what is larger than the hub accepts (it would close the link), and, above
 * max_pending, what the hub is too slow for. The latter two are counted and logged at most once in NOTICE_INTERVAL_MS.
 * Producers that can be slowed down are, as for a client that is slow.
 *
 * Collections form a stack, since a receiver that comes before the link's turn may publish something itself: the inner
 * message is sent before the outer one is collected further.
 */

import { CHUNK_BYTES_MAX } from '../server/connection/chunk-pool.ts';
import type { ConnectionLimits } from '../server/connection/connection-host.ts';
import type { OutboundQueue } from '../server/connection/outbound-queue.ts';
import type { Traffic } from '../server/connection/statistics.ts';
import { NoticePace } from '../server/io/notice-pace.ts';
import type { Message } from '../server/protocol/message.ts';
import { encodedBytesMax, writeLeafLine, writeLeafMessage } from './leaf-encoder.ts';
import type { LeafPermissions } from './leaf-permissions.ts';

const CRLF = Buffer.from('\r\n');
/** Part of max_pending above which a producer that can't be held is stalled, and for how long. */
const NEARLY_FULL = 0.75;
const STALL_MS = 5;
const NOTICE_INTERVAL_MS = 10_000;

/** Messages that were not sent, by reason. */
export interface Dropped {
  tooLarge: number;
  congested: number;
}

/** What an outbox needs of its link. */
export interface OutboxLink {
  readonly queue: OutboundQueue;
  readonly traffic: Traffic;
  readonly limits: ConnectionLimits;
  monotonicMs(): number;
  warn(text: string): void;
}

/** A message that is being collected, and the queue groups to which it goes so far. */
interface Collection {
  readonly message: Message;
  readonly queueGroups: string[];
}

export class LinkOutbox {
  permissions: LeafPermissions;
  /** The hub takes header blocks. */
  withHeaders = false;
  /** The hub's limit; 0: it has not told any. */
  payloadBytesMax = 0;
  readonly dropped: Dropped = { tooLarge: 0, congested: 0 };
  /** What is being collected. */
  message: Message | null = null;
  private queueGroups: string[] = [];
  /** Collections that wait until this one is over. */
  private readonly outer: Collection[] = [];
  private readonly link: OutboxLink;
  /** Of the link, from when they are first needed. */
  private queue: OutboundQueue | null = null;
  private traffic: Traffic | null = null;
  private readonly pace = new NoticePace(NOTICE_INTERVAL_MS);

  constructor(link: OutboxLink, permissions: LeafPermissions) {
    this.link = link;
    this.permissions = permissions;
  }

  /** Begins a collection; false when the message does not go. */
  begin(message: Message): boolean {
    if (!this.isAllowed(message)) return false;
    const { payloadBytesMax, queueGroups } = this;
    if (payloadBytesMax > 0 && this.bodyBytes(message) > payloadBytesMax) {
      this.refuseLarge(message);
      return false;
    }
    const queue = (this.queue ??= this.link.queue);
    // The first message of a chunk asks in any case. A way that was never taken is left out of compiled code: the first
    // congestion would throw away the code of all that a message passes, in the middle of a load.
    if ((queue.isCongested || queue.limit === 0) && !this.hasRoom(queue, message)) return false;
    if (this.message !== null) this.interrupt(this.message);
    // Not by its length, which costs a call of the runtime even where there is nothing to remove.
    else while (queueGroups.length > 0) queueGroups.pop();
    this.message = message;
    return true;
  }

  private interrupt(message: Message): void {
    this.outer.push({ message, queueGroups: this.queueGroups });
    this.queueGroups = [];
  }

  /** Adds a queue group to the collection that was begun last. */
  addQueueGroup(name: string): void {
    this.queueGroups.push(name);
  }

  /** Ends the collection that was begun last: the queue groups to which its message goes, until the next one begins. */
  end(): readonly string[] {
    const { queueGroups, outer } = this;
    this.message = null;
    if (outer.length > 0) ({ message: this.message, queueGroups: this.queueGroups } = outer.pop() as Collection);
    return queueGroups;
  }

  /** Queues a message that was collected, or is as good as that. */
  send(message: Message, queueGroups: readonly string[]): void {
    const queue = (this.queue ??= this.link.queue);
    const traffic = (this.traffic ??= this.link.traffic);
    const { withHeaders } = this;
    const bytes = encodedBytesMax(message, queueGroups);
    if (bytes > CHUNK_BYTES_MAX) this.sendLarge(queue, message, queueGroups, bytes);
    else if (queue.limit - queue.position >= bytes || queue.reserve(bytes)) {
      queue.position = writeLeafMessage(queue.buffer, queue.position, message, queueGroups, withHeaders);
    } else return;
    traffic.outMessages++;
    traffic.outBytes += message.bodyEnd - (withHeaders ? message.bodyStart : message.payloadStart);
  }

  /** A message that does not fit into one chunk: the line, then the body over as many chunks as it takes. */
  private sendLarge(queue: OutboundQueue, message: Message, queueGroups: readonly string[], bytes: number): void {
    const line = Buffer.allocUnsafe(bytes - message.bodyBytes);
    const length = writeLeafLine(line, 0, message, queueGroups, this.withHeaders);
    queue.append(line, 0, length);
    queue.append(message.body, this.withHeaders ? message.bodyStart : message.payloadStart, message.bodyEnd);
    queue.append(CRLF, 0, CRLF.length);
  }

  private isAllowed(message: Message): boolean {
    const { destination } = message;
    return destination === null
      ? this.permissions.maySend(message.subject, message.subjectStart, message.subjectEnd)
      : this.permissions.maySend(destination, message.destinationStart, message.destinationEnd);
  }

  private refuseLarge(message: Message): void {
    this.dropped.tooLarge++;
    this.notice(`Message of ${this.bodyBytes(message)} bytes not sent, the remote accepts ${this.payloadBytesMax}`);
  }

  /** Whether the link can take more; when much is unsent it slows the producer down, too. */
  private hasRoom(queue: OutboundQueue, message: Message): boolean {
    if (!queue.isCongested) return true;
    const { limits } = this.link;
    if (queue.pendingBytes + this.bodyBytes(message) > limits.maxPendingBytes) {
      this.dropped.congested++;
      this.notice(`Message not sent, ${queue.pendingBytes} bytes wait already`);
      return false;
    }
    const { producer } = message;
    // One that is held already ends with this read: to ask for each message costs a look at the clock.
    if (producer === null || producer.holdCount > 0) return true;
    if (queue.wantsHold) queue.hold(producer);
    else if (queue.pendingBytes > limits.maxPendingBytes * NEARLY_FULL && limits.stallFastProducers) {
      producer.stall(STALL_MS);
    }
    return true;
  }

  private bodyBytes(message: Message): number {
    return this.withHeaders ? message.bodyBytes : message.payloadBytes;
  }

  private notice(text: string): void {
    if (!this.pace.isDue(this.link.monotonicMs())) return;
    const { tooLarge, congested } = this.dropped;
    this.link.warn(`${text} (not sent so far: ${tooLarge} too large, ${congested} for lack of room)`);
  }
}
