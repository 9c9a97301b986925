/**
 * What receivers say about messages they got: done, not done, still at it, never again, more please; and what time says
 * when they say nothing.
 *
 *     pending ─ack─► settled                    pending ─deadline, nak─► redelivery, or exhausted
 *     pending ─term─► (dead letter) ─► settled  pending ─delivered too often─► (dead letter) ─► exhausted
 *
 * Source: docs.nats.io JetStream acknowledgements; nats-server's processAck. One thing is different: a message that is
 * removed from the stream settles itself alone, also where an acknowledgement is for all messages up to its own.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { AckFields, copySubject } from './ack-subject.ts';
import type { Leave, LeaveReason } from './consumer-events.ts';
import type { Consumer } from './consumer.ts';
import { nakDelayMs } from './nak-delay.ts';
import type { RedeliveryQueue } from './redelivery-queue.ts';

const NOTHING = Buffer.alloc(0);
const ACK = Buffer.from('+ACK');
const OK = Buffer.from('+OK');
const NAK = Buffer.from('-NAK');
const PROGRESS = Buffer.from('+WPI');
const NEXT = Buffer.from('+NXT');
const TERM = Buffer.from('+TERM');

export class Acknowledgements {
  /** Wall milliseconds of the last one that counted; 0: never. */
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
    const { body, payloadStart, bodyEnd } = message;
    switch (ackKind(body, payloadStart, bodyEnd)) {
      case 'ack':
        if (this.isDelivered() && this.acknowledge()) this.replyWhenDurable(message);
        break;
      case 'term':
        this.terminate(message, body.toString('latin1', payloadStart + TERM.length, bodyEnd).trim());
        break;
      case 'next':
        if (this.isDelivered()) this.acknowledge();
        if (message.hasReply) {
          const reply = copySubject(message.reply, message.replyStart, message.replyEnd);
          this.consumer.delivery.request(reply, body.toString('latin1', payloadStart + NEXT.length, bodyEnd));
        }
        break;
      case 'nak':
        this.refused(body.toString('latin1', payloadStart + NAK.length, bodyEnd).trim());
        this.replyAtOnce(message);
        break;
      case 'progress':
        this.inProgress(fields.streamSequence);
        this.replyAtOnce(message);
        break;
      case 'unknown':
        this.replyAtOnce(message);
        break;
    }
  }

  /** What was never delivered can't be acknowledged. */
  private isDelivered(): boolean {
    return this.fields.streamSequence < this.consumer.state.nextStream;
  }

  /** The message of `fields` is done; false when acknowledgements mean nothing here. */
  private acknowledge(): boolean {
    const { consumer, fields } = this;
    const { events } = consumer;
    switch (consumer.config.ackPolicy) {
      case 'none':
        return consumer.stream.settlements !== null;
      case 'all':
      case 'flow_control':
        return this.acknowledgeUpTo(fields.consumerSequence, fields.streamSequence);
      case 'explicit':
        if (events !== null && consumer.state.pending.row(fields.streamSequence) >= 0) {
          events.acknowledged(fields.streamSequence, fields.consumerSequence, fields.deliveries);
        }
        this.acknowledgeOne(fields.streamSequence);
        return true;
    }
  }

  private acknowledgeOne(sequence: number): void {
    const { consumer } = this;
    const wasFull = consumer.isFull;
    this.settle(sequence);
    this.lastMs = consumer.stream.host.io.clock.wallMs();
    consumer.stream.settlements?.settled(sequence);
    if (wasFull) consumer.wake();
  }

  /** This message and all before it are done. */
  acknowledgeUpTo(consumerSequence: number, sequence: number): true {
    const { consumer } = this;
    const { state, stream } = consumer;
    const { settlements } = stream;
    const wasFull = consumer.isFull;
    const below = settlements === null ? [] : state.pending.sequencesBelow(sequence);
    if (!state.settledUpTo(consumerSequence, sequence)) return true;
    consumer.log?.settledUpTo(consumerSequence, sequence);
    this.lastMs = stream.host.io.clock.wallMs();
    settlements?.settled(sequence);
    for (const each of below) settlements?.settled(each);
    if (wasFull) consumer.wake();
    return true;
  }

  /** No further delivery: acknowledged, or gone from the stream. */
  settle(sequence: number): boolean {
    if (!this.consumer.state.settled(sequence)) return false;
    this.consumer.log?.settled(sequence);
    return true;
  }

  /** The message is gone from the stream; true when it was pending, so that others may have its place. */
  gone(sequence: number): boolean {
    const { consumer } = this;
    const { pending } = consumer.state;
    const row = pending.row(sequence);
    const consumerSequence = row < 0 ? 0 : pending.consumerSequence(row);
    const deliveries = row < 0 ? 0 : pending.deliveryCount(row);
    if (this.settle(sequence)) this.lastMs = consumer.stream.host.io.clock.wallMs();
    if (row < 0) return false;
    consumer.events?.terminated(sequence, consumerSequence, deliveries, 'Unacknowledged message was deleted');
    return true;
  }

  // ── without success ──────────────────────────────────────────────────────────────────────────────────────────────

  private terminate(message: Message, reason: string): void {
    const { consumer, fields } = this;
    const { streamSequence, consumerSequence, deliveries } = fields;
    const { deadLetters, events, state } = consumer;
    const row = state.pending.row(streamSequence);
    const isHeld = row >= 0 && deadLetters !== null;
    if (isHeld) {
      const reply = message.hasReply ? copySubject(message.reply, message.replyStart, message.replyEnd) : null;
      this.hold(streamSequence, state.pending.deliveryCount(row), 'terminated', reason, () => {
        this.acknowledgeOne(streamSequence);
        if (reply !== null) this.replyToWhenDurable(reply);
      });
    } else if (this.isDelivered() && this.acknowledgeTerminated()) this.replyWhenDurable(message);
    events?.terminated(streamSequence, consumerSequence, deliveries, reason);
  }

  /** As an acknowledgement, but not one of success. */
  private acknowledgeTerminated(): boolean {
    if (this.consumer.config.ackPolicy !== 'explicit') return this.acknowledge();
    this.acknowledgeOne(this.fields.streamSequence);
    return true;
  }

  /** The message stays as it is until whoever takes dead letters has it. */
  private hold(sequence: number, deliveries: number, why: LeaveReason, text: string, leave: Leave): void {
    const { deadLetters, state } = this.consumer;
    const row = state.pending.row(sequence);
    if (deadLetters === null || row < 0) {
      leave(false);
      return;
    }
    if (state.pending.isHeld(row)) return;
    state.pending.setHeld(row, true);
    state.pending.setQueued(row, false);
    deadLetters.leave(sequence, deliveries, why, text, leave);
  }

  /** The message was delivered as often as allowed. */
  exhaust(sequence: number): void {
    const { consumer } = this;
    const { pending } = consumer.state;
    const row = pending.row(sequence);
    const deliveries = pending.deliveryCount(row);
    if (!pending.isHeld(row)) consumer.events?.exhausted(sequence, deliveries);
    this.hold(sequence, deliveries, 'exhausted', '', (isElsewhere) => {
      if (isElsewhere) {
        this.acknowledgeOne(sequence);
        return;
      }
      const wasFull = consumer.isFull;
      consumer.state.exhaust(sequence);
      consumer.log?.exhausted(sequence);
      if (wasFull) consumer.wake();
    });
  }

  private refused(argument: string): void {
    const { consumer, fields } = this;
    const { state, waits } = consumer;
    const { streamSequence, consumerSequence } = fields;
    if (consumerSequence <= state.ackFloor.consumer || consumerSequence >= state.nextConsumer) return;
    const row = state.pending.row(streamSequence);
    if (row < 0 || state.pending.isHeld(row)) return;
    consumer.events?.naked(streamSequence, consumerSequence, fields.deliveries);
    const delayMs = nakDelayMs(argument);
    if (delayMs === null) {
      this.redelivery.add(row);
      consumer.wake();
      return;
    }
    state.pending.setQueued(row, false);
    const wait = waits.afterDelivery(state.pending.deliveryCount(row)) - waits.ackWaitMs;
    this.extend(row, delayMs + wait);
  }

  private inProgress(sequence: number): void {
    const { pending } = this.consumer.state;
    const row = pending.row(sequence);
    if (row >= 0) this.extend(row, this.consumer.waits.afterDelivery(pending.deliveryCount(row)));
  }

  private extend(row: number, byMs: number): void {
    const { consumer } = this;
    const { pending } = consumer.state;
    const now = consumer.stream.host.io.clock.wallMs();
    const deadline = Math.max(0, now + byMs);
    pending.setDeadline(row, deadline);
    consumer.lastDeliveredMs = now;
    consumer.log?.deadline(pending.sequence(row), deadline);
    this.redelivery.watch(deadline);
  }

  /** The deadlines of these messages have passed: they are delivered again, unless that was their last delivery. */
  expired(sequences: readonly number[]): void {
    const { pending } = this.consumer.state;
    const { maxDeliver } = this.consumer.config;
    for (const sequence of sequences) {
      const row = pending.row(sequence);
      if (row < 0) continue;
      if (maxDeliver > 0 && pending.deliveryCount(row) >= maxDeliver) this.exhaust(sequence);
      else this.redelivery.add(row);
    }
    this.consumer.wake();
  }

  // ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────────

  private replyAtOnce(message: Message): void {
    if (message.hasReply && this.fields.streamSequence > 0) {
      this.sendEmpty(copySubject(message.reply, message.replyStart, message.replyEnd));
    }
  }

  private replyWhenDurable(message: Message): void {
    if (message.hasReply) this.replyToWhenDurable(copySubject(message.reply, message.replyStart, message.replyEnd));
  }

  private replyToWhenDurable(reply: Buffer): void {
    const { log, stream } = this.consumer;
    // What has to survive is in the consumer's log, or that the stream let the message go.
    const keeper = log ?? stream.settlements;
    if (keeper === null) this.sendEmpty(reply);
    else keeper.whenDurable(() => this.sendEmpty(reply));
  }

  private sendEmpty(reply: Buffer): void {
    const message = new Message();
    message.setSubject(reply, 0, reply.length);
    message.setBody(NOTHING, 0, 0, 0);
    this.consumer.stream.account.route(message);
  }
}

type AckKind = 'ack' | 'nak' | 'progress' | 'next' | 'term' | 'unknown';

/** What an acknowledgement's payload says. Compared as bytes: every message has one. */
function ackKind(body: Buffer, start: number, end: number): AckKind {
  if (end === start || isWord(ACK, body, start, end) || isWord(OK, body, start, end)) return 'ack';
  if (beginsWith(NAK, body, start, end)) return 'nak';
  if (isWord(PROGRESS, body, start, end)) return 'progress';
  if (beginsWith(NEXT, body, start, end)) return 'next';
  return beginsWith(TERM, body, start, end) ? 'term' : 'unknown';
}

function isWord(word: Buffer, body: Buffer, start: number, end: number): boolean {
  return end - start === word.length && beginsWith(word, body, start, end);
}

function beginsWith(word: Buffer, body: Buffer, start: number, end: number): boolean {
  if (end - start < word.length) return false;
  for (let i = 0; i < word.length; i++) if (body[start + i] !== word[i]) return false;
  return true;
}
