/**
 * How requests are refused that count on a level of the API above petiole's: the type of the answer, and the fields that
 * stand in it all the same. Requests of a cluster are not among them: without one they are refused for that.
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import type { ApiRequest } from './api-request.ts';
import { ZERO_TIME_TEXT } from './api-time.ts';

const NO_PAGE = { total: 0, offset: 0, limit: 0 };

const FIELDS_BY_REQUEST: Readonly<Record<string, object>> = {
  'STREAM.CREATE': {},
  'STREAM.UPDATE': {},
  'STREAM.NAMES': { ...NO_PAGE, streams: null },
  'STREAM.LIST': { ...NO_PAGE, streams: [] },
  'STREAM.INFO': NO_PAGE,
  'STREAM.DELETE': {},
  'STREAM.PURGE': { purged: 0 },
  'STREAM.MSG.GET': {},
  'STREAM.MSG.DELETE': {},
  'STREAM.SNAPSHOT': {},
  'STREAM.RESTORE': { deliver_subject: '' },
  'CONSUMER.CREATE': {},
  'CONSUMER.NAMES': { ...NO_PAGE, consumers: [] },
  'CONSUMER.LIST': { ...NO_PAGE, consumers: [] },
  'CONSUMER.INFO': {},
  'CONSUMER.DELETE': {},
  'CONSUMER.PAUSE': { paused: false, pause_until: ZERO_TIME_TEXT },
  'CONSUMER.UNPIN': {},
  'CONSUMER.RESET': { reset_seq: 0 },
};

/** Requests whose answer is not named after them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  INFO: 'ACCOUNT.INFO',
  'CONSUMER.DURABLE.CREATE': 'CONSUMER.CREATE',
};

/** Refuses the request, unless it is one that no level is asked of; whether it did. */
export function refuseLevel(request: ApiRequest): boolean {
  return refuseAny(request, ApiErrors.requiredApiLevel);
}

/** Refuses the request for a reason that has nothing to do with what it asks; false if it has no such answer. */
export function refuseAny(request: ApiRequest, error: ApiError): boolean {
  const { tokens } = request;
  for (let count = Math.min(3, tokens.length); count > 0; count--) {
    const name = tokens.slice(0, count).join('.');
    const answer = OTHER_NAMES[name] ?? name;
    const fields = name === 'INFO' ? {} : FIELDS_BY_REQUEST[answer];
    if (fields === undefined) continue;
    request.refuse(`${answer.toLowerCase().replaceAll('.', '_')}_response`, error, fields);
    return true;
  }
  return false;
}
