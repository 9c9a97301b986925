/**
 * What a consumer has delivered and what of it is acknowledged: a state machine that knows nothing of networks, timers or
 * files. The same calls are made when things happen and when they are replayed from the log.
 *
 *     delivered ─► pending ─acknowledged, terminated, gone─► (floor moves)
 *                     └─delivered as often as allowed─► exhausted ─gone or acknowledged late─► (nothing)
 *
 * Acknowledgement floors as nats-server moves them: when nothing is pending they stand at what was delivered last;
 * otherwise they move when the message behind the floor is acknowledged, up to the next one pending. Where an
 * acknowledgement is for all messages up to its own, the floor stands there. Where nothing is acknowledged, nothing is
 * pending, and the floor follows what is delivered.
 *
 * An exhausted message is nobody's any more, but it stays known while it is in the stream: the consumer has not had it.
 */

import type { AckPolicy } from './consumer-config-fields.ts';
import { PendingTable } from './pending-table.ts';

export interface Position {
  consumer: number;
  stream: number;
}

export class ConsumerState {
  readonly pending: PendingTable = new PendingTable();
  /** Messages that were delivered as often as allowed and are still in the stream. */
  readonly exhausted: PendingTable = new PendingTable();
  readonly ackFloor: Position;
  /** The next stream sequence to look at, and the consumer sequence of the next delivery. */
  nextStream: number;
  nextConsumer = 1;
  /** The highest stream sequence that was delivered. */
  deliveredStream: number;
  private readonly awaitsAcks: boolean;

  constructor(firstStreamSequence: number, ackPolicy: AckPolicy = 'explicit') {
    this.awaitsAcks = ackPolicy !== 'none';
    this.nextStream = firstStreamSequence;
    this.deliveredStream = firstStreamSequence - 1;
    this.ackFloor = { consumer: 0, stream: firstStreamSequence - 1 };
  }

  /** Messages delivered more than once, and those that will not be again. */
  get redelivered(): number {
    return this.pending.redelivered + this.exhausted.size;
  }

  /** Nothing was delivered yet: the first message is the one with this sequence, or the next behind it. */
  beginAt(stream: number): void {
    this.nextStream = stream;
    this.deliveredStream = stream - 1;
    this.ackFloor.stream = stream - 1;
  }

  /** Everything starts anew at this sequence, which may be one that was delivered. */
  reset(stream: number): void {
    this.pending.clear();
    this.exhausted.clear();
    this.nextConsumer = 1;
    this.ackFloor.consumer = 0;
    this.beginAt(stream);
  }

  /** A message is delivered, for the `deliveries`th time; its consumer sequence is the answer. */
  delivered(stream: number, deliveries: number, deadlineMs: number): number {
    const consumer = this.nextConsumer++;
    if (stream > this.deliveredStream) this.deliveredStream = stream;
    if (stream >= this.nextStream) this.nextStream = stream + 1;
    if (!this.awaitsAcks) {
      this.ackFloor.consumer = consumer;
      this.ackFloor.stream = stream;
      return consumer;
    }
    const { pending } = this;
    const row = pending.row(stream);
    if (row < 0) pending.add(stream, consumer, deadlineMs, deliveries);
    else {
      // The consumer sequence of the first delivery stays.
      pending.setDeliveryCount(row, deliveries);
      pending.setDeadline(row, deadlineMs);
      pending.setQueued(row, false);
    }
    return consumer;
  }

  /** Where nothing is acknowledged: the last message delivered, and its consumer sequence. */
  passed(stream: number, consumer: number): void {
    this.nextConsumer = consumer + 1;
    if (stream > this.deliveredStream) this.deliveredStream = stream;
    if (stream >= this.nextStream) this.nextStream = stream + 1;
    this.ackFloor.consumer = consumer;
    this.ackFloor.stream = stream;
  }

  /** The message needs no further delivery; false when it was neither pending nor exhausted. */
  settled(stream: number): boolean {
    const wasExhausted = this.exhausted.size > 0 && this.forgetExhausted(stream);
    return this.leave(stream) || wasExhausted;
  }

  /** This message and all before it are acknowledged; false when they were already. */
  settledUpTo(consumer: number, stream: number): boolean {
    const { pending, exhausted, ackFloor } = this;
    if (consumer <= ackFloor.consumer || stream <= ackFloor.stream) return false;
    ackFloor.consumer = consumer;
    ackFloor.stream = stream;
    pending.removeUpTo(stream);
    exhausted.removeUpTo(stream);
    return true;
  }

  /** The pending message will not be delivered again; the consumer has not had it, and no floor moves over it yet. */
  exhaust(stream: number): void {
    const { pending } = this;
    const row = pending.row(stream);
    if (row < 0) return;
    this.exhausted.add(stream, pending.consumerSequence(row), 0, pending.deliveryCount(row));
    pending.remove(row);
  }

  /** Everything below `stream` is gone. */
  purgedBelow(stream: number): void {
    const { pending, ackFloor } = this;
    if (this.nextStream < stream) {
      this.nextStream = stream;
      this.deliveredStream = stream - 1;
    }
    let row = pending.firstRow;
    for (; row >= 0 && pending.sequence(row) < stream; row = pending.firstRow) {
      ackFloor.consumer = Math.max(ackFloor.consumer, pending.consumerSequence(row));
      pending.remove(row);
    }
    this.exhausted.removeUpTo(stream - 1);
    if (ackFloor.stream < stream - 1) ackFloor.stream = stream - 1;
    if (pending.size === 0) this.floorToDelivered();
  }

  /** Whether the consumer has yet to have this message, or has not had it and never will. */
  needs(stream: number): boolean {
    if (this.exhausted.size > 0 && this.exhausted.row(stream) >= 0) return true;
    if (stream <= this.ackFloor.stream) return false;
    return stream >= this.nextStream || !this.awaitsAcks || this.pending.row(stream) >= 0;
  }

  private forgetExhausted(stream: number): boolean {
    const row = this.exhausted.row(stream);
    if (row < 0) return false;
    this.exhausted.remove(row);
    return true;
  }

  private leave(stream: number): boolean {
    const { pending } = this;
    const row = pending.row(stream);
    if (row < 0) return false;
    const consumer = pending.consumerSequence(row);
    pending.remove(row);
    this.moveFloor(consumer, stream);
    return true;
  }

  private moveFloor(consumer: number, stream: number): void {
    const { pending, ackFloor } = this;
    if (pending.size === 0) {
      this.floorToDelivered();
      return;
    }
    if (consumer !== ackFloor.consumer + 1) return;
    ackFloor.consumer = consumer;
    ackFloor.stream = stream;
    let row = pending.firstRow;
    while (row >= 0 && pending.sequence(row) <= stream) row = pending.nextRow(row);
    if (row < 0) return;
    ackFloor.consumer = pending.consumerSequence(row) - 1;
    ackFloor.stream = pending.sequence(row) - 1;
  }

  private floorToDelivered(): void {
    this.ackFloor.consumer = this.nextConsumer - 1;
    this.ackFloor.stream = this.deliveredStream;
  }
}
