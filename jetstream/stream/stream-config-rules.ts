/**
 * What a stream's configuration must hold to, and what it gets for what was left out: nats-server's checks in
 * nats-server's order, since a request that breaks several rules is answered by the first.
 *
 * Pedantic requests are refused (10157) where the server would have to change what was asked for; filling in what was
 * not mentioned is no change. Rules about fields that petiole doesn't have yet come with these fields.
 */

import {
  DESCRIPTION_BYTES_MAX,
  isAssetName,
  METADATA_BYTES_MAX,
  metadataBytes,
  NAME_BYTES_MAX,
} from '../../server/protocol/asset-metadata.ts';
import { formatDuration } from '../../server/config/duration.ts';
import { bytesOfText, quotedBytes } from '../../server/protocol/go-json-reader.ts';
import { isSubsetMatch, isValidSubject, subjectsCollide } from '../../server/subject/subject.ts';
import { SubjectCollisions } from '../../server/subject/subject-collisions.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import { completeFeatures } from './stream-config-features.ts';
import type { StreamConfig } from './stream-config-fields.ts';
import { checkOriginFilters, completeOrigins, type StreamLookup } from './stream-config-origins.ts';
import { placementType } from './stream-config-parts.ts';
import { checkSubjectTransform, completeRepublish } from './stream-config-subjects.ts';
import { unsupportedStreamField } from './stream-config-support.ts';

/** What a stream may take from the server and from its account; 0 sets no limit. */
export interface StreamLimits {
  readonly duplicateWindowMs: number;
  readonly isMaxBytesRequired: boolean;
  readonly memoryStreamBytesMax: number;
  readonly fileStreamBytesMax: number;
  /** The streams that are there. */
  readonly streamNamed: StreamLookup;
}

export const NO_STREAM_LIMITS: StreamLimits = {
  duplicateWindowMs: 0,
  isMaxBytesRequired: false,
  memoryStreamBytesMax: 0,
  fileStreamBytesMax: 0,
  streamNamed: () => null,
};

const REPLICAS_MAX = 5;
const NS_PER_MS = 1_000_000;
const SHORTEST_NS = 100 * NS_PER_MS;
const DUPLICATE_WINDOW_DEFAULT_NS = 120_000 * NS_PER_MS;

const invalid = ApiErrors.streamInvalidConfig;

/** What STREAM.CREATE looks at first. Errors: 10056, 10128, 10052. */
export function checkStreamCreate(config: StreamConfig, nameInSubject: string): ApiError | null {
  if (config.name !== nameInSubject) return ApiErrors.streamMismatch;
  if (/[\\/]/.test(config.name)) return ApiErrors.streamNameContainsPathSeparators;
  if (config.sealed) return invalid('stream configuration for create can not be sealed');
  const isMirror = config.mirror !== null;
  return config.mirrorDirect && !isMirror ? invalid('stream has no mirror but does have mirror direct') : null;
}

/** The configuration of a new stream. Errors: those of `completeStreamConfig`, then 10074, 10052, 10049. */
export function createStreamConfig(
  config: StreamConfig,
  limits: StreamLimits,
  isPedantic: boolean,
): StreamConfig | ApiError {
  const complete = completeStreamConfig(config, limits, isPedantic);
  if (isApiError(complete)) return complete;
  if (complete.numReplicas > 1) return ApiErrors.streamReplicasNotSupported;
  return unsupportedStreamField(complete) ?? checkOriginFilters(complete) ?? complete;
}

/**
 * What `config` asks for, checked, and filled in where something was left out: the first half of a stream's creation,
 * and of an update before `updateStreamConfig`. Errors: 10052, 10133, 10157, 10113, 10122.
 */
