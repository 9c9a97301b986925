/**
 * What becomes of a message whose time is over, by its own TTL or by the stream's maximum age. It goes; and where subject
 * delete markers are configured, the last message under a subject leaves one, which replaces it:
 *
 *     Nats-Marker-Reason: MaxAge
 *     Nats-TTL: 5s               the marker's own life
 *     Nats-Rollup: sub           what it replaces
 *
 * A marker leaves none in turn, nor does what a KV client stored as one.
 *
 * Going takes until the removal is durable. Until then such messages are noted here, so that nobody takes one of them for
 * the last of its subject, or lets it go twice.
 *
 * Bound: PENDING_MAX messages are on their way out; whoever looks for expired ones waits meanwhile.
 *
 * Source: ADR-43, ADR-48.
 */

import type { RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';
import { PublishHeaders } from './publish-headers.ts';
import { NEVER, ttlSeconds } from './message-ttl.ts';

const PENDING_MAX = 10_000;
const MARKER = /\r\n(?:Nats-Marker-Reason: *[^ \r]|KV-Operation: *PURGE\r)/;

export class ExpiredMessages {
  /** A marker is to be left for each subject whose last message expires. */
  leavesMarkers = false;
  private readonly store: MessageStore;
  private readonly leaveMarker: (subject: string) => boolean;
  private readonly headers = new PublishHeaders();
  /** Messages on their way out, with the numbers of their subjects. */
  private readonly pending = new Map<number, number>();
  /** How many of a subject's messages are on their way out. */
  private readonly pendingOf = new Map<number, number>();

  /** `leaveMarker` stores a marker under the subject; false when nobody wants one. */
  constructor(store: MessageStore, leaveMarker: (subject: string) => boolean) {
    this.store = store;
    this.leaveMarker = leaveMarker;
  }

  get isFull(): boolean {
    return this.pending.size >= PENDING_MAX;
  }

  /** The message has asked to stay whatever its age is. */
  staysForever(message: RecordView): boolean {
    if (message.payloadStart === message.bodyStart) return false;
    this.headers.read(message.buffer, message.bodyStart, message.payloadStart);
    return ttlSeconds(this.headers) === NEVER;
  }

  /** The time of this visible message is over. */
  expire(message: RecordView): void {
    const { sequence } = message;
    if (this.pending.has(sequence)) return;
    const subject = this.store.subjects.find(message.buffer, message.subjectStart, message.subjectEnd);
    const isLast = this.leavesMarkers && this.isLast(subject);
    this.pending.set(sequence, subject);
    this.pendingOf.set(subject, (this.pendingOf.get(subject) ?? 0) + 1);
    const isReplaced = isLast && !isMarker(message) && this.leaveMarker(message.subject);
    if (!isReplaced) this.store.remove(sequence);
  }

  /** Messages on their way out: what a checkpoint must not forget, since they may still be there afterwards. */
  get sequences(): Iterable<number> {
    return this.pending.keys();
  }

  /** A message is gone. */
  removed(sequence: number): void {
    const subject = this.pending.get(sequence);
    if (subject === undefined) return;
    this.pending.delete(sequence);
    const left = (this.pendingOf.get(subject) as number) - 1;
    if (left > 0) this.pendingOf.set(subject, left);
    else this.pendingOf.delete(subject);
  }

  purged(belowSequence: number): void {
    for (const sequence of this.pending.keys()) if (sequence < belowSequence) this.removed(sequence);
  }

  /** All that is left of the subject, and of what was appended under it, is one message. */
  private isLast(subject: number): boolean {
    const { subjects, lastSequence } = this.store;
    if (subjects.appendedLast(subject) > lastSequence) return false;
    return subjects.count(subject) - (this.pendingOf.get(subject) ?? 0) === 1;
  }
}

function isMarker({ buffer, bodyStart, payloadStart }: RecordView): boolean {
  return MARKER.test(buffer.toString('latin1', bodyStart, payloadStart));
}
