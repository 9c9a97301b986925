/**
 * What a consumer has delivered and what of it is acknowledged: a state machine that knows nothing of networks, timers or
 * files. The same calls are made when things happen and when they are replayed from the log.
 *
 *     delivered ─► pending ─acknowledged, terminated, exhausted, gone─► (floor moves)
 *
 * Acknowledgement floors as nats-server moves them: when nothing is pending they stand at what was delivered last;
 * otherwise they move when the message behind the floor is acknowledged, up to the next one pending.
 */

import { PendingTable } from './pending-table.ts';

export interface Position {
  consumer: number;
  stream: number;
}

export class ConsumerState {
  readonly pending: PendingTable = new PendingTable();
  readonly ackFloor: Position;
  /** The next stream sequence to look at, and the consumer sequence of the next delivery. */
  nextStream: number;
  nextConsumer = 1;
  /** The highest stream sequence that was delivered. */
  deliveredStream: number;

  constructor(firstStreamSequence: number) {
    this.nextStream = firstStreamSequence;
    this.deliveredStream = firstStreamSequence - 1;
    this.ackFloor = { consumer: 0, stream: firstStreamSequence - 1 };
  }

  /** Nothing was delivered yet: the first message is the one with this sequence, or the next behind it. */
  beginAt(stream: number): void {
    this.nextStream = stream;
    this.deliveredStream = stream - 1;
    this.ackFloor.stream = stream - 1;
  }

  /** A message is delivered, for the `deliveries`th time; its consumer sequence is the answer. */
  delivered(stream: number, deliveries: number, deadlineMs: number): number {
    const consumer = this.nextConsumer++;
    const { pending } = this;
    const row = pending.row(stream);
    if (row < 0) pending.add(stream, consumer, deadlineMs, deliveries);
    else {
      // The consumer sequence of the first delivery stays.
      pending.setDeliveryCount(row, deliveries);
      pending.setDeadline(row, deadlineMs);
      pending.setQueued(row, false);
    }
    if (stream > this.deliveredStream) this.deliveredStream = stream;
    if (stream >= this.nextStream) this.nextStream = stream + 1;
    return consumer;
  }

  /** The message needs no further delivery; false when it was not pending. */
  settled(stream: number): boolean {
    const { pending } = this;
    const row = pending.row(stream);
    if (row < 0) return false;
    const consumer = pending.consumerSequence(row);
    pending.remove(row);
    this.moveFloor(consumer, stream);
    return true;
  }

  /** Everything below `stream` is gone. */
  purgedBelow(stream: number): void {
    const { pending, ackFloor } = this;
    if (this.nextStream < stream) this.nextStream = stream;
    for (let row = pending.firstRow; row >= 0 && pending.sequence(row) < stream; row = pending.firstRow) {
      ackFloor.consumer = Math.max(ackFloor.consumer, pending.consumerSequence(row));
      pending.remove(row);
    }
    if (ackFloor.stream < stream - 1) ackFloor.stream = stream - 1;
    if (pending.size === 0) this.floorToDelivered();
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
    this.ackFloor.stream = this.nextStream - 1;
  }
}
