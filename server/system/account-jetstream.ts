/** What an account has of JetStream, streams and consumers too if they are asked for. */

import type { HttpResponse } from '../io/io.ts';
import type { AnswerWork } from '../monitor/answer-work.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { BadRequest, jsonResponse, overfullResponse } from '../monitor/endpoint.ts';
import { JsonDocument } from '../monitor/json-document.ts';
import { accountFacts, writeStreams } from '../monitor/jsz-account.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import { goQuote } from '../protocol/go-quote.ts';
import type { Given } from './page-option.ts';

/** Throws a BadRequest if the account has nothing of it. */
export function accountJetStream(
  { jetstream, accounts }: MonitorSource,
  bytesMax: number,
  accountName: string,
  given: Given,
): AnswerWork<HttpResponse> {
  const name = bytesAsText(accountName);
  if (jetstream === null) throw new BadRequest('jetstream not enabled');
  if (!accounts.has(name)) throw new BadRequest(`account ${goQuote(name)} not found`);
  const owner = jetstream.accounts.get(name);
  if (owner === undefined) throw new BadRequest(`account ${goQuote(name)} not jetstream enabled`);
  const { streams, consumer, config } = given;
  const detail = { withStreams: streams === true, withConsumers: consumer === true, withConfig: config === true };
  const json = new JsonDocument(bytesMax, 0);
  return (function* write(): AnswerWork<HttpResponse> {
    json.beginObject();
    json.exactMembers(accountFacts(owner));
    if (detail.withStreams && owner.streams.size > 0) yield* writeStreams(owner, detail, json);
    json.end();
    return json.isOverfull ? overfullResponse() : jsonResponse(200, yield* json.bytes());
  })();
}
