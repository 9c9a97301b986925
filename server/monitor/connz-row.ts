/**
 * The row of one connection in /connz: nats-server's members in its order, the list of subscriptions among them if it is
 * asked for. What is empty is left out.
 */

import type { ConnectionFacts } from '../connection/connection-facts.ts';
import { bytesAsText } from './byte-text.ts';
import type { ConnzEntry, ListedSubscription } from './connz-entry.ts';
import type { SubscriptionList } from './connz-request.ts';
import type { JsonDocument } from './json-document.ts';
import { peerCertificates } from './peer-certificates.ts';
import { ageText, momentText, roundTripText } from './time-text.ts';

/** Subscriptions between two yields. */
const STEP = 64;

/** The moment of an answer. */
export interface Now {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export interface RowOptions {
  readonly withUser: boolean;
  readonly list: SubscriptionList;
  readonly now: Now;
  readonly globalAccount: string;
}

/** Writes the row; yields within a long list of subscriptions. */
export function* writeRow(entry: ConnzEntry, options: RowOptions, json: JsonDocument): Generator<void, void> {
  const { facts, isClosed } = entry;
  const { withUser, list, globalAccount } = options;
  json.beginObject();
  json.members(identityMembers(facts));
  json.members(timeMembers(facts, options.now));
  json.members(trafficMembers(facts));
  // Of a closed connection it is not remembered which certificate it showed.
  if (withUser && !isClosed) json.members({ tls_peer_certs: peerCertificates(facts.tls) });
  if (facts.isTlsFirst) json.members({ tls_first: true });
  const account = facts.account === globalAccount ? '' : facts.account;
  if (withUser) json.members({ authorized_user: facts.user || undefined, account: account || undefined });
  if (list !== 'none') yield* writeList(entry, list, json);
  // A closed connection's account is remembered only where it is another than that of everybody.
  if (withUser) json.members({ name_tag: (isClosed ? account : facts.account) || undefined });
  json.end();
}

function identityMembers({ id, kind, host, port, isWebSocket }: ConnectionFacts): object {
  const type = isWebSocket ? 'websocket' : 'nats';
  return { cid: id, kind, type: kind === 'Client' ? type : undefined, ip: host, port };
}

function timeMembers(facts: ConnectionFacts, now: Now): object {
  const { startWallMs, stopWallMs, startMs, lastActivityMs, closedReason } = facts;
  const until: Now = stopWallMs === 0 ? now : { wallMs: stopWallMs, monotonicMs: facts.stopMs };
  const idleMs = until.monotonicMs - lastActivityMs;
  return {
    start: momentText(startWallMs),
    last_activity: momentText(until.wallMs - idleMs),
    stop: stopWallMs === 0 ? undefined : momentText(stopWallMs),
    reason: closedReason ?? undefined,
    rtt: roundTripText(facts.rttMs),
    uptime: ageText(until.monotonicMs - startMs),
    idle: ageText(idleMs),
  };
}

function trafficMembers(facts: ConnectionFacts): object {
  const { traffic } = facts;
  return {
    pending_bytes: facts.pendingBytes,
    in_msgs: traffic.inMessages,
    out_msgs: traffic.outMessages,
    in_bytes: traffic.inBytes,
    out_bytes: traffic.outBytes,
    stalls: facts.stalls || undefined,
    subscriptions: facts.subscriptions,
    name: facts.name || undefined,
    lang: facts.lang || undefined,
    version: facts.version || undefined,
    tls_version: facts.tls?.version,
    tls_cipher_suite: facts.tls?.cipher,
  };
}

function* writeList(
  entry: ConnzEntry,
  list: Exclude<SubscriptionList, 'none'>,
  json: JsonDocument,
): Generator<void, void> {
  const { facts, isClosed } = entry;
  let count = 0;
  for (const subscription of entry.subscriptions()) {
    if (count === 0) json.beginArray(list === 'detail' ? 'subscriptions_list_detail' : 'subscriptions_list');
    if (list === 'detail') json.element(detailOf(subscription, facts.id, isClosed ? facts.account : null));
    else json.element(bytesAsText(subscription.subject));
    if (++count % STEP === 0) yield;
    if (json.isOverfull) break;
  }
  if (count > 0) json.end();
}

/** A subscription in full; `account` null leaves out whose it is. */
export function detailOf(subscription: ListedSubscription, id: number, account: string | null): object {
  const { subject, queueGroup, sid, delivered, maxDeliveries } = subscription;
  return {
    account: account ?? undefined,
    account_tag: account ?? undefined,
    subject: bytesAsText(subject),
    qgroup: queueGroup === '' ? undefined : bytesAsText(queueGroup),
    sid: bytesAsText(sid),
    msgs: delivered,
    max: maxDeliveries || undefined,
    cid: id,
  };
}
