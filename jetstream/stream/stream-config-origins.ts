/**
 * What a stream's configuration says about the streams that it gets its messages from, as a mirror of one or from several
 * sources: nats-server's checks in nats-server's order. An origin need not be there; if it is, and in this account, its
 * configuration counts.
 */

import { isAssetName } from '../../server/protocol/asset-metadata.ts';
import { quotedBytes } from '../../server/protocol/go-json-reader.ts';
import {
  isLiteral,
  isSubsetMatch,
  isValidPublishSubject,
  isValidSubject,
  subjectsCollide,
} from '../../server/subject/subject.ts';
import { validateTransform } from '../../server/subject/transform.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { sourceConsumerName, sourceIndexName } from './source-name.ts';
import type { StreamConfig } from './stream-config-fields.ts';
import type { StreamSource, SubjectTransform } from './stream-config-parts.ts';

type Draft = { -readonly [Key in keyof StreamConfig]: StreamConfig[Key] };

/** The configuration of another stream of the account; `null`: there is none by that name. */
export type StreamLookup = (name: string) => StreamConfig | null;

const API_PREFIX = '$JS.API';

const invalid = ApiErrors.streamInvalidConfig;

/** Errors: 10143, 10034, … of mirrors, 10187, 10141, … of sources, 10024, 10022, 10021, and 10052 for cycles. */
export function completeOrigins(draft: Draft, streamNamed: StreamLookup, isPedantic: boolean): ApiError | null {
  return (
    checkMirror(draft) ??
    completeMirror(draft, streamNamed, isPedantic) ??
    checkSources(draft, streamNamed) ??
    checkPrefixes(draft, streamNamed) ??
    checkCycles(draft, streamNamed)
  );
}

/** What a mirror, which takes messages from one other stream alone, can not have. */
function checkMirror(config: Draft): ApiError | null {
  const { mirror } = config;
  if (mirror === null) return null;
  if (config.firstSeq > 0) return ApiErrors.mirrorWithFirstSequence;
  if (config.subjects.length > 0) return ApiErrors.mirrorWithSubjects;
  if ((config.sources ?? []).length > 0) return ApiErrors.mirrorWithSources;
  if (config.allowMsgCounter) return ApiErrors.mirrorWithCounters;
  if (config.allowAtomic) return ApiErrors.mirrorWithAtomicPublish;
  if (config.allowBatched) return ApiErrors.mirrorWithBatchPublish;
  if (config.allowMsgSchedules) return ApiErrors.mirrorWithMessageSchedules;
  if (!isConsumerFit(mirror)) return ApiErrors.mirrorDurableConsumerConfigInvalid;
  if (hasBothFilters(mirror)) return ApiErrors.mirrorMultipleFiltersNotAllowed;
  return config.subjectDeleteMarkerTtlNs > 0 ? invalid('subject delete markers forbidden on mirrors') : null;
}

function completeMirror(draft: Draft, streamNamed: StreamLookup, isPedantic: boolean): ApiError | null {
  const { mirror } = draft;
  if (mirror === null) return null;
  const error = checkMirrorTransforms(mirror.subjectTransforms ?? []);
  if (error !== null || mirror.external !== null) return error;
  if (!isAssetName(mirror.name)) return ApiErrors.mirrorInvalidStreamName;
  const origin = streamNamed(mirror.name);
  if (origin === null) return null;
  if (isTooSmall(draft, origin)) return ApiErrors.mirrorMaxMessageSizeTooBig;
  if (isPedantic && draft.mirrorDirect !== origin.allowDirect) {
    return ApiErrors.pedantic('origin stream has direct get set, mirror has it disabled');
  }
  draft.mirrorDirect = origin.allowDirect;
  return null;
}

function checkMirrorTransforms(transforms: readonly SubjectTransform[]): ApiError | null {
  for (const [at, { source, destination }] of transforms.entries()) {
    if (!isFilter(source)) return ApiErrors.mirrorInvalidSubjectFilter(`invalid subject ${source}`);
    const error = validateTransform(source, destination);
    if (error !== null) return ApiErrors.mirrorInvalidTransformDestination(error.message);
    const isShared = transforms.some((other, otherAt) => otherAt !== at && subjectsCollide(source, other.source));
    if (isShared) return ApiErrors.mirrorOverlappingSubjectFilters;
  }
  return null;
}

function checkSources(draft: Draft, streamNamed: StreamLookup): ApiError | null {
  const sources = draft.sources ?? [];
  if (sources.length > 0 && draft.allowMsgSchedules) return ApiErrors.sourceWithMessageSchedules;
  const names = new Set<string>();
  const consumers = new Set<string>();
  for (const source of sources) {
    if (source === null || !isAssetName(source.name)) return ApiErrors.sourceInvalidStreamName;
    const name = sourceIndexName(source);
    if (names.has(name)) return ApiErrors.sourceDuplicateDetected;
    names.add(name);
    const error = checkSource(source, consumers);
    if (error !== null) return error;
    const origin = source.external === null ? streamNamed(source.name) : null;
    if (origin !== null && isTooSmall(draft, origin)) return ApiErrors.sourceMaxMessageSizeTooBig;
  }
  return null;
}

