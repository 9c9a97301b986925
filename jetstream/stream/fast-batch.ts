/**
 * One fast batch: how far it is, and how often its publisher is told.
 *
 *     acknowledged ──── every `ackEvery` messages ──── last sequence        sequences count the batch's messages, from 1
 *
 * The only batch of a stream starts with what its publisher allows, at most ACK_EVERY_MAX. One among several starts with
 * every message; at each acknowledgement the interval is doubled or halved towards its share of ACK_EVERY_MAX.
 */

import type { Buffer } from 'node:buffer';
import type { TimedBatch } from './batch-table.ts';
import type { FastBatchReply } from './fast-batch-reply.ts';

const ACK_EVERY_MAX = 500;

export class FastBatch implements TimedBatch {
  readonly id: string;
  readonly allowsGaps: boolean;
  usedMs = 0;
  isEnded = false;
  /** Sequence in the batch of the last message that came, or that was given up. */
  lastSequence = 0;
  /** Sequence in the stream of the last message that was stored; 0: none was. */
  streamSequence = 0;
  /** Up to where the publisher was told. */
  acknowledged = 0;
  ackEvery: number;
  /** The most that the publisher allows. */
  private readonly flow: number;

  constructor(id: string, reply: FastBatchReply, isAlone: boolean) {
    this.id = id;
    this.allowsGaps = reply.allowsGaps;
    this.flow = reply.flow;
    this.ackEvery = isAlone ? Math.min(ACK_EVERY_MAX, reply.flow) : 1;
  }

  /** Whether this is the batch whose id stands in `buffer[start, end)`. */
  hasId(buffer: Buffer, start: number, end: number): boolean {
    const { id } = this;
    if (end - start !== id.length) return false;
    for (let i = 0; i < id.length; i++) if (buffer[start + i] !== id.charCodeAt(i)) return false;
    return true;
  }

  /** Whether the publisher is to be told how far the batch is; `inFlight` batches share the stream. */
  isAckDue(inFlight: number): boolean {
    const { ackEvery, acknowledged, lastSequence } = this;
    if (lastSequence < acknowledged + ackEvery) return false;
    this.acknowledged += Math.floor((lastSequence - acknowledged) / ackEvery) * ackEvery;
    const share = Math.min(Math.max(1, Math.floor(ACK_EVERY_MAX / inFlight)), this.flow);
    if (ackEvery < share) this.ackEvery = Math.min(share, ackEvery * 2);
    else if (ackEvery > share) this.ackEvery = Math.max(share, Math.floor(ackEvery / 2));
    return true;
  }

  /** `{"type":"ack"…}`: everything up to `acknowledged` is stored, or was given up where gaps are allowed. */
  get ackText(): string {
    return `{"type":"ack","seq":${this.acknowledged},"msgs":${this.ackEvery}}`;
  }

  ended(): void {
    this.isEnded = true;
  }
}