export function completeStreamConfig(
  config: StreamConfig,
  limits: StreamLimits,
  isPedantic: boolean,
): StreamConfig | ApiError {
  const draft: Draft = { ...config };
  return (
    checkTexts(draft) ??
    completeReplicas(draft) ??
    completeSizes(draft, isPedantic) ??
    checkMaxAge(draft) ??
    completeDuplicateWindow(draft, limits, isPedantic) ??
    completeFeatures(draft, isPedantic) ??
    completeOrigins(draft, limits.streamNamed, isPedantic) ??
    completeSubjects(draft) ??
    checkMaxBytes(draft, limits) ??
    checkSubjectTransform(draft) ??
    completeRepublish(draft, isPedantic) ??
    completePlacement(draft) ??
    draft
  );
}

type Draft = { -readonly [Key in keyof StreamConfig]: StreamConfig[Key] };

function checkTexts({ name, description, metadata }: Draft): ApiError | null {
  if (!isAssetName(name)) {
    return invalid(String.raw`stream name is required and can not contain '.', '*', '>', '\', '/'`);
  }
  if (name.length > NAME_BYTES_MAX) return invalid(`stream name is too long, maximum allowed is ${NAME_BYTES_MAX}`);
  if (description.length > DESCRIPTION_BYTES_MAX) {
    return invalid(`stream description is too long, maximum allowed is ${DESCRIPTION_BYTES_MAX}`);
  }
  if (metadataBytes(metadata) <= METADATA_BYTES_MAX) return null;
  return invalid(`stream metadata exceeds maximum size of ${METADATA_BYTES_MAX} bytes`);
}

function completeReplicas(draft: Draft): ApiError | null {
  if (draft.numReplicas === 0) draft.numReplicas = 1;
  if (draft.numReplicas > REPLICAS_MAX) return invalid(`maximum replicas is ${REPLICAS_MAX}`);
  return draft.numReplicas < 0 ? ApiErrors.replicasCountCannotBeNegative : null;
}

const SIZES = [
  ['max_msgs', 'maxMsgs'],
  ['max_msgs_per_subject', 'maxMsgsPerSubject'],
  ['max_bytes', 'maxBytes'],
  ['max_msg_size', 'maxMsgSize'],
  ['max_consumers', 'maxConsumers'],
] as const;

/** 0 and everything below is no limit, which is spelled -1. */
function completeSizes(draft: Draft, isPedantic: boolean): ApiError | null {
  for (const [json, key] of SIZES) {
    if (isPedantic && draft[key] < -1) return ApiErrors.pedantic(`${json} must be set to -1`);
    if (draft[key] <= 0) draft[key] = -1;
  }
  return null;
}

function checkMaxAge({ maxAgeNs }: Draft): ApiError | null {
  if (maxAgeNs < 0) return invalid('max age can not be negative');
  return maxAgeNs !== 0 && maxAgeNs < SHORTEST_NS ? invalid('max age needs to be >= 100ms') : null;
}

function completeDuplicateWindow(draft: Draft, limits: StreamLimits, isPedantic: boolean): ApiError | null {
  const maxNs = limits.duplicateWindowMs * NS_PER_MS;
  const isFed = draft.mirror !== null || (draft.sources ?? []).length > 0;
  if (draft.duplicateWindowNs === 0 && !isFed) {
    const isLimited = maxNs > 0 && maxNs < DUPLICATE_WINDOW_DEFAULT_NS;
    if (isLimited && isPedantic) return ApiErrors.pedantic('duplicate window limits are higher than current limits');
    const windowNs = isLimited ? maxNs : DUPLICATE_WINDOW_DEFAULT_NS;
    const isAgedOut = draft.maxAgeNs !== 0 && draft.maxAgeNs < windowNs;
    if (isAgedOut && isPedantic) return ApiErrors.pedantic('duplicate window cannot be bigger than max age');
    draft.duplicateWindowNs = isAgedOut ? draft.maxAgeNs : windowNs;
  }
  const windowNs = draft.duplicateWindowNs;
  if (windowNs < 0) return invalid('duplicates window can not be negative');
  if (draft.maxAgeNs !== 0 && windowNs > draft.maxAgeNs) {
    return invalid('duplicates window can not be larger then max age');
  }
  if (maxNs > 0 && windowNs > maxNs) {
    const limit = bytesOfText(formatDuration(limits.duplicateWindowMs));
    return invalid(`duplicates window can not be larger then server limit of ${limit}`);
  }
  return windowNs > 0 && windowNs < SHORTEST_NS ? invalid('duplicates window needs to be >= 100ms') : null;
}

