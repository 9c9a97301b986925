/**
 * Limits and times of client connections, and how the server takes leave of them.
 */

import { formatDuration } from './duration.ts';
import type { Draft } from './draft.ts';
import { absent, Keys } from './key.ts';
import type { Key } from './key.ts';
import type { WriteTimeoutPolicy } from './options.ts';
import type { Reading } from './reading.ts';
import type { ConfigNode } from './tree.ts';

const keys = new Keys<Draft>((options) => options);

const INT32_MAX = 2 ** 31 - 1;
const SUBSCRIPTION_TOKENS_MAX = 255;
const LAME_DUCK_MIN_MS = 30_000;

export const LIMIT_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'max_connections',
    'integer',
    {
      aliases: ['max_conn'],
      default: '64kb',
      live: 'MaxConn',
      doc: 'How many clients may be connected; 0 refuses all.',
      value: (options) => options.maxConnections,
    },
    (draft, node, reading) => {
      const count = reading.integer(node);
      if (count !== null) draft.maxConnections = count === 0 ? -1 : count;
    },
  ),
  keys.integer('max_subscriptions', 'maxSubscriptions', {
    aliases: ['max_subs'],
    default: '0',
    restart: 'MaxSubs',
    doc: 'How many subscriptions one connection may have; 0 sets no limit.',
  }),
  keys.custom(
    'max_sub_tokens',
    'integer',
    {
      aliases: ['max_subscription_tokens'],
      restart: 'MaxSubTokens',
      doc: 'How many tokens the subject of a subscription may have, 1 to 255.',
      value: (options) => options.maxSubscriptionTokens,
    },
    (draft, node, reading, name) => {
      const count = reading.integer(node);
      if (count === null) return;
      if (count > SUBSCRIPTION_TOKENS_MAX) reading.error(node.place, `${name} value is too big`);
      else if (count <= 0) reading.error(node.place, `${name} value can not be negative`);
      else draft.maxSubscriptionTokens = count;
    },
  ),
  keys.custom(
    'max_control_line',
    'size',
    {
      default: '4kb',
      live: 'MaxControlLine',
      doc: 'Bytes that a protocol line may have.',
      value: (options) => options.maxControlLineBytes,
    },
    (draft, node, reading, name) => {
      draft.maxControlLineBytes = int32(node, reading, name) ?? draft.maxControlLineBytes;
    },
  ),
  keys.custom(
    'max_payload',
    'size',
    {
      default: '1mb',
      live: 'MaxPayload',
      doc: 'Bytes that a message may have, headers included.',
      value: (options) => options.maxPayloadBytes,
    },
    (draft, node, reading, name) => {
      draft.maxPayloadBytes = int32(node, reading, name) ?? draft.maxPayloadBytes;
    },
  ),
  keys.integer('max_pending', 'maxPendingBytes', {
    type: 'size',
    default: '64mb',
    restart: 'MaxPending',
    doc: 'Bytes that may wait for a client before it is closed as a slow consumer.',
  }),
  keys.integer('max_closed_clients', 'maxClosedClients', {
    default: '10000',
    restart: 'MaxClosedClients',
    doc: 'How many closed connections monitoring remembers.',
  }),
  keys.duration('ping_interval', 'pingIntervalMs', {
    default: '2m',
    live: 'PingInterval',
    doc: 'How often a quiet client is pinged.',
  }),
  keys.integer('ping_max', 'maxPingsOut', {
    default: '2',
    live: 'MaxPingsOut',
    doc: 'How many pings may go unanswered before the connection is closed as stale.',
  }),
  keys.duration('write_deadline', 'writeDeadlineMs', {
    default: '10s',
    live: 'WriteDeadline',
    doc: 'How long a write to a client may take.',
  }),
  keys.custom(
    'write_timeout',
    'default, close or retry',
    {
      default: 'default',
      restart: 'WriteTimeout',
      doc: 'What happens to a connection whose write takes too long: clients are closed, links retried by default.',
      value: (options) => shownPolicy(options.writeTimeoutPolicy),
    },
    (draft, node, reading) => {
      draft.writeTimeoutPolicy = readWriteTimeoutPolicy(node, reading) ?? draft.writeTimeoutPolicy;
    },
  ),
  keys.negation('no_fast_producer_stall', 'stallsFastProducers', {
    default: 'false',
    live: 'NoFastProducerStall',
    doc: 'Never delays clients that publish faster than a receiver takes.',
  }),
  keys.custom(
    'lame_duck_duration',
    'duration',
    {
      default: '2m',
      restart: 'LameDuckDuration',
      doc: 'Over how long lame duck mode spreads the closing of clients, 30s at least.',
      value: (options) => formatDuration(options.lameDuckDurationMs),
    },
    (draft, node, reading, name) => {
      const ms = reading.durationText(node, name);
      if (ms === null) return;
      if (ms >= LAME_DUCK_MIN_MS) draft.lameDuckDurationMs = ms;
      else reading.error(node.place, `invalid ${name} of ${formatDuration(ms)}, minimum is 30 seconds`);
    },
  ),
  keys.custom(
    'lame_duck_grace_period',
    'duration',
    {
      default: '10s',
      restart: 'LameDuckGracePeriod',
      doc: 'How long lame duck mode waits before it closes the first client.',
      value: (options) => formatDuration(options.lameDuckGraceMs),
    },
    (draft, node, reading, name) => {
      const ms = reading.durationText(node, name);
      if (ms === null) return;
      if (ms >= 0) draft.lameDuckGraceMs = ms;
      else reading.error(node.place, `invalid ${name}, needs to be positive`);
    },
  ),
  keys.negation('disable_sublist_cache', 'hasSublistCache', {
    aliases: ['no_sublist_cache'],
    default: 'false',
    restart: 'NoSublistCache',
    doc: 'Matches every subject afresh.',
  }),
  keys.negation('no_header_support', 'supportsHeaders', {
    default: 'false',
    restart: 'NoHeaderSupport',
    doc: 'Takes no messages with headers.',
  }),
  absent('proxy_protocol', 'boolean', {
    accepts: [false],
    default: 'false',
    restart: 'ProxyProtocol',
    doc: 'Expects a PROXY protocol header from each client.',
  }),
];

function int32(node: ConfigNode, reading: Reading, name: string): number | null {
  const number = reading.integer(node);
  if (number === null || number <= INT32_MAX) return number;
  reading.error(node.place, `${name} value is too big`);
  return null;
}

/** The policy as messages about a change show it. */
export function shownPolicy(policy: WriteTimeoutPolicy): string {
  return policy === 'default' ? '' : policy;
}

/** The policy; null, with an error, if it is none. */
export function readWriteTimeoutPolicy(node: ConfigNode, reading: Reading): WriteTimeoutPolicy | null {
  const text = reading.string(node);
  if (text === 'default' || text === 'close' || text === 'retry') return text;
  if (text !== null) reading.error(node.place, "write_timeout must be 'default', 'close' or 'retry'");
  return null;
}
