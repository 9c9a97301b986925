/**
 * What is asked of an origin's API, and what it answers: to make the consumer from which a stream is fed, or to set back
 * the one that somebody made for it.
 *
 *     CONSUMER.CREATE.<origin>[.<name>.<filter>]      CONSUMER.RESET.<origin>.<name>
 *
 * The consumer is made for streams (`direct`, `sourcing`): it counts against no limit and is dropped when nobody listens to
 * it. An origin whose messages leave when they are acknowledged makes a durable one of it by itself, which goes on where
 * its acknowledgements end. Servers before 2.14 know nothing of this; they are asked in an older way.
 *
 * Source: nats-server's setupMirrorConsumer and trySetupSourceConsumer.
 */

import { encode } from '../../server/protocol/go-json.ts';
import { formatTime, type Moment } from '../../server/protocol/rfc3339.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { StreamSource } from '../stream/stream-config-parts.ts';

const API_PREFIX = '$JS.API';
const NS_PER_SECOND = 1_000_000_000;
/** As fast as the origin tells that it is there. */
export const HEARTBEAT_MS = 1000;
const INACTIVE_SECONDS = 10;
const ACK_WAIT_SECONDS = 22 * 3600;
/** The level of the API that has all that is asked for. */
const LEVEL = 4;
const IDENTITY_LINE = '\r\nNats-Stream-Identity:';

/** Where a consumer begins. */
export type OriginStart =
  | { readonly kind: 'all' }
  | { readonly kind: 'sequence'; readonly sequence: number }
  | { readonly kind: 'time'; readonly time: Moment & { readonly offsetMinutes?: number } };

export interface ConsumerRequest {
  readonly name: string;
  readonly deliverSubject: string;
  readonly start: OriginStart;
  readonly metadata: Readonly<Record<string, string>>;
  /** The origin that is meant; empty: whichever has the name. */
  readonly identity: string;
  /** The origin's server is asked as it knows to be asked. */
  readonly isOldForm: boolean;
}

export interface OriginRequest {
  readonly subject: string;
  /** A header block. */
  readonly headers: string;
  readonly text: string;
}

/** Where the origin's API is reached. */
export function apiPrefix({ external }: StreamSource): string {
  return external === null || external.apiPrefix === '' ? API_PREFIX : external.apiPrefix;
}

/** `path` of the API, behind `$JS.API.`, where the origin's is reached. */
export function apiSubject(source: StreamSource, path: string): string {
  return `${apiPrefix(source)}.${path}`.replaceAll('..', '.');
}

function filtersOf({ filterSubject, subjectTransforms }: StreamSource): string[] {
  if (filterSubject !== '') return [filterSubject];
  return (subjectTransforms ?? []).map(({ source }) => source || '>');
}

export function createRequest(source: StreamSource, wanted: ConsumerRequest): OriginRequest {
  const filters = filtersOf(source);
  const [filter] = filters;
  const config = {
    name: wanted.name,
    ...startJson(wanted.start),
    ack_policy: 'none',
    ack_wait: ACK_WAIT_SECONDS * NS_PER_SECOND,
    max_deliver: 1,
    filter_subject: filters.length === 1 ? filter : undefined,
    filter_subjects: filters.length > 1 ? filters : undefined,
    replay_policy: 'instant',
    flow_control: true,
    deliver_subject: wanted.deliverSubject,
    idle_heartbeat: (HEARTBEAT_MS / 1000) * NS_PER_SECOND,
    inactive_threshold: INACTIVE_SECONDS * NS_PER_SECOND,
    num_replicas: 0,
    direct: true,
    sourcing: wanted.isOldForm ? undefined : true,
    metadata: wanted.metadata,
  };
  const path = `CONSUMER.CREATE.${source.name}`;
  return {
    subject: apiSubject(source, filters.length === 1 ? `${path}.${wanted.name}.${filter}` : path),
    headers: headerBlock(wanted),
    text: encode({ stream_name: source.name, config, action: '' }),
  };
}

/** Sets back the consumer that somebody made. */
export function resetRequest(source: StreamSource, identity: string): OriginRequest {
  const subject = apiSubject(source, `CONSUMER.RESET.${source.name}.${source.consumer?.name ?? ''}`);
  return { subject, headers: headerBlock({ identity, isOldForm: false }), text: '' };
}

function startJson(start: OriginStart): object {
  switch (start.kind) {
    case 'all':
      return { deliver_policy: 'all' };
    case 'sequence':
      return { deliver_policy: 'by_start_sequence', opt_start_seq: start.sequence };
    case 'time':
      return { deliver_policy: 'by_start_time', opt_start_time: formatTime(start.time) };
  }
}

function headerBlock({ identity, isOldForm }: Pick<ConsumerRequest, 'identity' | 'isOldForm'>): string {
  if (isOldForm) return '';
  return `NATS/1.0\r\nNats-Required-Api-Level: ${LEVEL}${IDENTITY_LINE} ${identity}\r\n\r\n`;
}

// ── answers ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The consumer that is there now. */
export interface OriginConsumerInfo {
  readonly name: string;
  readonly deliverSubject: string;
  readonly ackPolicy: string;
  /** It begins behind this sequence. */
  readonly deliveredSequence: number;
  /** Messages that it has to deliver. */
  readonly pending: number;
  /** Of the origin; empty: its server does not tell. */
  readonly identity: string;
}

interface AnswerJson {
  readonly error?: { readonly code?: number; readonly err_code?: number; readonly description?: string };
  readonly name?: string;
  readonly config?: { readonly deliver_subject?: string; readonly ack_policy?: string };
  readonly delivered?: { readonly stream_seq?: number };
  readonly num_pending?: number;
}

/** Reads the answer to either request; an error that the origin gave, or `null` when it is no such answer at all. */
export function readAnswer(headers: string, text: string): OriginConsumerInfo | ApiError | null {
  const answer = parsed(text);
  if (answer === null) return null;
  if (answer.error !== undefined) {
    const { code = 500, err_code: errCode = 0, description = '' } = answer.error;
    return { code, errCode, description };
  }
  const { name, config, delivered, num_pending: pending = 0 } = answer;
  const deliverSubject = config?.deliver_subject;
  if (name === undefined || deliverSubject === undefined) return null;
  const deliveredSequence = delivered?.stream_seq ?? 0;
  if (!Number.isSafeInteger(deliveredSequence)) return ApiErrors.sequenceNotFound(deliveredSequence);
  const ackPolicy = config?.ack_policy ?? '';
  return { name, deliverSubject, ackPolicy, deliveredSequence, pending, identity: identityIn(headers) };
}

function parsed(text: string): AnswerJson | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    // Whoever answered, it was no JetStream.
    return null;
  }
}

function identityIn(headers: string): string {
  const at = headers.indexOf(IDENTITY_LINE);
  if (at < 0) return '';
  return headers.slice(at + IDENTITY_LINE.length, headers.indexOf('\r\n', at + IDENTITY_LINE.length)).trim();
}

/** Errors of servers that do not know how they were asked. */
export function isOldServerError({ errCode }: ApiError): boolean {
  return errCode === ApiErrors.requiredApiLevel.errCode || errCode === ApiErrors.invalidJson('').errCode;
}
