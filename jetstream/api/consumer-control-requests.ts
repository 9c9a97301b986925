/** `CONSUMER.PAUSE` and `CONSUMER.UNPIN`. */

import { decode } from '../../server/protocol/go-json.ts';
import { goString, goTime } from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import { formatTime, isZeroTime, type Timestamp } from '../../server/protocol/rfc3339.ts';
import { withRequiredLevel } from '../consumer/consumer-config-fields.ts';
import type { Consumer } from '../consumer/consumer.ts';
import { isGroupName } from '../consumer/priority-config-rules.ts';
import { ApiErrors, isApiError } from '../errors.ts';
import { type ApiContext, type ApiEntry, type ApiHandler, streamOf } from './api-handler.ts';
import type { ApiRequest } from './api-request.ts';
import { ZERO_TIME_TEXT } from './api-time.ts';
import { readOptions } from './request-bodies.ts';
import type { StreamEntry } from './stream-entry.ts';

const PAUSE = 'consumer_pause_response';
const UNPIN = 'consumer_unpin_response';
const STREAM = 2;
const CONSUMER = 3;
const NOT_PAUSED = { paused: false, pause_until: ZERO_TIME_TEXT };

interface PauseBody {
  pauseUntil: Timestamp | null;
}

interface UnpinBody {
  group: string;
}

const pauseBody: GoStruct<PauseBody> = new GoStruct('server.JSApiConsumerPauseRequest', [
  field('pause_until', 'pauseUntil', goTime, 'omitempty'),
]);

const unpinBody: GoStruct<UnpinBody> = new GoStruct('server.JSApiConsumerUnpinRequest', [
  field('group', 'group', goString),
]);

interface Found {
  readonly entry: StreamEntry;
  readonly consumer: Consumer;
}

/** The consumer that the subject names; refuses the request and answers `null` when there is none. */
function consumerOf(context: ApiContext, request: ApiRequest, type: string, fields: object): Found | null {
  const entry = streamOf(context, request, request.tokens[STREAM], type, fields);
  if (entry === null) return null;
  const consumer = entry.consumers.get(request.tokens[CONSUMER] ?? '');
  if (consumer !== undefined) return { entry, consumer };
  request.refuse(type, ApiErrors.consumerNotFound, fields);
  return null;
}

const pauseConsumer: ApiHandler = (context, request) => {
  const body = readOptions(request.body, pauseBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(PAUSE, body, NOT_PAUSED);
    return;
  }
  const found = consumerOf(context, request, PAUSE, NOT_PAUSED);
  if (found === null) return;
  const { entry, consumer } = found;
  const isOver = body.pauseUntil === null || isZeroTime(body.pauseUntil);
  const pauseUntil = isOver ? null : { ...(body.pauseUntil as Timestamp), offsetMinutes: 0 };
  const config = withRequiredLevel({ ...consumer.config, pauseUntil });
  const isPut = context.jetstream.putConsumer(entry, config, consumer, consumer.origin, consumer.created, () => {
    const { isPaused, remaining } = consumer.pause;
    request.respond(PAUSE, {
      paused: isPaused,
      pause_until: pauseUntil === null ? ZERO_TIME_TEXT : formatTime(pauseUntil),
      pause_remaining: isPaused ? remaining : undefined,
    });
  });
  if (!isPut) request.refuse(PAUSE, ApiErrors.consumerStoreFailed('consumer configuration too large'), NOT_PAUSED);
};

const unpinConsumer: ApiHandler = (context, request) => {
  const { value, error } = decode(request.body, unpinBody);
  if (error !== null) request.refuse(UNPIN, ApiErrors.invalidJson(error));
  else if (value.group === '') request.refuse(UNPIN, ApiErrors.invalidJson('consumer group not specified'));
  else if (!isGroupName(value.group)) request.refuse(UNPIN, ApiErrors.consumerInvalidGroupName);
  else unpin(context, request, value.group);
};

function unpin(context: ApiContext, request: ApiRequest, group: string): void {
  const consumer = consumerOf(context, request, UNPIN, {})?.consumer;
  if (consumer === undefined) return;
  if (!(consumer.config.priorityGroups ?? []).includes(group)) {
    request.refuse(UNPIN, ApiErrors.consumerInvalidPriorityGroup);
    return;
  }
  consumer.delivery.pin?.release(group, 'admin');
  request.respond(UNPIN, {});
}

export const consumerControlHandlers: readonly ApiEntry[] = [
  ['CONSUMER.PAUSE.*.*', pauseConsumer],
  ['CONSUMER.UNPIN.*.*', unpinConsumer],
];
