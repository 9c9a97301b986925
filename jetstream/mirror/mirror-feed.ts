/**
 * How a mirror is fed: with its origin's messages under the same sequences and times. It goes on behind its own last
 * sequence, whatever happened. What the origin has lost or left out is left out here too.
 *
 * An origin that was made anew, or ends before the mirror does, is not the one that was mirrored: its messages would stand
 * beside others with their sequences. The mirror waits then and says so, and the log does once for each such origin. Which
 * origin it was is kept with checkpoints.
 */

import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { STARTING_SEQUENCE_MAX } from '../store/store.ts';
import { MIRROR_INDEX_NAME } from '../stream/source-name.ts';
import type { StreamSource } from '../stream/stream-config-parts.ts';
import type { Stream } from '../stream/stream.ts';
import { consumerMetadata, mirrorConsumerName } from './consumer-names.ts';
import { ForeignMessage } from './foreign-message.ts';
import { OriginCall } from './origin-call.ts';
import type { OriginPlace } from './origin-place.ts';
import type { OriginReader } from './origin-reader.ts';
import { apiSubject, type OriginConsumerInfo, type OriginStart } from './origin-request.ts';
import { SubjectTransforms } from './subject-transforms.ts';

const INFO_MS = 5000;
/** To whom wants what the new origin has. */
const ADVICE = 'It keeps what it has; to mirror the new stream, delete the mirror and create it again';

export class MirrorFeed implements OriginReader {
  readonly source: StreamSource;
  readonly consumerName: string;
  readonly deliverToken = 'M';
  readonly metadata: Readonly<Record<string, string>>;
  /** Whichever origin is there is asked: it is looked at when it answers. */
  readonly identity = '';
  private readonly stream: Stream;
  private readonly transforms: SubjectTransforms;
  private readonly foreign = new ForeignMessage();
  private readonly onPending: (pending: number) => void;
  /** The origin of which the log says that it was made anew. */
  private loggedIdentity = '';

  /** `onPending` hears how many messages the origin has that the mirror has yet to get. */
  constructor(stream: Stream, source: StreamSource, onPending: (pending: number) => void) {
    this.stream = stream;
    this.source = source;
    this.onPending = onPending;
    this.consumerName = mirrorConsumerName(stream);
    this.metadata = consumerMetadata(stream, 'mirror');
    this.transforms = new SubjectTransforms(source, stream.host.io.random);
  }

  get position(): number {
    return this.stream.store.appendedSequence;
  }

  start(): OriginStart {
    const { position } = this;
    if (position > 0) return { kind: 'sequence', sequence: position + 1 };
    const { optStartSeq, optStartTime } = this.source;
    if (optStartSeq > 0) return { kind: 'sequence', sequence: optStartSeq };
    return optStartTime === null ? { kind: 'all' } : { kind: 'time', time: optStartTime };
  }

  recreated(): void {
    // No identity was asked for.
  }

  private otherOrigin(identity: string): ApiError {
    const { source, stream, loggedIdentity } = this;
    const { account, host, name } = stream;
    const what = `stream ${source.name} of the origin was made anew`;
    if (identity !== loggedIdentity) {
      host.log.warn(`Mirror '${account.name} > ${name}' has stopped: ${what}. ${ADVICE}`);
      this.loggedIdentity = identity;
    }
    const { code, errCode } = ApiErrors.consumerStreamIdentityMismatch(identity);
    return { code, errCode, description: `${what}: the mirror has stopped. ${ADVICE}` };
  }

  opened({ deliveredSequence, identity, pending }: OriginConsumerInfo): ApiError | null {
    const { position, stream } = this;
    const known = stream.positions.of(MIRROR_INDEX_NAME)?.identity ?? '';
    if (position > 0 && known !== '' && identity !== '' && identity !== known) {
      return this.otherOrigin(identity);
    }
    if (deliveredSequence > STARTING_SEQUENCE_MAX) {
      return ApiErrors.mirrorConsumerSetupFailed('sequence not supported by petiole yet');
    }
    if (identity !== '') stream.positions.restore(MIRROR_INDEX_NAME, 0, identity);
    stream.foreign.skipped(deliveredSequence);
    this.onPending(pending);
    return null;
  }

  /** Asks the origin where it ends; one that does not answer may be what it says it is. */
  verify(amiss: (error: ApiError) => void): void {
    const { account, host } = this.stream;
    const own = this.position;
    if (own === 0) return;
    const call = new OriginCall({ account, io: host.io }, (answer) => {
      const last = answer === null ? null : lastSequenceIn(answer.text);
      if (last === null || last >= own) return;
      amiss(ApiErrors.mirrorConsumerSetupFailed(`mirrored stream ends at sequence ${last}, the mirror at ${own}`));
    });
    call.send(apiSubject(this.source, `STREAM.INFO.${this.source.name}`), '', '', INFO_MS);
  }

  take(message: Message, { sequence, time, pending }: OriginPlace): ApiError | null {
    this.onPending(pending);
    const subject = this.transforms.apply(message.subjectText());
    return this.stream.foreign.mirrored(this.foreign.ofMirror(message, subject), sequence, time);
  }

  whenDurable(done: () => void): void {
    this.stream.whenDurable(done);
  }
}

function lastSequenceIn(text: string): number | null {
  const found = /"last_seq":\s*(\d+)/.exec(text);
  return found === null ? null : Number(found[1]);
}
