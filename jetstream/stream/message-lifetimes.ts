/**
 * How long the messages of one stream stay: `AgeLimit` and `MessageExpiry` find those whose time is over, and
 * `ExpiredMessages` lets them go, with a delete marker where one is wanted.
 *
 *     Nats-TTL of a message ─► MessageExpiry ─┐
 *                                             ├─► ExpiredMessages ─► removal, or marker
 *     max_age of the stream ─► AgeLimit ──────┘
 */

import { Buffer } from 'node:buffer';
import { formatDuration } from '../../server/config/duration.ts';
import type { Io } from '../../server/io/io.ts';
import { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import type { MessageStore, Time } from '../store/store.ts';
import { AgeLimit } from './age-limit.ts';
import { withHeaderChanged } from './batch-headers.ts';
import { ExpiredMessages } from './expired-messages.ts';
import { MessageExpiry } from './message-expiry.ts';
import { ttlSeconds } from './message-ttl.ts';
import type { PublishHeaders } from './publish-headers.ts';
import type { StreamConfig } from './stream-config.ts';

const TTL_HEADER = 'Nats-TTL';

export class MessageLifetimes {
  private readonly age: AgeLimit;
  private readonly expiry: MessageExpiry;
  private readonly expired: ExpiredMessages;
  /** The shortest TTL of a message, in seconds. */
  private shortestTtl = 0;
  private allowsTtl = false;
  private markerTtlMs = 0;
  private isRunning = false;

  /** `storeMarker` stores a message of the stream itself; false when nobody wants it. */
  constructor(io: Io, store: MessageStore, storeMarker: (message: Message) => boolean) {
    this.expired = new ExpiredMessages(store, (subject) => storeMarker(this.marker(subject)));
    this.expiry = new MessageExpiry(io, store, this.expired);
    this.age = new AgeLimit(io, store, this.expired);
  }

  configure(config: StreamConfig): void {
    this.markerTtlMs = Math.floor(millisecondsOf(config.subjectDeleteMarkerTtlNs) / 1000) * 1000;
    this.expired.leavesMarkers = this.markerTtlMs > 0;
    this.allowsTtl = config.allowMsgTtl;
    // With one message a subject there is never a marker of an earlier one that could be missed.
    this.shortestTtl = config.maxMsgsPerSubject === 1 ? 0 : this.markerTtlMs / 1000;
    this.age.setMaxAge(millisecondsOf(config.maxAgeNs), config.allowMsgTtl);
  }

  /** Begins to let messages go: everything is read, and who wants markers is known. */
  start(): void {
    this.isRunning = true;
    this.age.messagesChanged();
    this.expiry.start();
  }

  stop(): void {
    this.isRunning = false;
    this.age.stop();
    this.expiry.stop();
  }

  /** The message as it is to be stored: its TTL is not shorter than that of a delete marker. `headers` are its own. */
  adjusted(message: Message, headers: PublishHeaders): Message {
    if (this.shortestTtl === 0 || headers.ttl === null) return message;
    const seconds = ttlSeconds(headers);
    if (!(seconds > 0 && seconds < this.shortestTtl)) return message;
    headers.ttl = String(this.shortestTtl);
    return withHeaderChanged(message, TTL_HEADER, headers.ttl);
  }

  /** A message with these headers was stored, or read from the log. */
  stored(sequence: number, time: Time, headers: PublishHeaders): void {
    if (headers.ttl === null || !this.allowsTtl) return;
    const seconds = ttlSeconds(headers);
    if (seconds > 0) this.expiry.add(sequence, time, seconds);
  }

  /** Messages became visible. */
  messagesChanged(): void {
    if (!this.isRunning) return;
    this.age.messagesChanged();
    this.expiry.messagesChanged();
  }

  removed(sequence: number): void {
    this.expired.removed(sequence);
    this.expiry.messagesChanged();
    this.age.roomMade();
  }

  /** Whether what is gone below this sequence was too old. */
  areAged(belowSequence: number): boolean {
    return belowSequence <= this.age.agedBelow;
  }

  purged(belowSequence: number): void {
    this.expired.purged(belowSequence);
    this.expiry.messagesChanged();
    this.age.roomMade();
  }

  /** What a checkpoint that reflects messages up to `lastSequence` has to keep. */
  encode(lastSequence: number): Buffer {
    return this.expiry.encode(lastSequence);
  }

  decode(encoded: Buffer): void {
    this.expiry.decode(encoded);
  }

  private marker(subject: string): Message {
    const lines = [
      'Nats-Marker-Reason: MaxAge',
      `${TTL_HEADER}: ${formatDuration(this.markerTtlMs)}`,
      'Nats-Rollup: sub',
    ];
    const headers = Buffer.from(`NATS/1.0\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    const bytes = Buffer.from(subject, 'latin1');
    const marker = new Message();
    marker.setSubject(bytes, 0, bytes.length);
    marker.setBody(headers, 0, headers.length, headers.length);
    return marker;
  }
}
