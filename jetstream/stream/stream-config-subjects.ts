/**
 * What a stream's configuration says about the subjects of its messages: under which they are stored (`subject_transform`)
 * and published again (`republish`). nats-server's checks in nats-server's order.
 */

import { isValidSubject, subjectsCollide } from '../../server/subject/subject.ts';
import { compileTransform, validateTransform } from '../../server/subject/transform.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { StreamConfig } from './stream-config-fields.ts';

type Draft = { -readonly [Key in keyof StreamConfig]: StreamConfig[Key] };

const ALL = '>';

const invalid = ApiErrors.streamInvalidConfig;

/** Errors: 10155, 10156. */
export function checkSubjectTransform({ subjectTransform }: Draft): ApiError | null {
  if (subjectTransform === null) return null;
  const { source, destination } = subjectTransform;
  if (source !== '' && !isValidSubject(source)) {
    return ApiErrors.streamTransformInvalidSource(`invalid subject ${source}`);
  }
  const error = validateTransform(source, destination);
  return error === null ? null : ApiErrors.streamTransformInvalidDestination(error.message);
}

/** What is published again must not come back to the stream. Errors: 10157, 10052. */
export function completeRepublish(draft: Draft, isPedantic: boolean): ApiError | null {
  if (draft.republish === null) return null;
  if (draft.republish.source === '') {
    if (isPedantic) return ApiErrors.pedantic('republish source can not be empty');
    draft.republish = { ...draft.republish, source: ALL };
  }
  // Everything, where everything has another subject than it came with.
  if (draft.subjectTransform !== null && isTransformWhole(draft)) {
    if (isPedantic) return ApiErrors.pedantic('implicit republish based on subject transform');
    const { destination } = draft.subjectTransform;
    draft.republish = { ...draft.republish, source: destination, destination };
  }
  const { source, destination } = draft.republish;
  if (draft.subjects.some((subject) => subjectsCollide(destination, subject))) {
    return invalid('stream configuration for republish destination forms a cycle');
  }
  if (destination === '' || compileTransform(source, destination).error === null) return null;
  return invalid(`stream configuration for republish with transform from '${source}' to '${destination}' not valid`);
}

function isTransformWhole({ republish, subjectTransform, subjects }: Draft): boolean {
  const isAll = republish?.source === ALL && republish.destination === ALL;
  return isAll && subjects.length === 1 && subjectTransform?.source === subjects[0];
}
