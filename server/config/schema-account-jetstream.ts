/** `jetstream` of an account: whether it has JetStream, and how much of it. */

import { goQuote } from '../protocol/go-quote.ts';
import { type AccountJetStreamOptions, UNLIMITED_JETSTREAM } from './account-options.ts';
import { goString, goValue } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key, SupportedKey } from './key.ts';
import { safeNumber } from './reading.ts';
import type { Reading } from './reading.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

type LimitsDraft = { -readonly [K in keyof AccountJetStreamOptions]: AccountJetStreamOptions[K] };
type Size = Exclude<keyof AccountJetStreamOptions, 'isMaxBytesRequired'>;

const limits = new Keys<LimitsDraft>(null);

function size(name: string, option: Size, doc: string, aliases: readonly string[] = []): SupportedKey<LimitsDraft> {
  return limits.custom(
    name,
    'integer',
    { aliases, default: '-1', live: 'Accounts', doc },
    (draft, node, reading, written) => {
      const { value } = node;
      if (typeof value === 'bigint') draft[option] = safeNumber(value);
      else reading.error(node.place, `Expected a parseable size for ${goQuote(written)}, got ${goValue(value)}`);
    },
  );
}

export const ACCOUNT_JETSTREAM_KEYS: readonly Key<LimitsDraft>[] = [
  size('max_memory', 'memoryBytes', 'Bytes that streams in memory may hold.', ['max_mem', 'mem', 'memory']),
  size('max_store', 'fileBytes', 'Bytes that streams on disk may hold.', ['max_file', 'max_disk', 'store', 'disk']),
  size('max_streams', 'streams', 'How many streams there may be.', ['streams']),
  size('max_consumers', 'consumers', 'How many consumers a stream may have.', ['consumers']),
  size('max_ack_pending', 'ackPending', 'How many messages a consumer may have unacknowledged.'),
  size('mem_max_stream_bytes', 'memoryStreamBytes', 'Bytes of one stream in memory.', ['memory_max_stream_bytes']),
  size('disk_max_stream_bytes', 'fileStreamBytes', 'Bytes of one stream on disk.', ['store_max_stream_bytes']),
  limits.custom(
    'max_bytes_required',
    'boolean',
    {
      aliases: ['max_stream_bytes', 'max_bytes'],
      default: 'false',
      live: 'Accounts',
      doc: 'Streams have to say how many bytes they may hold.',
    },
    (draft, node, reading, name) => {
      const { value } = node;
      if (typeof value === 'boolean') draft.isMaxBytesRequired = value;
      else reading.error(node.place, `Expected a parseable bool for ${goQuote(name)}, got ${goValue(value)}`);
    },
  ),
  absent('cluster_traffic', 'system or owner', {
    accepts: ['system', ''],
    default: 'system',
    live: 'Accounts',
    doc: 'Account in which the replicas of its streams talk.',
  }),
];

/** What the account may have of JetStream; `null` for nothing. */
export function readAccountJetStream(node: ConfigNode, reading: Reading): AccountJetStreamOptions | null {
  const { value, place } = node;
  if (typeof value === 'boolean') return value ? UNLIMITED_JETSTREAM : null;
  if (typeof value === 'string') {
    const word = value.toLowerCase();
    if (word === 'enabled' || word === 'enable') return UNLIMITED_JETSTREAM;
    if (word !== 'disabled' && word !== 'disable') {
      reading.error(place, `Expected 'enabled' or 'disabled' for string value, got '${goString(value)}'`);
    }
    return null;
  }
  if (!isMap(value)) {
    reading.error(place, `Expected map, bool or string to define JetStream, got ${goType(value)}`);
    return null;
  }
  const read: LimitsDraft = { ...UNLIMITED_JETSTREAM };
  readEntries(ACCOUNT_JETSTREAM_KEYS, value, read, reading);
  return read;
}
