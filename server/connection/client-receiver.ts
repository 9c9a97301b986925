/**
 * The receiving half of a client's connection: its subscriptions, what may be delivered to it, and how producers feel
 * that it is slow.
 *
 * Whether there is anything to check is worked out beforehand, so that the usual message pays for nothing: it is encoded
 * into the open chunk of the queue, and counted.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { Message } from '../protocol/message.ts';
import { encodedBytesMax, writeLine, writeMessage } from '../protocol/message-encoder.ts';
import { encodeInfo } from '../protocol/server-info.ts';
import type { Producer, SinkKind } from '../ports.ts';
import type { Subscription } from '../subject/subscription.ts';
import { CHUNK_BYTES_MAX } from './chunk-pool.ts';
import type { ClientRights } from './client-rights.ts';
import { Connection } from './connection.ts';
import { SidTable } from './sid-table.ts';

const CRLF = Buffer.from('\r\n');

/** How long a producer is stalled that feeds a receiver near its limit: at first, and when the receiver is full. */
const STALL_MS = 2;
const STALL_FULL_MS = 5;

export abstract class ClientReceiver extends Connection {
  account: Account | null = null;
  acceptsHeaders = false;
  /** How often it stalled a producer. */
  stalls = 0;
  /** Set once a subscription can match something that must not be delivered, or when deliveries bring rights. */
  protected deliveryRights: ClientRights | null = null;
  protected echo = true;
  private ownSubscriptions: SidTable | null = null;

  get sinkKind(): SinkKind {
    return 'client';
  }

  get subscriptions(): SidTable {
    this.ownSubscriptions ??= new SidTable();
    return this.ownSubscriptions;
  }

  /** The connection was accepted, and is a client's from the start. */
  connected(): void {
    this.arrived();
    this.greetClient();
    this.entered();
  }

  /** What it has to sign if it logs in with a key. */
  abstract readonly nonce: string;

  /** It was accepted; nothing has been said. */
  abstract arrived(): void;

  greetClient(): void {
    this.greet(encodeInfo(this.host.clientInfo(this, null)));
  }

  /** What it sends is the protocol from now on. */
  entered(): void {
    this.armDeadline();
  }

  override deliver(subscription: Subscription, message: Message): boolean {
    if (this.state !== 'open' || (message.source === this && !this.echo)) return false;
    if (this.deliveryRights !== null && !this.deliveryRights.mayDeliver(subscription, message)) return false;
    const { queue } = this;
    // The first message of a chunk asks in any case. A way that was never taken is left out of compiled code: the first
    // congestion would throw away the code of all that a message passes, in the middle of a load.
    if ((queue.isCongested || queue.limit === 0) && !this.hasRoom(message.producer)) return false;
    subscription.delivered++;
    if (subscription.maxDeliveries > 0 && subscription.delivered >= subscription.maxDeliveries) {
      this.limitReached(subscription);
      if (subscription.delivered > subscription.maxDeliveries) return false;
    }
    const withHeaders = this.acceptsHeaders;
    const bytes = encodedBytesMax(message, subscription.sid);
    if (bytes > CHUNK_BYTES_MAX) return this.deliverLarge(subscription, message);
    if (queue.limit - queue.position < bytes && !queue.reserve(bytes)) return false;
    queue.position = writeMessage(queue.buffer, queue.position, message, subscription.sid, withHeaders);
    const { traffic } = this;
    traffic.outMessages++;
    traffic.outBytes += message.bodyEnd - (withHeaders ? message.bodyStart : message.payloadStart);
    return true;
  }

  /** A message that does not fit into one chunk: the line, then the body over as many chunks as it takes. */
  private deliverLarge(subscription: Subscription, message: Message): boolean {
    const { queue, traffic, acceptsHeaders } = this;
    const { sid } = subscription;
    const start = acceptsHeaders ? message.bodyStart : message.payloadStart;
    if (!queue.reserve(encodedBytesMax(message, sid) - message.bodyBytes)) return false;
    queue.position = writeLine(queue.buffer, queue.position, message, sid, acceptsHeaders);
    queue.append(message.body, start, message.bodyEnd);
    queue.append(CRLF, 0, CRLF.length);
    traffic.outMessages++;
    traffic.outBytes += message.bodyEnd - start;
    return this.state === 'open';
  }

  /** Whether one more message is taken and not dropped; when much is unsent its producer is slowed down, too. */
  private hasRoom(producer: Producer | null): boolean {
    const { queue, host } = this;
    if (!queue.isCongested || producer === null || (producer as unknown) === this) return true;
    const { stallFastProducers } = host.limits;
    // One that is held already ends with this read: to ask for each message costs a look at the clock and at all held.
    if (stallFastProducers && producer.holdCount > 0) return true;
    if (queue.wantsHold) queue.hold(producer);
    else if (queue.isNearlyFull) {
      if (!stallFastProducers) return false;
      this.stalls++;
      producer.stall(queue.isFull ? STALL_FULL_MS : STALL_MS);
    }
    return true;
  }

  /** Nobody got the request: tells the client where it waits for the reply, if it does. */
  protected tellNoResponders(message: Message): void {
    const account = this.account as Account;
    const waiting = account.plainSubscriptionOf(this, message.reply, message.replyStart, message.replyEnd);
    if (waiting === null) return;
    const subject = message.subjectText();
    const size = 32 + subject.length;
    const line = `HMSG ${message.replyText()} ${waiting.sid} ${size} ${size}\r\n`;
    this.send(Buffer.from(`${line}NATS/1.0 503\r\nNats-Subject: ${subject}\r\n\r\n\r\n`, 'latin1'));
  }

  private limitReached(subscription: Subscription): void {
    const { log } = this.host;
    if (log.debugEnabled) {
      const { sid, maxDeliveries } = subscription;
      log.debug(`${this.label} - Auto-unsubscribe limit of ${maxDeliveries} reached for sid '${sid}'`);
    }
    this.remove(subscription);
  }

  protected remove(subscription: Subscription): void {
    this.subscriptions.delete(subscription.sid);
    this.account?.unsubscribe(subscription);
  }

  protected dropSubscriptions(): void {
    const { account, ownSubscriptions } = this;
    if (ownSubscriptions === null) return;
    if (account !== null) for (const each of ownSubscriptions.all()) account.unsubscribe(each);
    ownSubscriptions.clear();
  }
}
