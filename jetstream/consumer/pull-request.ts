/**
 * A request for messages: how many, for how long, and what the requester is told meanwhile. It waits in the consumer's
 * queue until it is fulfilled, expires, or nobody listens to its reply subject any more.
 *
 * Source: ADR-13, ADR-37, ADR-42; nats-server's nextReqFromMsg.
 */

import type { Buffer } from 'node:buffer';
import { decode } from '../../server/protocol/go-json.ts';
import { goBool, goDuration, goInt, goInt64, goString } from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct, type StructField } from '../../server/protocol/go-json-struct.ts';
import { millisecondsOf, type Nanoseconds } from '../../server/protocol/nanoseconds.ts';
import type { PriorityPolicy } from './consumer-config-fields.ts';

/**
 * How much before its time a request ends, and at most which part of its time. Timers here are a millisecond or two late,
 * and clients that wait for a timeout give up 0.1 ms behind it: what comes later they take for the answer to their next
 * request.
 */
const EARLY_MS = 2;
const EARLY_PART_MAX = 0.02;

export interface PullRequest {
  /** Where messages and statuses go. */
  readonly reply: Buffer;
  /** Messages still wanted; a request that did not ask for any gets one. */
  batch: number;
  /** Bytes still wanted; 0: no limit. */
  maxBytes: number;
  delivered: number;
  /** The priority group; empty when none was named. */
  readonly group: string;
  /** Not 0: it takes messages only while so many wait, or so many are unacknowledged. */
  readonly minPending: number;
  readonly minAckPending: number;
  /** Lower ones are served first, where that counts; LOWEST when nothing was said at all. */
  readonly priority: number;
  /** Not empty: it is of the client that is, or was, pinned under this id. */
  pinId: string;
  readonly noWait: boolean;
  /** Monotonic milliseconds; 0: never. */
  readonly expiresAtMs: number;
  /** 0: no heartbeats. */
  readonly heartbeatMs: number;
  nextHeartbeatMs: number;
}

/** The priority of a request that says nothing, not even a priority group. */
const LOWEST = Infinity;

export interface RequestLimits {
  /** Each 0: no limit. */
  readonly maxBatch: number;
  readonly maxExpiresMs: number;
  /** The limit as nats-server prints it. */
  readonly maxExpiresText: string;
  readonly maxBytes: number;
  readonly policy: PriorityPolicy;
  readonly groups: readonly string[];
}

/** The request in a body, or the status line that refuses it. */
export function readPullRequest(
  body: string,
  reply: Buffer,
  nowMs: number,
  limits: RequestLimits,
): PullRequest | string {
  const wanted = parseBody(body.trim());
  if (typeof wanted === 'string') return `400 Bad Request - ${wanted}`;
  const { batch, maxBytes, noWait } = wanted;
  const expiresMs = millisecondsOf(wanted.expiresNs);
  const heartbeatMs = Math.max(0, millisecondsOf(wanted.heartbeatNs));
  if (heartbeatMs > 0 && heartbeatMs * 2 > expiresMs) return '400 Bad Request - heartbeat value too large';
  if (limits.maxBatch > 0 && batch > limits.maxBatch) return `409 Exceeded MaxRequestBatch of ${limits.maxBatch}`;
  if (limits.maxExpiresMs > 0 && expiresMs > limits.maxExpiresMs) {
    return `409 Exceeded MaxRequestExpires of ${limits.maxExpiresText}`;
  }
  if (limits.maxBytes > 0 && maxBytes > limits.maxBytes) {
    return `409 Exceeded MaxRequestMaxBytes of ${limits.maxBytes}`;
  }
  const isPlain = wanted === ONE_MESSAGE || wanted.isNumber === true;
  const problem = isPlain ? null : priorityProblem(wanted, limits);
  if (problem !== null) return `400 Bad Request - ${problem}`;
  return {
    reply,
    batch,
    maxBytes: Math.max(0, maxBytes),
    delivered: 0,
    group: wanted.group,
    minPending: wanted.minPending,
    minAckPending: wanted.minAckPending,
    priority: isPlain ? LOWEST : wanted.priority,
    pinId: wanted.id,
    noWait,
    expiresAtMs: expiresMs !== 0 ? nowMs + expiresMs - Math.min(EARLY_MS, expiresMs * EARLY_PART_MAX) : 0,
    heartbeatMs,
    nextHeartbeatMs: heartbeatMs > 0 ? nowMs + heartbeatMs : 0,
  };
}

