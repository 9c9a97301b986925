/**
 * Which parts of a stream's configuration petiole has: a row for each field, so that a step that brings a feature
 * changes its row, and adds its rules. A field that it does not have may say only what it says when left out.
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import { STARTING_SEQUENCE_MAX } from '../store/store.ts';
import { streamConfigType, type StreamConfig } from './stream-config-fields.ts';

/** `whole`: any value; `not yet`: none but the empty one; else which. */
type Support = 'whole' | 'not yet' | ((config: StreamConfig) => boolean);

const SUPPORT: Readonly<Record<string, Support>> = {
  name: 'whole',
  description: 'whole',
  subjects: 'whole',
  retention: 'whole',
  max_consumers: 'whole',
  max_msgs: 'whole',
  max_bytes: 'whole',
  max_age: 'whole',
  max_msgs_per_subject: 'whole',
  max_msg_size: 'whole',
  discard: 'whole',
  storage: 'whole',
  num_replicas: 'whole',
  no_ack: 'whole',
  duplicate_window: 'whole',
  placement: 'not yet',
  mirror: 'whole',
  sources: 'whole',
  compression: 'not yet',
  first_seq: ({ firstSeq }) => firstSeq <= STARTING_SEQUENCE_MAX,
  subject_transform: 'whole',
  republish: 'whole',
  allow_direct: 'whole',
  mirror_direct: 'whole',
  discard_new_per_subject: 'whole',
  sealed: 'whole',
  deny_delete: 'whole',
  deny_purge: 'whole',
  allow_rollup_hdrs: 'whole',
  consumer_limits: 'whole',
  allow_msg_ttl: 'whole',
  subject_delete_marker_ttl: 'whole',
  allow_msg_counter: 'whole',
  allow_atomic: 'whole',
  allow_msg_schedules: 'whole',
  persist_mode: 'whole',
  allow_batched: 'whole',
  metadata: 'whole',
};

/** The error for the first field that asks for more than petiole has; `null` if none does. */
export function unsupportedStreamField(config: StreamConfig): ApiError | null {
  const found = streamConfigType.fields.find((field) => {
    const support = SUPPORT[field.json];
    if (typeof support === 'function') return !support(config);
    return support !== 'whole' && !field.isEmpty(config);
  });
  return found === undefined ? null : ApiErrors.streamInvalidConfig(`${found.json} not supported by petiole yet`);
}