function checkSource(source: StreamSource, consumers: Set<string>): ApiError | null {
  if (hasBothFilters(source)) return ApiErrors.sourceMultipleFiltersNotAllowed;
  const transforms = source.subjectTransforms ?? [];
  for (const { source: filter, destination } of transforms) {
    if (!isFilter(filter)) return ApiErrors.sourceInvalidSubjectFilter(`invalid subject ${filter}`);
    const error = validateTransform(filter, destination);
    if (error !== null) return ApiErrors.sourceInvalidTransformDestination(error.message);
  }
  const isCovered = transforms.some((one, at) =>
    transforms.some((other, otherAt) => otherAt !== at && isSubsetMatch(one.source, other.source)),
  );
  if (isCovered) return ApiErrors.sourceOverlappingSubjectFilters;
  if (source.consumer === null) return null;
  if (!isConsumerFit(source)) return ApiErrors.sourceDurableConsumerConfigInvalid;
  const consumer = sourceConsumerName(source);
  if (consumers.has(consumer)) return ApiErrors.sourceDurableConsumerDuplicateDetected;
  consumers.add(consumer);
  return null;
}

/** A consumer that somebody made knows by itself where to begin, and what to leave out. */
function isConsumerFit({ consumer, optStartSeq, optStartTime, filterSubject }: StreamSource): boolean {
  if (consumer === null) return true;
  const { name, deliverSubject } = consumer;
  if (!isAssetName(name) || !isLiteral(deliverSubject) || !isValidSubject(deliverSubject)) return false;
  return optStartSeq === 0 && optStartTime === null && filterSubject === '';
}

function hasBothFilters({ filterSubject, subjectTransforms }: StreamSource): boolean {
  return filterSubject !== '' && (subjectTransforms ?? []).length > 0;
}

/** What is looked at only when the stream is made. Errors: 10049. */
export function checkOriginFilters({ mirror, sources }: StreamConfig): ApiError | null {
  if (mirror !== null && !isFilter(mirror.filterSubject)) {
    return ApiErrors.streamCreateFailed(`subject filter '${mirror.filterSubject}' for the mirror invalid subject`);
  }
  for (const source of sources ?? []) {
    if (source === null || isFilter(source.filterSubject)) continue;
    return ApiErrors.streamCreateFailed(`subject filter '${source.filterSubject}' for the source: invalid subject`);
  }
  return null;
}

function isFilter(subject: string): boolean {
  return subject === '' || isValidSubject(subject);
}

/** Whether what the origin takes may be too large for the stream. */
function isTooSmall({ maxMsgSize }: Draft, origin: StreamConfig): boolean {
  return maxMsgSize > 0 && origin.maxMsgSize > 0 && maxMsgSize < origin.maxMsgSize;
}

// ── origins of other accounts and domains ──────────────────────────────────────────────────────────────────────────

function checkPrefixes(draft: Draft, streamNamed: StreamLookup): ApiError | null {
  const origins = originsOf(draft);
  const externals = origins.flatMap(({ external }) => (external === null ? [] : [external]));
  const subjects = origins
    .filter(({ external }) => external === null)
    .flatMap(({ name }) => streamNamed(name)?.subjects ?? []);
  for (const { deliverPrefix: prefix } of externals) {
    if (prefix === '') continue;
    if (!isValidPublishSubject(prefix)) return ApiErrors.streamInvalidExternalDeliverySubject(prefix);
    const overlapping = subjects.find((subject) => subjectsCollide(subject, `${prefix}.${subject}`));
    if (overlapping !== undefined) return ApiErrors.streamExternalDeliveryPrefixOverlaps(prefix, overlapping);
  }
  for (const { apiPrefix: prefix } of externals) {
    if (prefix === '') continue;
    if (!isValidPublishSubject(prefix)) {
      return invalid(`stream external api prefix ${quotedBytes(prefix)} must be a valid subject without wildcards`);
    }
    if (subjectsCollide(prefix, API_PREFIX)) return ApiErrors.streamExternalApiOverlap(prefix, API_PREFIX);
  }
  return null;
}

function originsOf({ mirror, sources }: StreamConfig): readonly StreamSource[] {
  return mirror === null ? (sources ?? []).filter((source) => source !== null) : [mirror];
}

/** Streams of the account that would feed each other in a circle. */
function checkCycles(draft: Draft, streamNamed: StreamLookup): ApiError | null {
  const visited = new Set<string>();
  const toVisit: StreamConfig[] = [draft];
  for (let config = toVisit.shift(); config !== undefined; config = toVisit.shift()) {
    visited.add(config.name);
    for (const { name, external, filterSubject } of originsOf(config)) {
      if (external !== null) continue;
      if (visited.has(name)) {
        if (config.mirror !== null || mayPass(config.subjects, filterSubject)) return invalid('detected cycle');
        continue;
      }
      const origin = streamNamed(name);
      if (origin !== null) toVisit.push(origin);
    }
  }
  return null;
}

function mayPass(subjects: readonly string[], filter: string): boolean {
  return filter === '' || subjects.some((subject) => subjectsCollide(subject, filter));
}