/** What is wrong with how the request wants to be served. */
function priorityProblem(wanted: Wanted, { policy, groups }: RequestLimits): string | null {
  const isOverflow = wanted.minPending !== 0 || wanted.minAckPending !== 0;
  if (isOverflow && policy !== 'overflow') return 'Not a Overflow Priority consumer';
  if (wanted.id !== '' && policy !== 'pinned_client') return 'Not a Pinned Client Priority consumer';
  if (wanted.priority < 0 || wanted.priority > 9) return 'Priority must be between 0 and 9';
  if (policy === 'none') return null;
  if (wanted.group === '') return 'Priority Group missing';
  return groups.includes(wanted.group) ? null : 'Invalid Priority Group';
}

interface Wanted {
  readonly expiresNs: Nanoseconds;
  readonly batch: number;
  readonly maxBytes: number;
  readonly noWait: boolean;
  readonly heartbeatNs: Nanoseconds;
  readonly group: string;
  /** Not 0: it wants messages only when so many wait. */
  readonly minPending: number;
  readonly minAckPending: number;
  /** Not '': it is of the client that the consumer is pinned to. */
  readonly id: string;
  readonly priority: number;
  /** It was only a number. */
  readonly isNumber?: boolean;
}

const wantedType: GoStruct<Wanted> = new GoStruct('server.JSApiConsumerGetNextRequest', [
  field('expires', 'expiresNs', goDuration),
  field('batch', 'batch', goInt),
  field('max_bytes', 'maxBytes', goInt),
  field('no_wait', 'noWait', goBool),
  field('idle_heartbeat', 'heartbeatNs', goDuration),
  ofPriorityGroup(field('group', 'group', goString)),
  ofPriorityGroup(field('min_pending', 'minPending', goInt64)),
  ofPriorityGroup(field('min_ack_pending', 'minAckPending', goInt64)),
  ofPriorityGroup(field('id', 'id', goString)),
  ofPriorityGroup(field('priority', 'priority', goInt)),
]);

/** In nats-server these stand in a struct of their own, which what is wrong with one of them names. */
function ofPriorityGroup(of: StructField<Wanted>): StructField<Wanted> {
  return { ...of, path: ['PriorityGroup', ...of.path] };
}

const ONE_MESSAGE: Wanted = { ...wantedType.zero(), batch: 1 };

/** Empty: one message; a number: so many; JSON: the whole; anything else: one message. The text of an error. */
function parseBody(body: string): Wanted | string {
  if (body === '') return ONE_MESSAGE;
  if (!body.startsWith('{'))
    return /^[-+]?\d{1,9}$/.test(body) ? { ...ONE_MESSAGE, batch: Number(body), isNumber: true } : ONE_MESSAGE;
  const plain = parsePlainBody(body);
  if (plain !== null) return plain;
  const { value, error } = decode(body, wantedType);
  return error ?? value;
}

/** What a number of JSON may look like without being one of Go's integers. */
const ODD_NUMBER = /\d[.eE]|\d{16}|\\/;

/** The body as most clients write it; `null`: it has to be read with care. Requests are many: this is the faster way. */
function parsePlainBody(body: string): Wanted | null {
  if (ODD_NUMBER.test(body)) return null;
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return null;
  }
  const wanted: Record<string, unknown> = { ...wantedType.zero() };
  for (const [key, value] of Object.entries(parsed)) {
    const name = PLAIN_FIELDS[key];
    if (name === undefined || typeof value !== typeof wanted[name]) return null;
    wanted[name] = value;
  }
  return wanted as unknown as Wanted;
}

const PLAIN_FIELDS: Readonly<Record<string, keyof Wanted | undefined>> = {
  expires: 'expiresNs',
  batch: 'batch',
  max_bytes: 'maxBytes',
  no_wait: 'noWait',
  idle_heartbeat: 'heartbeatNs',
  group: 'group',
  min_pending: 'minPending',
  min_ack_pending: 'minAckPending',
  id: 'id',
  priority: 'priority',
};