/** A stream that nothing feeds listens to its own name. */
function completeSubjects(draft: Draft): ApiError | null {
  if (draft.subjects.length > 0) return checkSubjects(draft);
  const isFed = draft.mirror !== null || (draft.sources ?? []).length > 0;
  if (!isFed) draft.subjects = [draft.name];
  return null;
}

function checkSubjects({ subjects, noAck, numReplicas }: Draft): ApiError | null {
  const seen = new Set<string>();
  const overlapping = firstOverlapping(subjects);
  for (const [at, subject] of subjects.entries()) {
    if (!isValidSubject(subject)) return invalid('invalid subject');
    if (seen.has(subject)) return invalid('duplicate subjects detected');
    if (subject === '>' && !noAck) return invalid('capturing all subjects requires no-ack to be true');
    if (subject === '>' && numReplicas !== 1) return invalid('capturing all subjects requires replicas of 1');
    const reserved = noAck ? null : checkReserved(subject);
    if (reserved !== null) return reserved;
    if (at === overlapping) {
      const other = subjects.slice(at + 1).find((later) => subjectsCollide(later, subject)) ?? '';
      return invalid(`subject ${quotedBytes(subject)} overlaps with ${quotedBytes(other)}`);
    }
    seen.add(subject);
  }
  return null;
}

/** Where the first subject stands that overlaps with a later one; -1: none does. */
function firstOverlapping(subjects: readonly string[]): number {
  const later = new SubjectCollisions();
  let first = -1;
  for (let at = subjects.length - 1; at >= 0; at--) {
    const subject = subjects[at] as string;
    if (!isValidSubject(subject)) continue;
    if (later.collides(subject)) first = at;
    later.add(subject);
  }
  return first;
}

const API_SUBJECTS = ['$JS.>', '$JSC.>', '$NRG.>'];
const RESERVED_STARTS = '$*>';

/** A stream that acknowledges must not answer what is addressed to the server itself. */
function checkReserved(subject: string): ApiError | null {
  // There may be tens of thousands, and hardly any begin like these.
  if (!RESERVED_STARTS.includes(subject[0] ?? '')) return null;
  if (API_SUBJECTS.some((api) => subjectsCollide(subject, api)) && !isSubsetMatch(subject, '$JS.EVENT.>')) {
    return invalid('subjects that overlap with jetstream api require no-ack to be true');
  }
  if (subjectsCollide(subject, '$SYS.>') && !isSubsetMatch(subject, '$SYS.ACCOUNT.>')) {
    return invalid('subjects that overlap with system api require no-ack to be true');
  }
  return null;
}

function checkMaxBytes({ maxBytes, storage }: Draft, limits: StreamLimits): ApiError | null {
  if (limits.isMaxBytesRequired && maxBytes <= 0) return ApiErrors.streamMaxBytesRequired;
  const limit = storage === 'memory' ? limits.memoryStreamBytesMax : limits.fileStreamBytesMax;
  return limit > 0 && maxBytes > limit ? ApiErrors.streamMaxStreamBytesExceeded : null;
}

/** A placement that says nothing is none. */
function completePlacement(draft: Draft): ApiError | null {
  if (draft.placement !== null && placementType.isEmpty(draft.placement)) draft.placement = null;
  const isPreferring = draft.placement !== null && draft.placement.preferred !== '';
  return isPreferring ? invalid('preferred server not permitted in placement') : null;
}
