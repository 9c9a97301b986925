/**
 * What a consumer's configuration must hold to, and what it gets for what was left out: nats-server's checks in
 * nats-server's order, since a request that breaks several rules is answered by the first.
 *
 * Pedantic requests are refused (10157) where the server would have to change what was asked for. Rules about fields
 * that petiole doesn't have yet come with these fields; those that forbid them to pull consumers are here.
 */

import {
  DESCRIPTION_BYTES_MAX,
  isAssetName,
  METADATA_BYTES_MAX,
  metadataBytes,
  NAME_BYTES_MAX,
} from '../../server/protocol/asset-metadata.ts';
import { formatDuration } from '../../server/config/duration.ts';
import { millisecondsOf, type Nanoseconds, NS_PER_SECOND } from '../../server/protocol/nanoseconds.ts';
import { isValidSubject } from '../../server/subject/subject.ts';
import { SubjectCollisions } from '../../server/subject/subject-collisions.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig, DeliverPolicy } from './consumer-config-fields.ts';
import { unsupportedConsumerField } from './consumer-config-support.ts';
import { checkFlowAcknowledged, completeFlowAcknowledged } from './flow-acknowledged-rules.ts';
import { filtersOf } from './subject-filter.ts';
import { checkPriority, PRIORITY_TIMEOUT_DEFAULT_NS } from './priority-config-rules.ts';
import { checkPush, checkSamplingAndFlow } from './push-config-rules.ts';

/** What the server allows, or the account where that is less; 0 sets no limit. */
export interface ConsumerLimits {
  readonly maxAckPending: number;
  readonly maxRequestBatch: number;
}

/** What matters of the stream. */
export interface StreamFacts {
  readonly retention: 'limits' | 'interest' | 'workqueue';
  readonly numReplicas: number;
  readonly subjects: readonly string[];
  /** What the stream allows its consumers, and gives those that don't say; 0 sets no limit. */
  readonly consumerLimits: { readonly maxAckPending: number; readonly inactiveThresholdNs: Nanoseconds };
}

const NS_PER_MS = 1_000_000;
const ACK_WAIT_DEFAULT_NS: number = 30 * NS_PER_SECOND;
const INACTIVE_THRESHOLD_DEFAULT_NS: number = 5 * NS_PER_SECOND;
const MAX_WAITING_DEFAULT = 512;
const MAX_ACK_PENDING_DEFAULT = 1000;

type Draft = { -readonly [Key in keyof ConsumerConfig]: ConsumerConfig[Key] };

/**
 * What `config` asks for, checked, and filled in where something was left out: what comes before `newConsumerConfig`
 * and before `updateConsumerConfig`. Errors: 10052, 10157 and those of the fields.
 */
export function completeConsumerConfig(
  config: ConsumerConfig,
  stream: StreamFacts,
  limits: ConsumerLimits,
  isPedantic: boolean,
): ConsumerConfig | ApiError {
  const draft: Draft = { ...config };
  return (
    completeNegatives(draft, isPedantic) ??
    completeWaits(draft, isPedantic) ??
    completeFromStream(draft, stream, isPedantic) ??
    completeDefaults(draft, limits, isPedantic) ??
    completeFlowAcknowledged(draft, isPedantic) ??
    checkNames(draft) ??
    checkReplicas(draft, stream) ??
    checkWaits(draft) ??
    checkPush(draft, stream.subjects) ??
    checkPull(draft, stream, limits) ??
    checkLimits(draft, stream, limits) ??
    checkDirect(draft) ??
    checkFilters(draft) ??
    checkStart(draft) ??
    checkSamplingAndFlow(draft) ??
    checkEnds(draft) ??
    checkPriority(draft) ??
    draft
  );
}

/** What a new consumer gets in the end; `config` is complete, `name` its name now. Errors: 10102, 10012. */
export function newConsumerConfig(config: ConsumerConfig, name: string): ConsumerConfig | ApiError {
  if (name.length > NAME_BYTES_MAX) return ApiErrors.consumerNameTooLong(NAME_BYTES_MAX);
  const named = { ...config, name };
  return unsupportedConsumerField(named) ?? (config.durableName === '' ? withInactiveThreshold(named) : named);
}

/** What an ephemeral consumer has: it always ends when nobody has used it for a while. */
export function withInactiveThreshold(config: ConsumerConfig): ConsumerConfig {
  return config.inactiveThresholdNs > 0 ? config : { ...config, inactiveThresholdNs: INACTIVE_THRESHOLD_DEFAULT_NS };
}

const NOT_NEGATIVE = [
  ['max_batch', 'maxRequestBatch'],
  ['max_expires', 'maxRequestExpiresNs'],
  ['max_bytes', 'maxRequestMaxBytes'],
  ['idle_heartbeat', 'idleHeartbeatNs'],
  ['inactive_threshold', 'inactiveThresholdNs'],
  ['priority_timeout', 'priorityTimeoutNs'],
] as const;

