/**
 * `jetstream` and `store_dir`. The block turns JetStream on unless it says `enabled: false`; the folder may be named in
 * the block or at the top, not both.
 *
 * Sizes may be integers with suffixes as everywhere, or strings with one of `K M G T`, which here are powers of 1024.
 */

import { formatDuration } from './duration.ts';
import type { Draft, JetStreamDraft } from './draft.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { goString, goValue } from './go-text.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import { safeNumber } from './reading.ts';
import type { Reading } from './reading.ts';
import { ABSENT_JETSTREAM_KEYS } from './schema-jetstream-absent.ts';
import { JETSTREAM_LIMITS_KEYS } from './schema-jetstream-limits.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const block = new Keys<JetStreamDraft>((options) => options.jetstream);

export const JETSTREAM_BLOCK_KEYS: readonly Key<JetStreamDraft>[] = [
  block.custom(
    'enabled',
    'boolean',
    { aliases: ['enable'], default: 'true', live: 'JetStream', doc: 'Whether JetStream runs.' },
    (draft, node, reading) => {
      draft.isEnabled = reading.boolean(node) ?? draft.isEnabled;
    },
  ),
  block.custom(
    'store_dir',
    'string',
    { aliases: ['storedir', 'store'], restart: 'StoreDir', doc: 'Folder under which everything is kept.' },
    readStoreDirectory,
  ),
  block.custom(
    'max_memory_store',
    'size',
    {
      aliases: ['max_mem_store', 'max_mem'],
      live: 'JetStreamMaxMemory',
      doc: 'Bytes that streams in memory may hold; three quarters of the memory if not given.',
      value: (options) => options.jetstream.maxMemoryBytes ?? -1,
    },
    (draft, node, reading) => {
      draft.maxMemoryBytes = readSize(node, reading, 'max_mem_store') ?? draft.maxMemoryBytes;
    },
  ),
  block.custom(
    'max_file_store',
    'size',
    {
      aliases: ['max_file'],
      live: 'JetStreamMaxStore',
      doc: 'Bytes that streams on disk may hold; three quarters of the free space if not given.',
      value: (options) => options.jetstream.maxFileBytes ?? -1,
    },
    (draft, node, reading) => {
      draft.maxFileBytes = readSize(node, reading, 'max_file_store') ?? draft.maxFileBytes;
    },
  ),
  block.string('domain', 'domain', {
    restart: 'JetStreamDomain',
    doc: 'Name under which this JetStream is reached from elsewhere.',
  }),
  block.custom(
    'strict',
    'boolean',
    {
      default: 'true',
      restart: 'NoJetStreamStrict',
      doc: 'Refuses requests with unknown fields.',
      value: (options) => !options.jetstream.isStrict,
    },
    (draft, node, reading) => {
      if (typeof node.value === 'boolean') draft.isStrict = node.value;
      else reading.error(node.place, `Expected 'true' or 'false' for bool value, got '${goString(node.value)}'`);
    },
  ),
  block.custom(
    'sync_interval',
    'duration or always',
    {
      aliases: ['sync'],
      default: 'always',
      restart: 'SyncInterval',
      doc: 'How often what was written is synced; always acknowledges nothing before it is.',
      value: (options) => formatDuration(options.jetstream.syncIntervalMs),
      also: [{ field: 'SyncAlways', value: (options) => options.jetstream.syncsAlways }],
    },
    (draft, node, reading, name) => {
      draft.syncsAlways = typeof node.value === 'string' && node.value.toLowerCase() === 'always';
      if (!draft.syncsAlways) draft.syncIntervalMs = reading.duration(node, name) ?? draft.syncIntervalMs;
    },
  ),
  block.custom(
    'max_buffered_msgs',
    'integer',
    {
      default: '100000',
      restart: 'StreamMaxBufferedMsgs',
      doc: 'How many messages may wait to be stored in one stream.',
      value: (options) => options.jetstream.maxBufferedMessages,
    },
    (draft, node, reading, name) => {
      draft.maxBufferedMessages = readCount(node, reading, name) ?? draft.maxBufferedMessages;
    },
  ),
  block.custom(
    'max_buffered_size',
    'size',
    {
      default: '128mb',
      restart: 'StreamMaxBufferedSize',
      doc: 'How many bytes may wait to be stored in one stream.',
      value: (options) => options.jetstream.maxBufferedBytes,
    },
    (draft, node, reading, name) => {
      draft.maxBufferedBytes = readSize(node, reading, name.toLowerCase()) ?? draft.maxBufferedBytes;
    },
  ),
  block.custom(
    'request_queue_limit',
    'integer',
    {
      default: '10000',
      restart: 'JetStreamRequestQueueLimit',
      doc: 'How many API requests may wait to be answered.',
      value: (options) => options.jetstream.requestQueueLimit,
    },
    (draft, node, reading, name) => {
      draft.requestQueueLimit = readCount(node, reading, name) ?? draft.requestQueueLimit;
    },
  ),
  block.custom(
    'info_queue_limit',
    'integer',
    {
      restart: 'JetStreamInfoQueueLimit',
      doc: 'How many API requests that only ask may wait; request_queue_limit if not given.',
      value: (options) => options.jetstream.infoQueueLimit,
    },
    (draft, node, reading, name) => {
      draft.infoQueueLimit = readCount(node, reading, name) ?? draft.infoQueueLimit;
    },
  ),
  block.custom(
    'limits',
    'map',
    { live: 'JetStreamLimits', doc: 'What streams and consumers may ask for.' },
    (draft, node, reading) => {
      if (isMap(node.value)) readEntries(JETSTREAM_LIMITS_KEYS, node.value, draft.limits, reading);
      else reading.error(node.place, `Expected a map to define JetStreamLimits, got ${goType(node.value)}`);
    },
  ),
  ...ABSENT_JETSTREAM_KEYS,
];

