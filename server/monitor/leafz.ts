/**
 * /leafz: the open leaf links, of one account with `acc`, and with `subs=1` what their other ends want to hear. With
 * `remotes=1`, which nats-server ignores, also every remote that is configured, linked or not: its state, why it was lost
 * last and when, and its spool.
 */

import type { LeafLinkSnapshot, LeafRemoteSnapshot } from '../../leafnode/leaf-nodes.ts';
import type { SpoolStatistics } from '../ports.ts';
import type { HttpResponse } from '../io/io.ts';
import type { AnswerWork } from './answer-work.ts';
import { bytesAsText } from './byte-text.ts';
import { type Answer, jsonResponse, type MonitorContext, overfullResponse } from './endpoint.ts';
import { JsonDocument } from './json-document.ts';
import type { MonitorSource } from './monitor-source.ts';
import { subscriptionsOf } from './open-connection.ts';
import type { Query } from './query.ts';
import { momentText, roundTripText } from './time-text.ts';

/** Subscriptions between two yields. */
const STEP = 64;

interface LeafzRequest {
  readonly withSubscriptions: boolean;
  readonly withRemotes: boolean;
  /** '' asks for those of any. */
  readonly account: string;
}

export function leafz(query: Query, { source, requests, listBytesMax }: MonitorContext): Answer {
  requests.count('/leafz');
  const withSubscriptions = query.boolean('subs');
  const request = { withSubscriptions, withRemotes: query.boolean('remotes'), account: query.text('acc') };
  return answer(request, source, new JsonDocument(listBytesMax));
}

function* answer(request: LeafzRequest, source: MonitorSource, json: JsonDocument): AnswerWork<HttpResponse> {
  json.beginObject();
  yield* writeLeafz(request, source, json);
  json.end();
  return json.isOverfull ? overfullResponse() : jsonResponse(200, yield* json.bytes());
}

/** Writes the members of the page into the open object of the document. */
function* writeLeafz(request: LeafzRequest, source: MonitorSource, json: JsonDocument): AnswerWork {
  const { account, withSubscriptions, withRemotes } = request;
  const { leafNodes } = source;
  const links = leafNodes.linkSnapshots().filter((link) => account === '' || link.account === account);
  const connections = new Map(leafNodes.links().map((link) => [link.id, link]));
  json.members({ server_id: source.id, now: momentText(source.io.clock.wallMs()), leafnodes: links.length });
  json.beginArray('leafs');
  for (const link of links) {
    if (json.isOverfull) break;
    json.beginObject();
    const connection = connections.get(link.id);
    json.members(factsOf(link, connection?.isIsolated === true));
    if (withSubscriptions && connection !== undefined) yield* writeSubjects(subscriptionsOf(connection), json);
    json.members({ compression: link.compression, websocket: link.isWebSocket || undefined });
    json.end();
    yield;
  }
  json.end();
  if (withRemotes) writeRemotes(source, account, json);
}

function writeRemotes({ leafNodes }: MonitorSource, account: string, json: JsonDocument): void {
  json.beginArray('remotes');
  for (const remote of leafNodes.remoteSnapshots()) {
    if (account !== '' && remote.options.account !== account) continue;
    json.beginObject();
    json.members(remoteFacts(remote));
    json.end();
  }
  json.end();
}

function remoteFacts({ options, state, attempts, opens, lastFailure, spool }: LeafRemoteSnapshot): object {
  return {
    account: options.account,
    urls: options.urls.map(({ redactedText }) => redactedText),
    state,
    attempts,
    opens,
    last_error: lastFailure?.text,
    last_error_time: lastFailure === null ? undefined : momentText(lastFailure.wallMs),
    spool: spool === null ? undefined : spoolFacts(spool),
  };
}

function spoolFacts(spool: SpoolStatistics): object {
  const { messages, bytes, oldestWallMs, spooled, forwarded, dropped, refused } = spool;
  const oldest = oldestWallMs === null ? undefined : momentText(oldestWallMs);
  return { messages, bytes, oldest, spooled, forwarded, dropped, refused };
}

function factsOf(link: LeafLinkSnapshot, isIsolated: boolean): object {
  return {
    id: link.id,
    name: link.name,
    is_spoke: link.isSpoke,
    is_isolated: isIsolated ? true : undefined,
    account: link.account,
    ip: link.ip,
    port: link.port,
    rtt: roundTripText(link.rttMs),
    in_msgs: link.inMessages,
    out_msgs: link.outMessages,
    in_bytes: link.inBytes,
    out_bytes: link.outBytes,
    subscriptions: link.subscriptions,
  };
}

function* writeSubjects(subscriptions: Iterable<{ readonly subject: string }>, json: JsonDocument): AnswerWork {
  let count = 0;
  for (const { subject } of subscriptions) {
    if (count === 0) json.beginArray('subscriptions_list');
    json.element(bytesAsText(subject));
    if (++count % STEP === 0) yield;
    if (json.isOverfull) break;
  }
  if (count > 0) json.end();
}
