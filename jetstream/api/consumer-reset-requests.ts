/**
 * `CONSUMER.RESET`: a consumer begins anew, at a stream sequence or where its acknowledgements end. In nats-server the
 * consumer itself is asked: where there is none, nobody answers.
 */

import { decode } from '../../server/protocol/go-json.ts';
import { goUint64 } from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import type { Consumer } from '../consumer/consumer.ts';
import { startingSequence } from '../consumer/starting-sequence.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { STARTING_SEQUENCE_MAX } from '../store/store.ts';
import type { ApiEntry, ApiHandler } from './api-handler.ts';
import { streamIdentity } from './sourcing-consumers.ts';
import { consumerInfo, whenCounted } from './stream-info.ts';

const RESET = 'consumer_reset_response';
const STREAM = 2;
const CONSUMER = 3;
const NOT_RESET = { reset_seq: 0 };

interface ResetBody {
  sequence: number;
}

const resetBody: GoStruct<ResetBody> = new GoStruct('server.JSApiConsumerResetRequest', [
  field('seq', 'sequence', goUint64, 'omitempty'),
]);

const resetConsumer: ApiHandler = (context, request) => {
  const entry = context.owner.streams.get(request.tokens[STREAM] ?? '');
  const consumer = entry?.consumers.get(request.tokens[CONSUMER] ?? '');
  if (entry === undefined || consumer === undefined) {
    request.leave();
    return;
  }
  const { value, error } =
    request.body === '' ? { value: { sequence: 0 }, error: null } : decode(request.body, resetBody);
  if (error !== null) {
    request.refuse(RESET, ApiErrors.invalidJson(error), NOT_RESET);
    return;
  }
  checkReset(consumer, value.sequence, (refusal) => {
    if (refusal !== null) {
      request.refuse(RESET, refusal, NOT_RESET);
      return;
    }
    const sequence = Math.max(1, value.sequence === 0 ? consumer.state.ackFloor.stream + 1 : value.sequence);
    const answer = (): void =>
      whenCounted([consumer], () => {
        const identity = request.streamIdentity === null ? '' : streamIdentity(entry.stream);
        request.respond(RESET, { ...consumerInfo(consumer, 'full'), reset_seq: sequence }, identity);
      });
    consumer.reset(sequence, () => {
      // What it will not have now, perhaps nobody waits for.
      entry.stream.interest.changed();
      entry.stream.whenReviewed(answer);
    });
  });
};

/** Calls back with why the consumer can't begin anew at this stream sequence; 0: where its acknowledgements end. */
function checkReset(consumer: Consumer, sequence: number, done: (refusal: ApiError | null) => void): void {
  const { deliverPolicy, optStartSeq } = consumer.config;
  const refuseBelow = (start: number, what: string): void =>
    done(sequence < start ? ApiErrors.consumerInvalidReset(`below start ${what}`) : null);
  if (sequence > STARTING_SEQUENCE_MAX) done(ApiErrors.consumerInvalidReset('seq not supported by petiole yet'));
  else if (sequence === 0 || deliverPolicy === 'all') done(null);
  else if (deliverPolicy === 'by_start_sequence') refuseBelow(optStartSeq, 'seq');
  else if (deliverPolicy === 'by_start_time') {
    const { store, host } = consumer.stream;
    startingSequence(host.io, store, consumer.config, 0, ({ start }) => refuseBelow(start, 'time'));
  } else done(ApiErrors.consumerInvalidReset('not allowed'));
}

export const consumerResetHandlers: readonly ApiEntry[] = [['CONSUMER.RESET.*.*', resetConsumer]];
