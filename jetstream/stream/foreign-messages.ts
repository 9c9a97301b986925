/**
 * Messages that a stream takes over from other streams: as a mirror under the sequences and times of its origin, from
 * sources under its own. They were checked where they came from; here only what they would need of this stream counts,
 * its sizes, limits and room. Headers that say what has to be so before a message is stored are gone by then.
 *
 *     origin ─► MirrorFeed, SourceFeed ─► ForeignMessages ─► Stream.append
 *
 * Source: nats-server's processJetStreamMsg where it says `sourced`.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import { REPLACES_ITSELF } from '../store/record.ts';
import type { MessageStore, Time } from '../store/store.ts';
import { ttlSeconds } from './message-ttl.ts';
import type { PublishCheck } from './publish-check.ts';
import type { SourcePositions } from './source-positions.ts';
import type { StreamClock } from './stream-clock.ts';
import type { StreamConfig } from './stream-config.ts';

const EMPTY = Buffer.alloc(0);

/** What of a stream takes part. */
export interface TakingStream {
  readonly config: StreamConfig;
  readonly store: MessageStore;
  readonly check: PublishCheck;
  readonly clock: StreamClock;
  readonly positions: SourcePositions;
  /** Why no message at all can be taken now. */
  intakeError(): ApiError | null;
  /** The message under the subject by which it is stored, until the next call. */
  transformed(message: Message): Message;
  isKept(message: Message): boolean;
  append(message: Message, time?: Time): number;
}

export class ForeignMessages {
  private readonly stream: TakingStream;

  constructor(stream: TakingStream) {
    this.stream = stream;
  }

  /** Stores the message of the origin of a mirror; the sequence lies behind everything that is there. */
  mirrored(message: Message, sequence: number, time: Time): ApiError | null {
    const { stream } = this;
    const stored = stream.transformed(message);
    const error = this.refusal(stored);
    if (error !== null) return error;
    stream.store.skipTo(sequence);
    stream.clock.notBefore(time);
    stream.append(stored, time);
    return null;
  }

  /** There is nothing up to this sequence in the origin of a mirror, and never will be. */
  skipped(toSequence: number): void {
    const { store, clock, config } = this.stream;
    if (toSequence <= store.appendedSequence) return;
    if (store.appendedMessages === 0) {
      store.purgeBelow(toSequence + 1);
      return;
    }
    store.skipTo(toSequence);
    const gone = new Message();
    const subject = Buffer.from(config.name, 'latin1');
    gone.setSubject(subject, 0, subject.length);
    gone.setBody(EMPTY, 0, 0, 0);
    store.append(gone, clock.next(), REPLACES_ITSELF);
  }

  /**
   * Stores the message of a source, by its index name, which had this sequence there; one that repeats another's id is
   * left out. The message has the header that says where it comes from.
   */
  sourced(message: Message, indexName: string, sequence: number, identity: string): ApiError | null {
    const { stream } = this;
    const { config, check, positions, store } = stream;
    const stored = stream.transformed(message);
    const error = this.refusal(stored);
    if (error !== null) return error;
    const isRepeated = config.duplicateWindowNs !== 0 && check.repeated(config) > 0;
    const counter = config.allowMsgCounter && !isRepeated ? check.counters.moved(stored, check.headers, config) : null;
    if (counter !== null && isApiError(counter)) return counter;
    const own = isRepeated ? store.appendedSequence : stream.append(stored);
    positions.note(own, indexName, sequence, identity);
    return null;
  }

  /** Why the message can't be stored now; reads its headers, as they will be stored. */
  private refusal(message: Message): ApiError | null {
    const { stream } = this;
    const { config, check } = stream;
    const error = stream.intakeError() ?? check.checkSize(message, config) ?? check.checkHeaderSize(message);
    if (error !== null) return error;
    if (message.payloadStart > message.bodyStart) {
      const { headers } = check;
      headers.read(message.body, message.bodyStart, message.payloadStart);
      if (Number.isNaN(ttlSeconds(headers))) return ApiErrors.messageTtlInvalid;
      // Where roll-ups are not allowed the message is one as any other.
      const allowsRollups = config.allowRollupHdrs && !config.denyPurge;
      if (!allowsRollups || (headers.rollup !== 'sub' && headers.rollup !== 'all')) headers.rollup = null;
    }
    return stream.isKept(message) ? check.checkRoom(message, config) : null;
  }
}
