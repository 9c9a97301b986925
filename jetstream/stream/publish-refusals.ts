/**
 * Headers that ask for what no stream of petiole has yet (schedules) or that only servers may set, each with the error that nats-server gives where a stream does not allow it. A step that brings one
 * of them takes its function out of here.
 */

import type { Message } from '../../server/protocol/message.ts';
import { isValidPublishSubject } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { PublishHeaders } from './publish-headers.ts';

/** `Nats-Schedule`, and what else belongs to schedules. */
export function scheduleRefusal(headers: PublishHeaders, message: Message): ApiError | null {
  const { schedule, scheduleNext, scheduler } = headers;
  if (schedule !== null) return ApiErrors.messageSchedulesDisabled;
  if (scheduleNext === null) return scheduler === null ? null : ApiErrors.messageSchedulesSchedulerInvalid;
  if (scheduleNext !== 'purge' || scheduler === null) return ApiErrors.messageSchedulesSchedulerInvalid;
  const isFit = scheduler !== message.subjectText() && isValidPublishSubject(scheduler);
  return isFit ? ApiErrors.messageSchedulesDisabled : ApiErrors.messageSchedulesSchedulerInvalid;
}

/** `Nats-Stream-Source`, which a stream sets that draws from another. */
export function sourceRefusal({ streamSource }: PublishHeaders): ApiError | null {
  return streamSource === null ? null : ApiErrors.messageStreamSourceNotAllowed;
}
