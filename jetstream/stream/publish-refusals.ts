/**
 * Headers that ask for what no stream of petiole has yet (counters, per-message TTLs, schedules, rollups) or that only
 * servers may set, each with the error that nats-server gives where a stream does not allow it. A step that brings one
 * of them takes its function out of here.
 */

import { parseDuration } from '../../server/config/duration.ts';
import type { Message } from '../../server/protocol/message.ts';
import { isValidPublishSubject } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { PublishHeaders } from './publish-headers.ts';

const SHORTEST_TTL_MS = 1000;

/** `Nats-Incr`, for counters. */
export function incrementRefusal({ increment }: PublishHeaders): ApiError | null {
  if (increment === null) return null;
  return /^[-+]?\d+$/.test(increment) ? ApiErrors.messageCountersDisabled : ApiErrors.messageCounterIncrementInvalid;
}

/** What a `Nats-TTL` comes to: a time or `never`, nothing, or no TTL at all. */
export function ttlKind({ ttl }: PublishHeaders): 'lasting' | 'none' | 'invalid' {
  if (ttl === null) return 'none';
  if (ttl.toLowerCase() === 'never') return 'lasting';
  if (/^\d+$/.test(ttl) && ttl !== '0') return Number(ttl) > 0 ? 'lasting' : 'none';
  return milliseconds(ttl) >= SHORTEST_TTL_MS ? 'lasting' : 'invalid';
}

/** The duration in milliseconds, -1 when it is none. */
function milliseconds(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    return -1;
  }
}

/** `Nats-Schedule`, and what else belongs to schedules. */
export function scheduleRefusal(headers: PublishHeaders, message: Message): ApiError | null {
  const { schedule, scheduleNext, scheduler } = headers;
  if (schedule !== null) return ApiErrors.messageSchedulesDisabled;
  if (scheduleNext === null) return scheduler === null ? null : ApiErrors.messageSchedulesSchedulerInvalid;
  if (scheduleNext !== 'purge' || scheduler === null) return ApiErrors.messageSchedulesSchedulerInvalid;
  const isFit = scheduler !== message.subjectText() && isValidPublishSubject(scheduler);
  return isFit ? ApiErrors.messageSchedulesDisabled : ApiErrors.messageSchedulesSchedulerInvalid;
}

/** `Nats-Rollup`. */
export function rollupRefusal({ rollup }: PublishHeaders): ApiError | null {
  return rollup === null ? null : ApiErrors.rollupFailed('rollup not permitted');
}

/** `Nats-Stream-Source`, which a stream sets that draws from another. */
export function sourceRefusal({ streamSource }: PublishHeaders): ApiError | null {
  return streamSource === null ? null : ApiErrors.messageStreamSourceNotAllowed;
}
