/**
 * What receivers say about messages they got: done, not done, still at it, never again, more please; and what time says
 * when they say nothing.
 *
 * Source: docs.nats.io JetStream acknowledgements; nats-server's processAck.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { AckFields, copySubject } from './ack-subject.ts';
import type { Consumer } from './consumer.ts';
import { nakDelayMs } from './nak-delay.ts';
import type { RedeliveryQueue } from './redelivery-queue.ts';

const NOTHING = Buffer.alloc(0);
const NAK_BYTES = 4;
const NEXT_BYTES = 4;

export class Acknowledgements {
  /** Wall milliseconds of the last one that settled a message; 0: never. */
  lastMs = 0;
  private readonly consumer: Consumer;
  private readonly redelivery: RedeliveryQueue;
  private readonly fields = new AckFields();

  constructor(consumer: Consumer, redelivery: RedeliveryQueue) {
    this.consumer = consumer;
    this.redelivery = redelivery;
  }

  /** A message to the consumer's acknowledgement subjects. */
  take(message: Message): void {
    const { fields } = this;
    if (!fields.read(message.subject, message.subjectStart, message.subjectEnd)) return;
    const sequence = fields.streamSequence;
    const { body, payloadStart, bodyEnd } = message;
    const kind = ackKind(body, payloadStart, bodyEnd);
    switch (kind) {
      case 'ack':
      case 'term':
        this.ackOne(sequence, message);
        break;
      case 'next':
        this.ackOne(sequence, null);
        if (message.hasReply) {
          const reply = copySubject(message.reply, message.replyStart, message.replyEnd);
          this.consumer.delivery.request(reply, body.toString('latin1', payloadStart + NEXT_BYTES, bodyEnd));
        }
        break;
      case 'nak':
        this.refused(sequence, body.toString('latin1', payloadStart + NAK_BYTES, bodyEnd).trim());
        this.replyAtOnce(message);
        break;
      case 'progress':
        this.extend(sequence, millisecondsOf(this.consumer.config.ackWaitNs));
        this.replyAtOnce(message);
        break;
      case 'unknown':
        this.replyAtOnce(message);
        break;
    }
  }

  private ackOne(sequence: number, message: Message | null): void {
    // What was never delivered can't be acknowledged.
    if (sequence >= this.consumer.state.nextStream) return;
    const wasFull = this.consumer.state.pending.size >= this.consumer.config.maxAckPending;
    if (this.settle(sequence)) this.lastMs = this.consumer.stream.host.io.clock.wallMs();
    if (message?.hasReply === true) this.replyWhenDurable(message);
    if (wasFull) this.consumer.wake();
  }

  /** No further delivery: by acknowledgement, or because the message is gone or exhausted. */
  settle(sequence: number): boolean {
    if (!this.consumer.state.settled(sequence)) return false;
    this.consumer.log?.settled(sequence);
    return true;
  }

  private refused(sequence: number, argument: string): void {
    const { pending } = this.consumer.state;
    const row = pending.row(sequence);
    if (row < 0) return;
    const delayMs = nakDelayMs(argument);
    if (delayMs !== null) {
      pending.setQueued(row, false);
      this.extend(sequence, delayMs);
      return;
    }
    this.redelivery.add(row);
    this.consumer.wake();
  }

  private extend(sequence: number, byMs: number): void {
    const { pending } = this.consumer.state;
    const row = pending.row(sequence);
    if (row < 0) return;
    const deadline = this.consumer.stream.host.io.clock.wallMs() + byMs;
    pending.setDeadline(row, deadline);
    this.consumer.log?.deadline(sequence, deadline);
    this.redelivery.watch(deadline);
  }

  /** The deadlines of these messages have passed: they are delivered again, unless that was their last delivery. */
  expired(sequences: readonly number[]): void {
    const { pending } = this.consumer.state;
    const { maxDeliver } = this.consumer.config;
    for (const sequence of sequences) {
      const row = pending.row(sequence);
      if (maxDeliver > 0 && pending.deliveryCount(row) >= maxDeliver) this.settle(sequence);
      else this.redelivery.add(row);
    }
    this.consumer.wake();
  }

  private replyAtOnce(message: Message): void {
    if (message.hasReply) this.sendEmpty(copySubject(message.reply, message.replyStart, message.replyEnd));
  }

  private replyWhenDurable(message: Message): void {
    const reply = copySubject(message.reply, message.replyStart, message.replyEnd);
    if (this.consumer.log === null) this.sendEmpty(reply);
    else this.consumer.log.whenDurable(() => this.sendEmpty(reply));
  }

  private sendEmpty(reply: Buffer): void {
    const message = new Message();
    message.setSubject(reply, 0, reply.length);
    message.setBody(NOTHING, 0, 0, 0);
    this.consumer.stream.account.route(message);
  }
}

type AckKind = 'ack' | 'nak' | 'progress' | 'next' | 'term' | 'unknown';

/** What an acknowledgement's payload says. */
function ackKind(body: Buffer, start: number, end: number): AckKind {
  if (end === start) return 'ack';
  const text = body.toString('latin1', start, Math.min(end, start + 5));
  if (text === '+ACK' || text === '+OK') return 'ack';
  if (text.startsWith('-NAK')) return 'nak';
  if (text === '+WPI') return 'progress';
  if (text.startsWith('+NXT')) return 'next';
  if (text.startsWith('+TERM')) return 'term';
  return 'unknown';
}