/** What is less than nothing becomes what says "no limit" of this field. */
function completeNegatives(draft: Draft, isPedantic: boolean): ApiError | null {
  if (isPedantic && draft.maxDeliver < -1) return ApiErrors.pedantic('max_deliver must be set to -1');
  if (draft.maxDeliver <= 0) draft.maxDeliver = -1;
  if (isPedantic && draft.maxWaiting < 0) return ApiErrors.pedantic('max_waiting must not be negative');
  if (draft.maxWaiting < 0) draft.maxWaiting = 0;
  if (isPedantic && draft.maxAckPending < -1) return ApiErrors.pedantic('max_ack_pending must be set to -1');
  if (draft.maxAckPending < -1) draft.maxAckPending = -1;
  for (const [json, key] of NOT_NEGATIVE) {
    if (draft[key] >= 0) continue;
    if (isPedantic) return ApiErrors.pedantic(`${json} must not be negative`);
    Object.assign(draft, { [key]: 0 });
  }
  return null;
}

function completeWaits(draft: Draft, isPedantic: boolean): ApiError | null {
  const awaitsAcks = draft.ackPolicy === 'explicit' || draft.ackPolicy === 'all';
  if (draft.deliverSubject === '' && draft.maxWaiting === 0) draft.maxWaiting = MAX_WAITING_DEFAULT;
  if (draft.ackWaitNs === 0 && awaitsAcks) draft.ackWaitNs = ACK_WAIT_DEFAULT_NS;
  const [first] = draft.backoffNs ?? [];
  if (first === undefined) return null;
  if (isPedantic && draft.ackWaitNs !== first) {
    return ApiErrors.pedantic('first backoff value has to equal batch AckWait');
  }
  draft.ackWaitNs = first;
  return null;
}

function completeFromStream(draft: Draft, { consumerLimits }: StreamFacts, isPedantic: boolean): ApiError | null {
  const mustSay = (field: string): ApiError =>
    ApiErrors.pedantic(`${field} must be set if it's configured in stream limits`);
  if (draft.maxAckPending === 0) {
    if (isPedantic && consumerLimits.maxAckPending > 0) return mustSay('max_ack_pending');
    draft.maxAckPending = consumerLimits.maxAckPending;
  }
  if (draft.inactiveThresholdNs === 0) {
    if (isPedantic && consumerLimits.inactiveThresholdNs > 0) return mustSay('inactive_threshold');
    draft.inactiveThresholdNs = consumerLimits.inactiveThresholdNs;
  }
  return null;
}

function completeDefaults(draft: Draft, limits: ConsumerLimits, isPedantic: boolean): ApiError | null {
  if (draft.maxAckPending === 0 && draft.ackPolicy !== 'none') {
    draft.maxAckPending = Math.min(MAX_ACK_PENDING_DEFAULT, limits.maxAckPending || MAX_ACK_PENDING_DEFAULT);
  }
  if (draft.deliverSubject === '' && draft.maxRequestBatch === 0 && limits.maxRequestBatch > 0) {
    if (isPedantic) return ApiErrors.pedantic("max_request_batch must be set if it's JetStream limits are set");
    draft.maxRequestBatch = limits.maxRequestBatch;
  }
  const isPinning = draft.priorityPolicy === 'pinned_client';
  if (isPinning && draft.priorityTimeoutNs === 0) draft.priorityTimeoutNs = PRIORITY_TIMEOUT_DEFAULT_NS;
  return null;
}

function checkNames({ name, durableName }: Draft): ApiError | null {
  const invalid = (what: string): ApiError =>
    ApiErrors.streamInvalidConfig(String.raw`${what} can not contain '.', '*', '>', '\', '/'`);
  if (name !== '' && !isAssetName(name)) return invalid('consumer name');
  return durableName !== '' && !isAssetName(durableName) ? invalid('consumer durable name') : null;
}

function checkReplicas({ numReplicas }: Draft, stream: StreamFacts): ApiError | null {
  if (numReplicas > stream.numReplicas) return ApiErrors.consumerReplicasExceedsStream;
  if (numReplicas < 0) return ApiErrors.replicasCountCannotBeNegative;
  const mustMatch = stream.retention !== 'limits' && numReplicas !== 0;
  return mustMatch && numReplicas !== stream.numReplicas ? ApiErrors.consumerReplicasShouldMatchStream : null;
}

function checkWaits(draft: Draft): ApiError | null {
  const { ackWaitNs, backoffNs, maxDeliver, description } = draft;
  const backoff = backoffNs ?? [];
  if (backoff.some((wait) => wait < 0)) return ApiErrors.consumerBackOffNegative;
  if (ackWaitNs < 0) return ApiErrors.consumerAckWaitNegative;
  const flowError = checkFlowAcknowledged(draft);
  if (flowError !== null) return flowError;
  if (maxDeliver !== -1 && backoff.length > maxDeliver) return ApiErrors.consumerMaxDeliverBackoff;
  return description.length > DESCRIPTION_BYTES_MAX
    ? ApiErrors.consumerDescriptionTooLong(DESCRIPTION_BYTES_MAX)
    : null;
}

