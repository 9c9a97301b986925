/**
 * What /metrics says of JetStream: the server's part, each account that has something stored, each stream and consumer,
 * and what the store does to the disk. Nothing, until all that was stored is back.
 */

import type { JetStream } from '../../../jetstream/api/jetstream.ts';
import type { JetStreamAccount } from '../../../jetstream/api/jetstream-account.ts';
import type { StreamEntry } from '../../../jetstream/api/stream-entry.ts';
import { bytesAsText } from '../byte-text.ts';
import type { MonitorSource } from '../monitor-source.ts';
import type { ConsumerLags } from './consumer-lag.ts';
import { describeConsumer } from './consumer-metrics.ts';
import { joined, labels, type MetricText } from './metric-text.ts';
import type { AnswerWork } from '../answer-work.ts';

export function* describeJetStream(text: MetricText, source: MonitorSource, lags: ConsumerLags): AnswerWork {
  const { jetstream, id, name, clientAddress } = source;
  const common = { server_id: id, server_name: name, domain: jetstream?.domain ?? '', is_meta_leader: 'true' };
  const serverLabels = labels(common);
  const isDisabled = jetstream === null ? 1 : 0;
  text.gauge('jetstream_server_jetstream_disabled', '1 if JetStream is off', serverLabels, isDisabled);
  if (jetstream === null || clientAddress === null) return;
  describeServer(text, serverLabels, jetstream);
  describeStore(text, labels({ server_id: id }), jetstream);
  yield;
  for (const owner of jetstream.accounts.values()) {
    if (owner.streams.size > 0) yield* describeAccount(text, serverLabels, owner, lags);
  }
}

function describeServer(text: MetricText, serverLabels: string, { accounts, memoryUse, fileUse }: JetStream): void {
  const owners = [...accounts.values()];
  const streams = owners.flatMap((owner) => [...owner.streams.values()]);
  const sum = (valueOf: (entry: StreamEntry) => number): number =>
    streams.reduce((total, entry) => total + valueOf(entry), 0);
  const gauge = (name: string, help: string, value: number): void => {
    text.gauge(`jetstream_server_${name}`, help, serverLabels, value);
  };
  gauge('total_streams', 'Streams', streams.length);
  gauge(
    'total_consumers',
    'Consumers',
    sum(({ consumers }) => consumers.size),
  );
  gauge(
    'total_messages',
    'Messages in streams',
    sum(({ stream }) => stream.store.messages),
  );
  gauge(
    'total_message_bytes',
    'Bytes of messages in streams',
    sum(({ stream }) => stream.store.bytes),
  );
  gauge('max_memory', 'Bytes that streams in memory may take', memoryUse.bytesMax);
  gauge('max_storage', 'Bytes that streams on disk may take', fileUse.bytesMax);
}

/** Small devices wear out by what is written. */
function describeStore(text: MetricText, serverLabels: string, { storage }: JetStream): void {
  const { commitMs, writeErrors } = storage.log.statistics;
  const { bytesGiven, logBytesWritten, fileBytesWritten, compactedBytesWritten } = storage.statistics;
  const counter = (name: string, help: string, own: string, value: number): void => {
    text.counter(name, help, joined(serverLabels, own), value);
  };
  const latency = 'Time from the write of a batch of the commit log to its being durable';
  text.histogram('petiole_commit_latency_seconds', latency, serverLabels, commitMs);
  counter('petiole_commit_write_errors_total', 'Writes of the commit log that failed', '', writeErrors);
  counter('petiole_store_payload_bytes_total', 'Bytes of headers and payloads given to streams', '', bytesGiven);
  const written = 'Bytes written to the commit log, and to blocks, indexes and checkpoints';
  counter('petiole_store_written_bytes_total', written, 'to="log"', logBytesWritten);
  counter('petiole_store_written_bytes_total', written, 'to="files"', fileBytesWritten);
  const compacted = 'Bytes of what was written to files that was written anew to give space back';
  counter('petiole_store_compacted_bytes_total', compacted, '', compactedBytesWritten);
  if (bytesGiven === 0) return;
  const ratio = (logBytesWritten + fileBytesWritten) / bytesGiven;
  const perByte = 'Bytes written since the start for each byte of header and payload';
  text.gauge('petiole_store_written_bytes_per_payload_byte', perByte, serverLabels, ratio);
}

function* describeAccount(
  text: MetricText,
  serverLabels: string,
  owner: JetStreamAccount,
  lags: ConsumerLags,
): AnswerWork {
  const account = owner.account.name;
  const accountLabels = joined(serverLabels, labels({ account, account_name: account, account_id: account }));
  const gauge = (name: string, help: string, value: number): void => {
    text.gauge(`jetstream_account_${name}`, help, accountLabels, value);
  };
  gauge('max_memory', 'Bytes set aside in memory', owner.reservedBytes('memory'));
  gauge('max_storage', 'Bytes set aside on disk', owner.reservedBytes('file'));
  gauge('memory_used', 'Bytes of streams in memory', owner.bytes('memory'));
  gauge('storage_used', 'Bytes of streams on disk', owner.bytes('file'));
  text.counter('petiole_account_api_requests_total', 'Requests to the JetStream API', accountLabels, owner.apiTotal);
  text.counter('petiole_account_api_errors_total', 'Those that were refused', accountLabels, owner.apiErrors);
  // Those that are there now: one that is deleted and made again meanwhile must not show twice.
  const entries = [...owner.streams.values()];
  for (const entry of entries) {
    yield* describeStream(text, accountLabels, entry, lags);
    yield;
  }
}

function* describeStream(text: MetricText, accountLabels: string, entry: StreamEntry, lags: ConsumerLags): AnswerWork {
  const { stream, consumers } = entry;
  const { store, config, host } = stream;
  const all = joined(accountLabels, labels({ stream_name: bytesAsText(stream.name), is_stream_leader: 'true' }));
  const gauge = (name: string, help: string, value: number): void => {
    text.gauge(`jetstream_stream_${name}`, help, all, value);
  };
  gauge('total_messages', 'Messages in the stream', store.messages);
  gauge('total_bytes', 'Bytes of messages in the stream', store.bytes);
  gauge('limit_messages', 'Messages that it may have; -1 for any number', config.maxMsgs);
  gauge('limit_bytes', 'Bytes that it may have; -1 for any number', config.maxBytes);
  gauge('first_seq', 'Sequence of the first message', store.messages === 0 ? 0 : store.firstSequence);
  gauge('last_seq', 'Sequence of the last message', store.lastSequence);
  gauge('consumer_count', 'Consumers of the stream', consumers.size);
  gauge('subject_count', 'Subjects that have messages', store.subjects.live);
  const present = [...consumers.values()];
  for (const consumer of present) {
    const lag = yield* lags.lagOf(consumer);
    describeConsumer(text, all, consumer, lag, host.io.clock.wallMs());
    yield;
  }
}
