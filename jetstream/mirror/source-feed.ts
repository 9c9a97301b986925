/**
 * How a stream is fed from one of its sources: messages get sequences and times of the stream's own, and a header that says
 * where they come from. The stream's positions tell where to go on (`source-positions.ts`); while a source has given
 * nothing yet, its configuration does.
 */

import type { Message } from '../../server/protocol/message.ts';
import type { ApiError } from '../errors.ts';
import { sourceHeader, sourceIndexName } from '../stream/source-name.ts';
import type { StreamSource } from '../stream/stream-config-parts.ts';
import type { Stream } from '../stream/stream.ts';
import { consumerMetadata, sourceConsumerName } from './consumer-names.ts';
import { ForeignMessage } from './foreign-message.ts';
import type { OriginPlace } from './origin-place.ts';
import type { OriginReader } from './origin-reader.ts';
import type { OriginConsumerInfo, OriginStart } from './origin-request.ts';
import { SubjectTransforms } from './subject-transforms.ts';

export class SourceFeed implements OriginReader {
  readonly source: StreamSource;
  readonly indexName: string;
  readonly consumerName: string;
  readonly deliverToken = 'S';
  readonly metadata: Readonly<Record<string, string>>;
  identity: string;
  private readonly stream: Stream;
  private readonly transforms: SubjectTransforms;
  private readonly foreign = new ForeignMessage();
  /** The present consumer begins behind this sequence. */
  private base = 0;
  private isRecreated = false;

  constructor(stream: Stream, source: StreamSource) {
    this.stream = stream;
    this.source = source;
    this.indexName = sourceIndexName(source);
    this.consumerName = sourceConsumerName(stream, source);
    this.metadata = consumerMetadata(stream, 'src');
    this.transforms = new SubjectTransforms(source, stream.host.io.random);
    this.identity = stream.positions.of(this.indexName)?.identity ?? '';
  }

  get position(): number {
    return Math.max(this.base, this.taken);
  }

  /** The sequence of the last message that came. */
  private get taken(): number {
    return this.stream.positions.of(this.indexName)?.sequence ?? 0;
  }

  start(): OriginStart {
    const { position, source, stream } = this;
    if (position > 0) return { kind: 'sequence', sequence: position + 1 };
    const { optStartSeq, optStartTime } = source;
    if (optStartSeq > 0) return { kind: 'sequence', sequence: optStartSeq };
    const { lastTime, firstSequence } = stream.store;
    if (optStartTime !== null) {
      const isLater = lastTime !== null && lastTime.seconds > optStartTime.seconds;
      return { kind: 'time', time: isLater ? lastTime : optStartTime };
    }
    // What came once, and is gone from here without a trace of where it came from, does not come again.
    const isEmptied = firstSequence > 1 && lastTime !== null && !this.isRecreated;
    return isEmptied ? { kind: 'time', time: lastTime } : { kind: 'all' };
  }

  recreated(): void {
    this.isRecreated = true;
    this.identity = '';
    this.base = 0;
    this.stream.positions.forget(this.indexName);
    const { account, host, name } = this.stream;
    host.log.warn(`Source '${this.source.name}' of stream '${account.name} > ${name}' was made anew, and is read anew`);
  }

  opened({ deliveredSequence, identity }: OriginConsumerInfo): null {
    // A consumer that somebody made is not asked for by the origin's identity.
    const isOther = this.identity !== '' && identity !== '' && identity !== this.identity;
    if (isOther) this.recreated();
    this.isRecreated = false;
    this.identity = identity;
    this.base = Math.max(this.base, deliveredSequence);
    return null;
  }

  verify(): void {
    // The origin was asked for by its identity.
  }

  take(message: Message, { sequence }: OriginPlace): ApiError | null {
    const { foreign, identity, indexName, source, stream, transforms } = this;
    const subject = message.subjectText();
    const header = sourceHeader(source, sequence, subject, identity);
    const stored = foreign.ofSource(message, transforms.apply(subject), header);
    return stream.foreign.sourced(stored, indexName, sequence, identity);
  }

  whenDurable(done: () => void): void {
    this.stream.whenDurable(done);
  }
}