/** What consumers that are asked for messages can not have. */
function checkPull(draft: Draft, stream: StreamFacts, limits: ConsumerLimits): ApiError | null {
  if (draft.deliverSubject !== '') return null;
  if (draft.ackPolicy === 'none' && stream.retention === 'workqueue') return ApiErrors.consumerPullRequiresAck;
  if (draft.rateLimitBps > 0) return ApiErrors.consumerPullWithRateLimit;
  if (draft.idleHeartbeatNs > 0) return ApiErrors.consumerHeartbeatRequiresPush;
  if (draft.flowControl) return ApiErrors.consumerFlowControlRequiresPush;
  const { maxRequestBatch, maxRequestExpiresNs } = draft;
  if (maxRequestExpiresNs !== 0 && maxRequestExpiresNs < NS_PER_MS) return ApiErrors.consumerMaxRequestExpiresTooSmall;
  if (limits.maxRequestBatch === 0 || maxRequestBatch <= limits.maxRequestBatch) return null;
  return ApiErrors.consumerMaxRequestBatchExceeded(limits.maxRequestBatch);
}

function checkLimits(draft: Draft, { consumerLimits }: StreamFacts, limits: ConsumerLimits): ApiError | null {
  const { maxAckPending, inactiveThresholdNs } = draft;
  for (const limit of [limits.maxAckPending, consumerLimits.maxAckPending]) {
    if (limit > 0 && maxAckPending > limit) return ApiErrors.consumerMaxPendingAckExcess(limit);
  }
  const longest = consumerLimits.inactiveThresholdNs;
  if (longest <= 0 || inactiveThresholdNs <= longest) return null;
  return ApiErrors.consumerInactiveThresholdExcess(formatDuration(millisecondsOf(longest)));
}

function checkDirect({ direct, deliverSubject, durableName }: Draft): ApiError | null {
  if (!direct) return null;
  if (deliverSubject === '') return ApiErrors.consumerDirectRequiresPush;
  return durableName === '' ? null : ApiErrors.consumerDirectRequiresEphemeral;
}

function checkFilters(draft: Draft): ApiError | null {
  const { filterSubject, filterSubjects } = draft;
  const invalid = ApiErrors.streamInvalidConfig('invalid subject');
  if (filterSubject !== '' && (filterSubjects ?? []).length > 0) return ApiErrors.consumerDuplicateFilterSubjects;
  if (filterSubject !== '' && !isValidSubject(filterSubject)) return invalid;
  if ((filterSubjects ?? []).includes('')) return ApiErrors.consumerEmptyFilter;
  const filters = filtersOf(draft);
  const firstInvalid = filters.findIndex((filter) => !isValidSubject(filter));
  const firstCovered = firstCoveredFilter(filters);
  if (firstCovered >= 0 && (firstInvalid < 0 || firstCovered < firstInvalid)) {
    return ApiErrors.consumerOverlappingSubjectFilters;
  }
  return firstInvalid < 0 ? null : invalid;
}

/** Where the first filter stands that another one covers; -1: none does. */
function firstCoveredFilter(filters: readonly string[]): number {
  if (filters.length < 2) return -1;
  const earlier = new SubjectCollisions();
  const later = new SubjectCollisions();
  let first = filters.length;
  for (const [at, filter] of filters.entries()) {
    if (at < first && earlier.covers(filter)) first = at;
    earlier.add(filter);
  }
  for (let at = filters.length - 1; at >= 0; at--) {
    const filter = filters[at] as string;
    if (at < first && later.covers(filter)) first = at;
    later.add(filter);
  }
  return first < filters.length ? first : -1;
}

/** How messages name a policy, and where by it a consumer starts. */
const START: Readonly<Record<DeliverPolicy, readonly [string, 'sequence' | 'time' | null]>> = {
  all: ['all', null],
  last: ['last', null],
  new: ['new', null],
  by_start_sequence: ['by start sequence', 'sequence'],
  by_start_time: ['by start time', 'time'],
  last_per_subject: ['last per subject', null],
};

function checkStart(draft: Draft): ApiError | null {
  const { deliverPolicy, optStartSeq, optStartTime } = draft;
  const [policy, start] = START[deliverPolicy];
  const wrong = (what: string): ApiError =>
    ApiErrors.consumerInvalidPolicy(`consumer delivery policy is deliver ${policy}, but optional ${what}`);
  if (start === 'sequence' && optStartSeq === 0) return wrong('start sequence is not set');
  if (start === 'time' && optStartTime === null) return wrong('start time is not set');
  if (start === 'time' && optStartSeq !== 0) return wrong('start start sequence is also set');
  if (start === null && optStartSeq !== 0) return wrong('start sequence is also set');
  if (start !== 'time' && optStartTime !== null) return wrong('start time is also set');
  const needsFilter = deliverPolicy === 'last_per_subject' && filtersOf(draft).length === 0;
  return needsFilter ? wrong('filter subject is not set') : null;
}

function checkEnds({ durableName, name, metadata }: Draft): ApiError | null {
  if (durableName !== '' && name !== '' && name !== durableName) return ApiErrors.consumerCreateDurableAndNameMismatch;
  if (metadataBytes(metadata) <= METADATA_BYTES_MAX) return null;
  return ApiErrors.consumerMetadataLength(`${METADATA_BYTES_MAX / 1024}KB`);
}
