/** `CONSUMER.CREATE`, `DURABLE.CREATE`, `INFO`, `NAMES`, `LIST` and `DELETE`. */

import { Buffer } from 'node:buffer';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import { consumerEndpoint, nameConsumer } from '../consumer/consumer-config-names.ts';
import { completeConsumerConfig, newConsumerConfig } from '../consumer/consumer-config-rules.ts';
import { checkConsumerAction, updateConsumerConfig } from '../consumer/consumer-config-update.ts';
import { type ConsumerConfig, decodeConsumerRequest } from '../consumer/consumer-config.ts';
import type { Consumer } from '../consumer/consumer.ts';
import { checkChangedWorkQueueConsumer, checkNewWorkQueueConsumer } from '../consumer/work-queue-rules.ts';
import { checkDeadLetterSubject } from '../consumer/dead-letter-subject.ts';
import { type ConsumerOrigin, startingSequence } from '../consumer/starting-sequence.ts';
import { canStore, consumerLimits, consumersMax } from './account-limits.ts';
import { type ApiContext, type ApiEntry, type ApiHandler, streamOf } from './api-handler.ts';
import type { ApiRequest } from './api-request.ts';
import { nowText } from './api-time.ts';
import { consumersBody, isEmptyBody, readOptions } from './request-bodies.ts';
import {
  beginAnew,
  fittedToStream,
  identityError,
  isForStreams,
  keepingStart,
  streamIdentity,
} from './sourcing-consumers.ts';
import type { StreamEntry } from './stream-entry.ts';
import { consumerInfo, whenCounted } from './stream-info.ts';
import { base62 } from '../../server/protocol/base62.ts';

const CREATE = 'consumer_create_response';
const INFO = 'consumer_info_response';
const NAMES = 'consumer_names_response';
const LIST = 'consumer_list_response';
const DELETE = 'consumer_delete_response';
const STREAM = 2;
const CONSUMER = 3;
const NAMES_LIMIT = 1024;
const LIST_LIMIT = 256;
const NO_PAGE = { total: 0, offset: 0, limit: 0 };
const GENERATED_NAME_LENGTH = 8;

const createConsumer: ApiHandler = (context, request) => {
  const plan = planConsumer(context, request);
  if (isApiError(plan)) {
    request.refuse(CREATE, plan);
    return;
  }
  const { entry, config, existing } = plan;
  const { jetstream } = context;
  const answer = (): void => {
    const consumer = entry.consumers.get(config.name) as Consumer;
    const identity = isForStreams(config) ? streamIdentity(entry.stream) : '';
    beginAnew(consumer, () => {
      whenCounted([consumer], () => request.respond(CREATE, consumerInfo(consumer, 'full'), identity));
    });
  };
  const put = (origin: ConsumerOrigin, created: string): void => {
    const isPut = jetstream.putConsumer(entry, config, existing, origin, created, answer);
    if (!isPut) request.refuse(CREATE, ApiErrors.consumerCreateFailed('consumer configuration too large'));
  };
  const { stream } = entry;
  if (existing !== null) put(existing.origin, existing.created);
  else {
    startingSequence(jetstream.io, stream.store, config, stream.config.maxMsgsPerSubject, (origin) =>
      put(origin, nowText(jetstream.io.clock)),
    );
  }
};

interface Plan {
  readonly entry: StreamEntry;
  readonly config: ConsumerConfig;
  readonly existing: Consumer | null;
}

/** What the request comes to: a consumer to make or to change, or the error that refuses it. */
function planConsumer(context: ApiContext, request: ApiRequest): Plan | ApiError {
  const { jetstream, owner } = context;
  const decoded = decodeConsumerRequest(request.body, jetstream.options.isStrict);
  if (isApiError(decoded)) return decoded;
  const endpoint = consumerEndpoint(request.tokens);
  if (isApiError(endpoint)) return endpoint;
  const asked = nameConsumer(decoded, endpoint);
  if (isApiError(asked)) return asked;
  const entry = owner.streams.get(endpoint.streamName);
  if (entry === undefined) return ApiErrors.streamNotFound;
  const fitted = fittedToStream(asked, entry.stream, randomName(context));
  const named = keepingStart(fitted, entry.consumers.get(fitted.name)?.config ?? fitted);
  const wanted =
    identityError(entry.stream, named, request.streamIdentity) ??
    completeConsumerConfig(named, entry.stream.config, consumerLimits(context), decoded.isPedantic);
  if (isApiError(wanted)) return wanted;
  const unreachable = checkDeadLetterSubject(wanted, entry.stream.config.subjects);
  if (unreachable !== null) return unreachable;
  const existing = entry.consumers.get(wanted.name) ?? null;
  const refusal = checkConsumerAction(decoded.action, existing?.config ?? null, wanted);
  if (refusal !== null) return refusal;
  const isWorkQueue = entry.stream.config.retention === 'workqueue' && !isForStreams(wanted);
  const clients = [...entry.consumers.values()].filter(({ config }) => !isForStreams(config));
  const others = clients.filter((each) => each !== existing).map(({ config }) => config);
  if (existing !== null) {
    const shared = isWorkQueue ? checkChangedWorkQueueConsumer(wanted, others) : null;
    if (shared !== null) return shared;
    const config = updateConsumerConfig(existing.config, wanted);
    if (isApiError(config)) return config;
    return movesFromListeners(entry, existing.config, config)
      ? ApiErrors.consumerNameExist
      : { entry, config, existing };
  }
  const isLimited = !isForStreams(wanted);
  if (isLimited && clients.length >= consumersMax(context, entry)) return ApiErrors.maximumConsumersLimit;
  const isStored = entry.stream.config.storage === 'file' && !wanted.memStorage && !wanted.direct;
  if (isStored && !canStore(jetstream)) return ApiErrors.storageResourcesExceeded;
  const taken = isWorkQueue ? checkNewWorkQueueConsumer(wanted, others) : null;
  if (taken !== null) return taken;
  const name = wanted.name === '' ? generatedName(context, entry) : wanted.name;
  const config = newConsumerConfig(wanted, name);
  return isApiError(config) ? config : { entry, config, existing: null };
}

