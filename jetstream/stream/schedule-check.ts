/**
 * Whether a message may ask for what streams with `allow_msg_schedules` do: be published later under another subject, or
 * end such a schedule. nats-server's checks in nats-server's order; what asks for nothing of the kind passes on any stream.
 *
 * Source: ADR-51.
 */

import type { Message } from '../../server/protocol/message.ts';
import { isValidPublishSubject, subjectsCollide } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { withHeader } from './batch-headers.ts';
import { ttlSeconds } from './message-ttl.ts';
import type { PublishHeaders } from './publish-headers.ts';
import { dueAfter, parsePattern } from './schedule-pattern.ts';
import type { StreamConfig } from './stream-config.ts';

/** What `Nats-Schedule-Next` says when the schedule is over. */
export const PURGE = 'purge';
const ROLLUP = 'sub';

/** `isSchedule`: whether the last message under a subject is a schedule; also where there is none. */
export function scheduleRefusal(
  headers: PublishHeaders,
  message: Message,
  config: StreamConfig,
  nowMs: () => number,
  isSchedule: (subject: string) => boolean,
): ApiError | null {
  const { schedule, scheduleTimeZone, scheduleNext, scheduler } = headers;
  if (schedule !== null || scheduleTimeZone !== null) {
    const error = patternRefusal(headers, message, config, nowMs());
    if (error !== null) return config.allowMsgSchedules ? error : ApiErrors.messageSchedulesDisabled;
  }
  if (scheduleNext === null) return scheduler === null ? null : ApiErrors.messageSchedulesSchedulerInvalid;
  if (scheduleNext !== PURGE || scheduler === null) return ApiErrors.messageSchedulesSchedulerInvalid;
  const isFit = scheduler !== message.subjectText() && isValidPublishSubject(scheduler);
  if (!isFit) return ApiErrors.messageSchedulesSchedulerInvalid;
  if (!config.allowMsgSchedules) return ApiErrors.messageSchedulesDisabled;
  return isSchedule(scheduler) ? null : ApiErrors.messageSchedulesSchedulerInvalid;
}

/** Whether the message, which is taken, is a schedule: it replaces the one before it under its subject. */
export function isScheduled({ schedule }: PublishHeaders): boolean {
  return schedule !== null && parsePattern(schedule, null) !== null;
}

/** The message as it is stored: a schedule replaces the one before it, whether it says so or not. */
export function withImpliedRollup(message: Message, headers: PublishHeaders): Message {
  if (headers.schedule === null || headers.rollup !== null || !isScheduled(headers)) return message;
  headers.rollup = ROLLUP;
  return withHeader(message, `Nats-Rollup: ${ROLLUP}`);
}

function patternRefusal(
  headers: PublishHeaders,
  message: Message,
  config: StreamConfig,
  nowMs: number,
): ApiError | null {
  const pattern = parsePattern(headers.schedule, headers.scheduleTimeZone);
  if (pattern === 'zone') return ApiErrors.messageSchedulesTimeZoneInvalid;
  if (pattern === 'pattern') return ApiErrors.messageSchedulesPatternInvalid;
  if (pattern === null) return null;
  if (dueAfter(pattern, nowMs) === null) return ApiErrors.messageSchedulesPatternInvalid;
  if (!config.allowMsgSchedules) return ApiErrors.messageSchedulesDisabled;
  return headersRefusal(headers, message, config);
}

function headersRefusal(headers: PublishHeaders, message: Message, config: StreamConfig): ApiError | null {
  const { scheduleTtl, scheduleRollup, scheduleTarget, scheduleSource, rollup } = headers;
  const subject = message.subjectText();
  if (Number.isNaN(ttlSeconds({ ttl: scheduleTtl }))) return ApiErrors.messageSchedulesTtlInvalid;
  if (scheduleRollup !== null && scheduleRollup !== ROLLUP) return ApiErrors.messageSchedulesRollupInvalid;
  if (scheduleTtl !== null && !config.allowMsgTtl) return ApiErrors.messageTtlDisabled;
  const isTarget = scheduleTarget !== null && scheduleTarget !== subject && isValidPublishSubject(scheduleTarget);
  if (!isTarget) return ApiErrors.messageSchedulesTargetInvalid;
  const isBadSource =
    scheduleSource !== null &&
    (scheduleSource === scheduleTarget || scheduleSource === subject || !isValidPublishSubject(scheduleSource));
  if (isBadSource) return ApiErrors.messageSchedulesSourceInvalid;
  const isOfStream = (wanted: string): boolean => config.subjects.some((each) => subjectsCollide(each, wanted));
  if (!isOfStream(scheduleTarget)) return ApiErrors.messageSchedulesTargetInvalid;
  if (scheduleSource !== null && !isOfStream(scheduleSource)) return ApiErrors.messageSchedulesSourceInvalid;
  return rollup === null || rollup.toLowerCase() === ROLLUP ? null : ApiErrors.messageSchedulesRollupInvalid;
}
