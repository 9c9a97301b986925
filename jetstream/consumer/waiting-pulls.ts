/**
 * The pull requests that wait for messages, served in turn. Requests end when they are fulfilled, expire, find nothing
 * (no wait), are of a client that is not the pinned one any more, or lose their listener; what the requester is told then is a status line on its reply subject.
 *
 * Bound: max_waiting requests.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { Message } from '../../server/protocol/message.ts';
import type { PriorityTurns } from './priority-turns.ts';
import type { PullRequest } from './pull-request.ts';

const TIMEOUT = '408 Request Timeout';
/** Of a client that was pinned once. */
const WRONG_PIN = '423 Nats-Wrong-Pin-Id';
/** The server goes. */
export const SHUTDOWN = '409 Server Shutdown';

export class WaitingPulls {
  private readonly account: Account;
  private readonly limit: number;
  private readonly turns: PriorityTurns;
  private readonly onTimeout: () => void;
  private requests: PullRequest[] = [];
  private readonly status = new Message();

  /** `onTimeout`: a request ended because it was its time, or because there is no more. */
  constructor(account: Account, limit: number, turns: PriorityTurns, onTimeout: () => void) {
    this.account = account;
    this.limit = limit;
    this.turns = turns;
    this.onTimeout = onTimeout;
  }

  get size(): number {
    return this.requests.length;
  }

  get isFull(): boolean {
    return this.requests.length >= this.limit;
  }

  add(request: PullRequest): void {
    if (this.turns.isSorted) this.insert(request);
    else this.requests.push(request);
  }

  /** Puts the request behind those that are served before it, or as early. */
  private insert(request: PullRequest): void {
    const { requests } = this;
    const later = requests.findIndex(({ priority }) => priority > request.priority);
    requests.splice(later < 0 ? requests.length : later, 0, request);
  }

  /** Messages wanted by all requests together. */
  get wanted(): number {
    return this.requests.reduce((sum, request) => sum + request.batch, 0);
  }

  /**
   * The next request that takes a message of `bytes`; it goes to the end of the queue, or leaves it when that was its last
   * message. Requests that can't take it are told so and leave. `congested`: the next one's receiver has much unsent.
   */
  take(bytes: number, nowMs: number): PullRequest | 'congested' | null {
    const { requests, account, turns } = this;
    let passed = 0;
    while (requests.length > passed) {
      const request = requests[0] as PullRequest;
      const isOver = request.expiresAtMs > 0 && request.expiresAtMs <= nowMs;
      const turn = isOver ? 'takes' : turns.turn(request);
      if (turn === 'waits') {
        requests.shift();
        requests.push(request);
        passed++;
        continue;
      }
      const status = turn === 'refused' ? WRONG_PIN : refusal(request, bytes, isOver);
      const reception = status === null ? account.reception(request.reply) : 'nobody';
      if (reception === 'nobody') {
        requests.shift();
        if (status !== null) this.sendStatus(request, status, true);
        if (status === TIMEOUT) this.onTimeout();
        continue;
      }
      if (reception === 'congested') return 'congested';
      turns.serving(request);
      this.serve(request, bytes);
      if (request.heartbeatMs > 0) request.nextHeartbeatMs = nowMs + request.heartbeatMs;
      return request;
    }
    return null;
  }

  /** The request, which is the first, takes a message. */
  private serve(request: PullRequest, bytes: number): void {
    const { requests } = this;
    if (request.maxBytes > 0) {
      request.maxBytes -= bytes;
      if (request.maxBytes === 0) request.batch = 1;
    }
    request.batch--;
    request.delivered++;
    if (request.batch > 0 && requests.length === 1) return;
    requests.shift();
    if (request.batch > 0) this.add(request);
  }

  /**
   * Ends the requests that are over and sends heartbeats; `atEnd`: there is nothing to deliver at present, so requests
   * that don't wait end too. The monotonic time of the next thing to do, 0 when there is none.
   */
  review(nowMs: number, atEnd: boolean, heartbeat: string): number {
    let next = 0;
    this.requests = this.requests.filter((request) => {
      if (!this.isStillWaiting(request, nowMs, atEnd)) return false;
      if (request.nextHeartbeatMs > 0 && request.nextHeartbeatMs <= nowMs) {
        this.send(request.reply, heartbeat);
        request.nextHeartbeatMs = nowMs + request.heartbeatMs;
      }
      for (const due of [request.nextHeartbeatMs, request.expiresAtMs])
        if (due > 0 && (next === 0 || due < next)) next = due;
      return true;
    });
    return next;
  }

  private isStillWaiting(request: PullRequest, nowMs: number, atEnd: boolean): boolean {
    if (request.expiresAtMs > 0 && request.expiresAtMs <= nowMs) {
      this.sendStatus(request, TIMEOUT, true);
      this.onTimeout();
      return false;
    }
    if (atEnd && request.noWait && (request.expiresAtMs === 0 || request.delivered > 0)) {
      this.sendStatus(request, '404 No Messages', false);
      this.onTimeout();
      return false;
    }
    return this.account.hasInterest(request.reply);
  }

  /** Ends every request with this status. */
  endAll(status: string): void {
    for (const request of this.requests) this.sendStatus(request, status, status === SHUTDOWN);
    this.requests = [];
  }

  sendStatus(request: PullRequest, status: string, withPending: boolean): void {
    const pending = withPending
      ? `Nats-Pending-Messages: ${request.batch}\r\nNats-Pending-Bytes: ${request.maxBytes}\r\n`
      : '';
    this.send(request.reply, `${status}\r\n${pending}`);
  }

  /** Sends `NATS/1.0 <lines>`; each line ends with CR LF. */
  send(reply: Buffer, lines: string): void {
    const body = Buffer.from(`NATS/1.0 ${lines}\r\n`, 'latin1');
    const { status } = this;
    status.setSubject(reply, 0, reply.length);
    status.setBody(body, 0, body.length, body.length);
    this.account.route(status);
  }
}

/** Why the request can't take a message of `bytes`. */
function refusal(request: PullRequest, bytes: number, isOver: boolean): string | null {
  if (isOver) return TIMEOUT;
  return request.maxBytes > 0 && bytes > request.maxBytes ? '409 Message Size Exceeds MaxBytes' : null;
}