/** Whether the consumer would deliver to another subject while somebody listens to the present one. */
function movesFromListeners({ stream }: StreamEntry, current: ConsumerConfig, wanted: ConsumerConfig): boolean {
  if (current.deliverSubject === wanted.deliverSubject || wanted.sourcing) return false;
  return stream.account.hasInterest(Buffer.from(current.deliverSubject, 'latin1'));
}

function generatedName(context: ApiContext, { consumers }: StreamEntry): string {
  for (;;) {
    const name = randomName(context);
    if (!consumers.has(name)) return name;
  }
}

function randomName({ jetstream }: ApiContext): string {
  return base62(jetstream.io.random.bytes(GENERATED_NAME_LENGTH));
}

/** The consumer that the subject names; refuses the request and answers `null` when there is none. */
function consumerOf(context: ApiContext, request: ApiRequest, type: string): Consumer | null {
  const entry = streamOf(context, request, request.tokens[STREAM], type);
  if (entry === null) return null;
  const consumer = entry.consumers.get(request.tokens[CONSUMER] ?? '');
  if (consumer !== undefined) return consumer;
  request.refuse(type, ApiErrors.consumerNotFound);
  return null;
}

const describeConsumer: ApiHandler = (context, request) => {
  if (!isEmptyBody(request.body)) {
    request.refuse(INFO, ApiErrors.notEmptyRequest);
    return;
  }
  const consumer = consumerOf(context, request, INFO);
  if (consumer === null) return;
  whenCounted([consumer], () => request.respond(INFO, consumerInfo(consumer, 'full')));
};

const deleteConsumer: ApiHandler = (context, request) => {
  if (!isEmptyBody(request.body)) {
    request.refuse(DELETE, ApiErrors.notEmptyRequest);
    return;
  }
  const consumer = consumerOf(context, request, DELETE);
  if (consumer === null) return;
  context.jetstream.deleteConsumer(consumer, () => request.respond(DELETE, { success: true }));
};

const nameConsumers: ApiHandler = (context, request) => {
  const page = consumerPage(context, request, NAMES, NAMES_LIMIT);
  if (page === null) return;
  const { consumers, ...rest } = page;
  request.respond(NAMES, { ...rest, consumers: consumers.map((consumer) => consumer.name) });
};

const listConsumers: ApiHandler = (context, request) => {
  const page = consumerPage(context, request, LIST, LIST_LIMIT);
  if (page === null) return;
  const { consumers, ...rest } = page;
  whenCounted(consumers, () => {
    request.respond(LIST, { ...rest, consumers: consumers.map((consumer) => consumerInfo(consumer, 'list')) });
  });
};

interface Page {
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
  readonly consumers: readonly Consumer[];
}

/** The part of a stream's consumers that the request asks for; `null` when it was refused. */
function consumerPage(context: ApiContext, request: ApiRequest, type: string, limit: number): Page | null {
  const nothing = { ...NO_PAGE, consumers: [] };
  const body = readOptions(request.body, consumersBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(type, body, nothing);
    return null;
  }
  const entry = streamOf(context, request, request.tokens[STREAM], type, nothing);
  if (entry === null) return null;
  const shown = [...entry.consumers.values()].filter(({ config }) => !config.direct);
  const all = shown.sort((a, b) => (a.name < b.name ? -1 : 1));
  const offset = Math.min(body.paged.offset, all.length);
  return { total: all.length, offset, limit, consumers: all.slice(offset, offset + limit) };
}

export const consumerHandlers: readonly ApiEntry[] = [
  ['CONSUMER.CREATE.*', createConsumer],
  ['CONSUMER.CREATE.*.>', createConsumer],
  ['CONSUMER.DURABLE.CREATE.*.*', createConsumer],
  ['CONSUMER.INFO.*.*', describeConsumer],
  ['CONSUMER.DELETE.*.*', deleteConsumer],
  ['CONSUMER.NAMES.*', nameConsumers],
  ['CONSUMER.LIST.*', listConsumers],
];
