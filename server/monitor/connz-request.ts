/**
 * What a request for /connz asks: which connections, in which order, which page of them, and how much of each.
 */

import { textAsBytes } from './byte-text.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import { BadRequest } from './endpoint.ts';
import type { Query } from './query.ts';

export const LIMIT_DEFAULT = 1024n;

export type SubscriptionList = 'none' | 'subjects' | 'detail';

export interface ConnzRequest {
  readonly order: SortOrder;
  /** Whether to show who a connection belongs to. */
  readonly withUser: boolean;
  readonly list: SubscriptionList;
  readonly offset: bigint;
  readonly limit: bigint;
  /** 0 asks for any. */
  readonly cid: bigint;
  readonly wantsOpen: boolean;
  readonly wantsClosed: boolean;
  /** '' asks for any; so do the next two. */
  readonly user: string;
  readonly account: string;
  readonly mqttClient: string;
  /**
   * Open connections that listen to some of this, in bytes; '' asks for any. nats-server takes it in the system account
   * alone.
   */
  readonly filterSubject: string;
}

/** A connection's values by which lists are sorted. */
export interface SortValues {
  readonly id: number;
  readonly subscriptions: number;
  readonly pendingBytes: number;
  readonly traffic: { readonly inMessages: number; readonly inBytes: number } & {
    readonly outMessages: number;
    readonly outBytes: number;
  };
  /** Moments on the monotonic clock; `stopMs` is 0 while it is open. */
  readonly startMs: number;
  readonly lastActivityMs: number;
  readonly stopMs: number;
  readonly closedReason: ClosedReason | null;
  readonly rttMs: number;
}

/** Negative when `a` comes first. `nowMs` is the moment of the answer. */
export type Compare = (a: SortValues, b: SortValues, nowMs: number) => number;

export interface SortOrder {
  readonly compare: Compare;
  /** It is the order of the ids, which are known without looking at anything else. */
  readonly isById: boolean;
  readonly closedOnly: boolean;
}

const BY_ID: SortOrder = { compare: (a, b) => a.id - b.id, isById: true, closedOnly: false };

const ORDERS: ReadonlyMap<string, SortOrder> = new Map([
  ['', BY_ID],
  ['cid', BY_ID],
  ['start', BY_ID],
  ['subs', largestFirst((each) => each.subscriptions)],
  ['pending', largestFirst((each) => each.pendingBytes)],
  ['msgs_to', largestFirst(({ traffic }) => traffic.outMessages)],
  ['msgs_from', largestFirst(({ traffic }) => traffic.inMessages)],
  ['bytes_to', largestFirst(({ traffic }) => traffic.outBytes)],
  ['bytes_from', largestFirst(({ traffic }) => traffic.inBytes)],
  ['last', largestFirst((each) => each.lastActivityMs)],
  ['idle', largestFirst((each) => -each.lastActivityMs)],
  ['uptime', { compare: (a, b, now) => age(a, now) - age(b, now), isById: false, closedOnly: false }],
  ['stop', { ...largestFirst((each) => each.stopMs), closedOnly: true }],
  ['reason', { compare: byReason, isById: false, closedOnly: true }],
  ['rtt', largestFirst((each) => each.rttMs)],
]);

const STATES: ReadonlyMap<string, { readonly wantsOpen: boolean; readonly wantsClosed: boolean }> = new Map([
  ['', { wantsOpen: true, wantsClosed: false }],
  ['open', { wantsOpen: true, wantsClosed: false }],
  ['closed', { wantsOpen: false, wantsClosed: true }],
  ['any', { wantsOpen: true, wantsClosed: true }],
  ['all', { wantsOpen: true, wantsClosed: true }],
]);

/** Reads the parameters. Throws a BadRequest over the first that can't be read; the order is still to be checked. */
export function readConnzRequest(query: Query): Omit<ConnzRequest, 'order'> {
  const withUser = query.boolean('auth');
  const list = readList(query);
  const offset = query.integer('offset');
  const limit = query.integer('limit');
  const cid = query.unsigned('cid');
  const stateText = query.text('state');
  const state = STATES.get(stateText.toLowerCase());
  if (state === undefined) throw new BadRequest(`Error decoding state for ${stateText}`);
  return {
    withUser,
    list,
    offset: offset < 0n ? 0n : offset,
    limit: cid > 0n ? 1n : limit <= 0n ? LIMIT_DEFAULT : limit,
    cid,
    ...state,
    user: query.text('user'),
    account: query.text('acc'),
    mqttClient: query.text('mqtt_client'),
    filterSubject: readFilterSubject(query),
  };
}

/** Everything is what is asked for anyway. */
function readFilterSubject(query: Query): string {
  const subject = query.text('filter_subject');
  return subject === '>' ? '' : textAsBytes(subject);
}

/** The order that a request asks for. Throws a BadRequest if there is none of that name, or not for open connections. */
export function readSortOrder(query: Query, wantsOpen: boolean): SortOrder {
  const name = query.text('sort');
  const order = ORDERS.get(name);
  if (order === undefined) throw new BadRequest(`invalid sorting option: ${name}`);
  if (order.closedOnly && wantsOpen) throw new BadRequest(`sort by ${name} only valid on closed connections`);
  return order;
}

/** Throws a BadRequest for a subject without the account in which it has its meaning. */
export function checkFilterSubject({ filterSubject, account }: Pick<ConnzRequest, 'filterSubject' | 'account'>): void {
  if (filterSubject === '' || account !== '') return;
  throw new BadRequest('filter by subject only valid with account filtering');
}

/** Which subscriptions `subs` asks for. Throws a BadRequest. */
export function readList(query: Query): SubscriptionList {
  if (query.text('subs').toLowerCase() === 'detail') return 'detail';
  return query.boolean('subs') ? 'subjects' : 'none';
}

function largestFirst(valueOf: (values: SortValues) => number): SortOrder {
  return { compare: (a, b) => valueOf(b) - valueOf(a), isById: false, closedOnly: false };
}

function age({ startMs, stopMs }: SortValues, nowMs: number): number {
  return (stopMs === 0 ? nowMs : stopMs) - startMs;
}

function byReason(a: SortValues, b: SortValues): number {
  const [first, second] = [a.closedReason ?? '', b.closedReason ?? ''];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
