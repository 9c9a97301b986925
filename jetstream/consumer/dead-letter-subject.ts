/**
 * Where a consumer's dead letters go: what its metadata say under `petiole.dead_letter_subject`. The key is petiole's own;
 * nats-server keeps it without a meaning.
 */

import { isValidPublishSubject, subjectMatches } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import { filtersOf } from './subject-filter.ts';

const KEY = 'petiole.dead_letter_subject';
/** What only the server publishes. */
const RESERVED = /^\$(JS|SYS)\./;

/** `null`: the consumer leaves none. */
export function deadLetterSubject({ metadata }: ConsumerConfig): string | null {
  return metadata?.get(KEY) ?? null;
}

/**
 * Why dead letters can't go where the configuration says: it has to be one subject, and none under which the consumer
 * would get its own dead letters from its stream again.
 */
export function checkDeadLetterSubject(config: ConsumerConfig, streamSubjects: readonly string[]): ApiError | null {
  const subject = deadLetterSubject(config);
  if (subject === null) return null;
  if (!isValidPublishSubject(subject)) return ApiErrors.consumerCreateFailed(`${KEY} is not a valid literal subject`);
  if (RESERVED.test(subject)) return ApiErrors.consumerCreateFailed(`${KEY} is reserved for the server`);
  const matchesSome = (patterns: readonly string[]): boolean => patterns.some((each) => subjectMatches(each, subject));
  const filters = filtersOf(config);
  const returns = matchesSome(streamSubjects) && (filters.length === 0 || matchesSome(filters));
  return returns ? ApiErrors.consumerCreateFailed(`${KEY} leads back to the consumer itself`) : null;
}
