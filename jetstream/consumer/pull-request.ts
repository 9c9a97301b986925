/**
 * A request for messages: how many, for how long, and what the requester is told meanwhile. It waits in the consumer's
 * queue until it is fulfilled, expires, or nobody listens to its reply subject any more.
 *
 * Source: ADR-13, ADR-37; nats-server's nextReqFromMsg.
 */

import type { Buffer } from 'node:buffer';

const NS_PER_MS = 1e6;
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
  /** Messages still wanted. */
  batch: number;
  /** Bytes still wanted; 0: no limit. */
  maxBytes: number;
  delivered: number;
  readonly noWait: boolean;
  /** Monotonic milliseconds; 0: never. */
  readonly expiresAtMs: number;
  /** 0: no heartbeats. */
  readonly heartbeatMs: number;
  nextHeartbeatMs: number;
}

export interface RequestLimits {
  /** Each 0: no limit. */
  readonly maxBatch: number;
  readonly maxExpiresMs: number;
  /** The limit as nats-server prints it. */
  readonly maxExpiresText: string;
  readonly maxBytes: number;
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
  const { batch, expiresMs, maxBytes, noWait, heartbeatMs } = wanted;
  if (heartbeatMs > 0 && heartbeatMs * 2 > expiresMs) return '400 Bad Request - heartbeat value too large';
  // No consumer has a priority policy yet.
  if (wanted.isOverflow) return '400 Bad Request - Not a Overflow Priority consumer';
  if (wanted.isPinned) return '400 Bad Request - Not a Pinned Client Priority consumer';
  if (limits.maxBatch > 0 && batch > limits.maxBatch) return `409 Exceeded MaxRequestBatch of ${limits.maxBatch}`;
  if (limits.maxExpiresMs > 0 && expiresMs > limits.maxExpiresMs) {
    return `409 Exceeded MaxRequestExpires of ${limits.maxExpiresText}`;
  }
  if (limits.maxBytes > 0 && maxBytes > limits.maxBytes) {
    return `409 Exceeded MaxRequestMaxBytes of ${limits.maxBytes}`;
  }
  return {
    reply,
    batch: Math.max(1, batch),
    maxBytes: Math.max(0, maxBytes),
    delivered: 0,
    noWait,
    expiresAtMs: expiresMs > 0 ? nowMs + expiresMs - Math.min(EARLY_MS, expiresMs * EARLY_PART_MAX) : 0,
    heartbeatMs,
    nextHeartbeatMs: heartbeatMs > 0 ? nowMs + heartbeatMs : 0,
  };
}

interface Wanted {
  batch: number;
  expiresMs: number;
  maxBytes: number;
  noWait: boolean;
  heartbeatMs: number;
  /** Whether it wants messages only when so many wait. */
  isOverflow: boolean;
  /** Whether it is of the client that the consumer is pinned to. */
  isPinned: boolean;
}

const ONE_MESSAGE: Wanted = {
  batch: 1,
  expiresMs: 0,
  maxBytes: 0,
  noWait: false,
  heartbeatMs: 0,
  isOverflow: false,
  isPinned: false,
};

/** Empty: one message; a number: so many; JSON: the whole; anything else: one message. */
function parseBody(body: string): Wanted | string {
  const wanted = { ...ONE_MESSAGE };
  if (!body.startsWith('{')) {
    if (/^[-+]?\d{1,9}$/.test(body)) wanted.batch = Number(body);
    return wanted;
  }
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body) as Record<string, unknown>;
  } catch (error) {
    return (error as Error).message;
  }
  wanted.batch = numberOf(parsed['batch']);
  wanted.expiresMs = numberOf(parsed['expires']) / NS_PER_MS;
  wanted.maxBytes = numberOf(parsed['max_bytes']);
  wanted.noWait = parsed['no_wait'] === true;
  wanted.heartbeatMs = numberOf(parsed['idle_heartbeat']) / NS_PER_MS;
  wanted.isOverflow = numberOf(parsed['min_pending']) !== 0 || numberOf(parsed['min_ack_pending']) !== 0;
  wanted.isPinned = typeof parsed['id'] === 'string' && parsed['id'] !== '';
  return wanted;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
