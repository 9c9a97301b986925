/**
 * `limits` in `jetstream`: what streams and consumers may ask for.
 */

import { formatDuration } from './duration.ts';
import type { JetStreamLimitsDraft } from './draft.ts';
import { absent, absentRows, Keys } from './key.ts';
import type { Key } from './key.ts';

const limits = new Keys<JetStreamLimitsDraft>((options) => options.jetstream.limits);

export const JETSTREAM_LIMITS_KEYS: readonly Key<JetStreamLimitsDraft>[] = [
  limits.integer('max_ack_pending', 'maxAckPending', {
    live: 'JetStreamLimits',
    doc: 'How many messages a consumer may have unacknowledged.',
  }),
  limits.integer('max_request_batch', 'maxRequestBatch', {
    live: 'JetStreamLimits',
    doc: 'How many messages one pull may ask for.',
  }),
  limits.integer('default_max_consumers', 'defaultMaxConsumers', {
    default: '1000',
    live: 'JetStreamLimits',
    doc: 'How many consumers a stream may have that sets no number itself; -1 sets no limit.',
  }),
  limits.custom(
    'duplicate_window',
    'duration',
    {
      live: 'JetStreamLimits',
      doc: 'How long a stream may remember message ids.',
      value: (options) => formatDuration(options.jetstream.limits.duplicateWindowMs),
    },
    (draft, node, reading, name) => {
      draft.duplicateWindowMs = reading.durationText(node, name) ?? draft.duplicateWindowMs;
    },
  ),
  absent('max_ha_assets', 'integer', {
    accepts: [0n],
    live: 'JetStreamLimits',
    doc: 'How many replicated streams and consumers this server may hold.',
  }),
  absent('batch', 'map', {
    acceptsEmpty: true,
    live: 'JetStreamLimits',
    doc: 'Limits of atomic batches.',
    keys: absentRows(
      { live: 'JetStreamLimits' },
      {
        max_inflight_per_stream: ['integer', 'How many batches may be open on one stream.', 50n],
        max_inflight_total: ['integer', 'How many batches may be open on this server.', 1_000n],
        max_msgs: ['integer', 'How many messages a batch may have.', 1_000n],
        timeout: ['duration', 'How long a batch may stay open.', '10s'],
      },
    ),
  }),
];
