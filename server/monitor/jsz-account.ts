/** One account in /jsz: what it uses, its streams and their consumers, as the API shows them. */

import type { JetStream } from '../../jetstream/api/jetstream.ts';
import type { JetStreamAccount } from '../../jetstream/api/jetstream-account.ts';
import type { StreamEntry } from '../../jetstream/api/stream-entry.ts';
import { consumerInfo, streamInfo } from '../../jetstream/api/stream-info.ts';
import type { Consumer } from '../../jetstream/consumer/consumer.ts';
import type { AnswerWork } from './answer-work.ts';
import type { JsonDocument } from './json-document.ts';

/** Streams looked at between two yields. */
const STEP = 256;
const NO_TIME = '0001-01-01T00:00:00Z';

/** How much of an account is shown. */
export interface JszDetail {
  readonly withStreams: boolean;
  readonly withConsumers: boolean;
  readonly withConfig: boolean;
}

/** What all accounts hold together. */
export interface JszTotals {
  streams: number;
  consumers: number;
  messages: number;
  bytes: number;
}

export function* totalsOf({ accounts }: JetStream): AnswerWork<JszTotals> {
  const totals = { streams: 0, consumers: 0, messages: 0, bytes: 0 };
  for (const owner of accounts.values()) {
    for (const { stream, consumers } of owner.streams.values()) {
      totals.streams++;
      totals.consumers += consumers.size;
      totals.messages += stream.store.messages;
      totals.bytes += stream.store.bytes;
      if (totals.streams % STEP === 0) yield;
    }
  }
  return totals;
}

/** What is reserved for an account is what it may have: nothing less is set aside. */
export function accountFacts(owner: JetStreamAccount): object {
  const { limits, account, apiTotal, apiErrors } = owner;
  return {
    name: account.name,
    id: account.name,
    memory: owner.bytes('memory'),
    storage: owner.bytes('file'),
    reserved_memory: asUnsigned(limits.memoryBytes),
    reserved_storage: asUnsigned(limits.fileBytes),
    // These are of the whole server, and shown by nats-server without a value.
    accounts: 0,
    ha_assets: 0,
    api: { level: 0, total: apiTotal, errors: apiErrors },
  };
}

/** No limit, which is -1, shows as the largest number. */
function asUnsigned(limit: number): bigint {
  return BigInt.asUintN(64, BigInt(limit));
}

export function* writeStreams(owner: JetStreamAccount, detail: JszDetail, json: JsonDocument): AnswerWork {
  const entries = [...owner.streams.values()];
  json.beginArray('stream_detail');
  for (const entry of entries) {
    if (json.isOverfull) break;
    json.beginObject();
    json.bytesMembers(yield* streamMembers(entry, detail.withConfig));
    if (detail.withConsumers && entry.consumers.size > 0) yield* writeConsumers(entry, detail.withConfig, json);
    json.end();
    yield;
  }
  json.end();
}

function* streamMembers(entry: StreamEntry, withConfig: boolean): AnswerWork<object> {
  const { stream } = entry;
  const info = yield* infoOf(entry);
  return {
    name: stream.name,
    created: stream.created,
    cluster: { leader: stream.host.serverName },
    config: withConfig ? info['config'] : undefined,
    state: info['state'],
    mirror: info['mirror'],
    sources: info['sources'],
  };
}

/** Waits for the first message, the time of which is shown. */
function* infoOf(entry: StreamEntry): AnswerWork<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown>[] = [];
  let tell = (): void => undefined;
  streamInfo(entry, 'list', {}, (info) => {
    found.push(info);
    tell();
  });
  if (found.length === 0) {
    yield (resume) => {
      tell = resume;
    };
  }
  return found[0] ?? { state: stateWithoutTimes(entry) };
}

function stateWithoutTimes({ stream, consumers }: StreamEntry): object {
  const { messages, bytes, firstSequence, lastSequence } = stream.store;
  return {
    messages,
    bytes,
    first_seq: firstSequence,
    first_ts: NO_TIME,
    last_seq: lastSequence,
    last_ts: NO_TIME,
    consumer_count: consumers.size,
  };
}

function* writeConsumers({ consumers }: StreamEntry, withConfig: boolean, json: JsonDocument): AnswerWork {
  const present = [...consumers.values()];
  json.beginArray('consumer_detail');
  for (const consumer of present) {
    if (json.isOverfull) break;
    json.bytesElement(yield* consumerMembers(consumer, withConfig));
    yield;
  }
  json.end();
}

function* consumerMembers(consumer: Consumer, withConfig: boolean): AnswerWork<object> {
  const { undelivered } = consumer;
  if (undelivered.isUnknown) yield (resume) => undelivered.whenKnown(resume);
  const info = consumerInfo(consumer, 'list');
  return withConfig ? info : { ...info, config: undefined };
}
