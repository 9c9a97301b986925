/** What an account's limits refuse; the default account has none, so there is nothing to lay beside nats-server yet. */
import { type AccountJetStreamOptions, UNLIMITED_JETSTREAM } from '../../server/config/account-options.ts';
import { describe, expect, it } from 'vitest';
import {
  accountLimitsJson,
  checkStreamCount,
  checkStreamRoom,
  consumerLimits,
  consumersMax,
} from '../../jetstream/api/account-limits.ts';
import type { ApiContext } from '../../jetstream/api/api-handler.ts';
import type { StreamEntry } from '../../jetstream/api/stream-entry.ts';
import { ApiErrors } from '../../jetstream/errors.ts';
import type { StreamConfig } from '../../jetstream/stream/stream-config.ts';
import type { Stream } from '../../jetstream/stream/stream.ts';

interface Circumstances {
  readonly limits?: Partial<AccountJetStreamOptions>;
  /** Bytes that streams have set aside, and their number. */
  readonly reserved?: number;
  readonly streams?: readonly string[];
  /** Whether the disk takes messages. */
  readonly diskTakes?: boolean;
}

/** A server that has 1000 bytes of each kind. */
function contextOf({ limits = {}, reserved = 0, streams = [], diskTakes = true }: Circumstances): ApiContext {
  const owner = {
    limits: { ...UNLIMITED_JETSTREAM, ...limits },
    streams: new Map(streams.map((name) => [name, {}])),
    reservedBytes: () => reserved,
  };
  const jetstream = {
    fileUse: { bytes: 0, bytesMax: 1000 },
    memoryUse: { bytes: 0, bytesMax: 1000 },
    storage: { log: { acceptsMessages: diskTakes }, files: { writeError: null } },
    options: { limits: { maxAckPending: 50, maxRequestBatch: 0, duplicateWindowMs: 0, defaultMaxConsumers: 7 } },
  };
  return { jetstream, owner } as unknown as ApiContext;
}

function config(fields: Partial<StreamConfig>): StreamConfig {
  return { storage: 'file', maxBytes: -1, maxConsumers: -1, ...fields } as StreamConfig;
}

describe('an account', () => {
  it('has so many streams, and the one that is made again is one of them', () => {
    const { owner } = contextOf({ limits: { streams: 2 }, streams: ['a', 'b'] });
    expect(checkStreamCount(owner, 'c')).toBe(ApiErrors.maximumStreamsLimit);
    expect(checkStreamCount(owner, 'a')).toBeNull();
    expect(checkStreamCount(contextOf({ streams: ['a', 'b'] }).owner, 'c')).toBeNull();
  });

  it.each([
    ['what fits', { limits: { fileBytes: 500 }, reserved: 400 }, { maxBytes: 100 }, null],
    ['a byte too much', { limits: { fileBytes: 500 }, reserved: 400 }, { maxBytes: 101 }, 'storageResourcesExceeded'],
    ['a byte of none', { limits: { fileBytes: 0 } }, {}, 'storageResourcesExceeded'],
    ['more than the server has', { reserved: 900 }, { maxBytes: 101 }, 'storageResourcesExceeded'],
    ['nothing, of a full server', { reserved: 1000 }, {}, 'storageResourcesExceeded'],
    ['nothing, of a server that is not full', { reserved: 999 }, {}, null],
    [
      'too much memory',
      { limits: { memoryBytes: 10 } },
      { storage: 'memory', maxBytes: 11 },
      'memoryResourcesExceeded',
    ],
    ['anything on a disk that takes nothing', { diskTakes: false }, {}, 'storageResourcesExceeded'],
    ['memory while the disk takes nothing', { diskTakes: false }, { storage: 'memory' }, null],
    ['files when memory is short', { limits: { memoryBytes: 10 } }, { maxBytes: 11 }, null],
    ['more consumers than it has', { limits: { consumers: 3 } }, { maxConsumers: 4 }, 'maximumConsumersLimit'],
    ['as many consumers as it has', { limits: { consumers: 3 } }, { maxConsumers: 3 }, null],
  ] as const)('lets a new stream set aside %s, or not', (_title, circumstances, fields, refusal) => {
    const error = checkStreamRoom(contextOf(circumstances), config(fields), null);
    expect(error).toBe(refusal === null ? null : ApiErrors[refusal]);
  });

  it('counts only what a stream asks for beyond what it has', () => {
    const current = { config: config({ maxBytes: 300 }) } as Stream;
    const context = contextOf({ limits: { fileBytes: 500 }, reserved: 500 });
    expect(checkStreamRoom(context, config({ maxBytes: 300 }), current)).toBeNull();
    expect(checkStreamRoom(context, config({ maxBytes: 301 }), current)).toBe(ApiErrors.storageResourcesExceeded);
    expect(checkStreamRoom(context, config({}), current)).toBeNull();
  });

  it.each([
    [{}, -1, 7],
    [{}, 3, 3],
    [{ consumers: 5 }, -1, 5],
    [{ consumers: 5 }, 9, 5],
    [{ consumers: 5 }, 2, 2],
  ])('with %o gives a stream with max_consumers %i up to %i consumers', (limits, maxConsumers, max) => {
    const entry = { stream: { config: config({ maxConsumers }) } } as StreamEntry;
    expect(consumersMax(contextOf({ limits }), entry)).toBe(max);
  });

  it.each([
    [-1, 50],
    [20, 20],
    [80, 50],
  ])('with max_ack_pending %i lets consumers have %i', (ackPending, max) => {
    expect(consumerLimits(contextOf({ limits: { ackPending } }))).toMatchObject({ maxAckPending: max });
  });

  it('tells its limits', () => {
    expect(accountLimitsJson({ ...UNLIMITED_JETSTREAM, streams: 5, isMaxBytesRequired: true })).toEqual({
      max_memory: -1,
      max_storage: -1,
      max_streams: 5,
      max_consumers: -1,
      max_ack_pending: -1,
      memory_max_stream_bytes: -1,
      storage_max_stream_bytes: -1,
      max_bytes_required: true,
    });
  });
});