const keys = new Keys<Draft>((options) => options);

export const JETSTREAM_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'jetstream',
    'boolean, enabled, disabled or map',
    {
      default: 'false',
      live: 'JetStream',
      doc: 'Keeps messages: streams and consumers.',
      value: (options) => options.jetstream.isEnabled,
    },
    readJetStream,
  ),
  keys.custom(
    'store_dir',
    'string',
    {
      aliases: ['storedir'],
      restart: 'StoreDir',
      doc: 'Folder under which everything is kept.',
      value: (options) => options.jetstream.storeDirectory ?? '',
    },
    (draft, node, reading) => {
      readStoreDirectory(draft.jetstream, node, reading);
    },
  ),
];

function readJetStream(draft: Draft, node: ConfigNode, reading: Reading): void {
  const { value, place } = node;
  if (typeof value === 'boolean') {
    draft.jetstream.isEnabled = value;
  } else if (typeof value === 'string') {
    const word = value.toLowerCase();
    const isKnown = ['enabled', 'enable', 'disabled', 'disable'].includes(word);
    if (isKnown) draft.jetstream.isEnabled = word.startsWith('en');
    else reading.error(place, `Expected 'enabled' or 'disabled' for string value, got '${value}'`);
  } else if (isMap(value)) {
    draft.jetstream.isEnabled = true;
    reading.blaming(place, () => readEntries(JETSTREAM_BLOCK_KEYS, value, draft.jetstream, reading));
  } else {
    reading.error(place, `Expected map, bool or string to define JetStream, got ${goType(value)}`);
  }
}

function readStoreDirectory(draft: JetStreamDraft, node: ConfigNode, reading: Reading): void {
  if (draft.storeDirectory !== null) {
    reading.error(node.place, "Duplicate 'store_dir' configuration");
    return;
  }
  const path = reading.string(node);
  if (path !== null && path !== '') draft.storeDirectory = path;
}

/** Bytes; null, with an error about `name`, if it is no size. */
function readSize({ value, place }: ConfigNode, reading: Reading, name: string): number | null {
  if (typeof value === 'bigint') return safeNumber(value);
  const size = typeof value === 'string' ? sizeOf(value) : 'must be int64 or string';
  if (typeof size === 'number') return size;
  reading.error(place, `${name} ${size}`);
  return null;
}

const INT64_MAX = 2n ** 63n - 1n;

/** Bytes of a size written as a string, or what is wrong with it. */
function sizeOf(text: string): number | string {
  if (text === '') return 0;
  const digits = text.slice(0, -1);
  const failed = `strconv.ParseInt: parsing ${goQuote(digits)}: `;
  if (!/^[-+]?\d+$/.test(digits)) return `${failed}invalid syntax`;
  const count = BigInt(digits.replace('+', ''));
  if (count > INT64_MAX || count < -INT64_MAX - 1n) return `${failed}value out of range`;
  const power = ['K', 'M', 'G', 'T'].indexOf(text.slice(-1)) + 1;
  if (power === 0) return 'sizes defined as strings must end in K, M, G, T';
  return safeNumber(count * 1024n ** BigInt(power));
}

function readCount({ value, place }: ConfigNode, reading: Reading, name: string): number | null {
  if (typeof value === 'bigint') return safeNumber(value);
  reading.error(place, `Expected a parseable size for ${goQuote(name)}, got ${goValue(value)}`);
  return null;
}
