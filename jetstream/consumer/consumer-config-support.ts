/**
 * Which parts of a consumer's configuration petiole has: a row for each field, so that a step that brings a feature
 * changes its row, and adds its rules. A field that it does not have may say only what it says when left out.
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import { STARTING_SEQUENCE_MAX } from '../store/store.ts';
import { consumerConfigType, type ConsumerConfig } from './consumer-config-fields.ts';

/** `whole`: any value; `not yet`: none but the empty one; else which. */
type Support = 'whole' | 'not yet' | ((config: ConsumerConfig) => boolean);

const SUPPORT: Readonly<Record<string, Support>> = {
  durable_name: 'whole',
  name: 'whole',
  description: 'whole',
  deliver_policy: 'whole',
  opt_start_seq: ({ optStartSeq }) => optStartSeq <= STARTING_SEQUENCE_MAX,
  opt_start_time: 'whole',
  ack_policy: 'whole',
  ack_wait: 'whole',
  max_deliver: 'whole',
  backoff: 'whole',
  filter_subject: 'whole',
  filter_subjects: 'whole',
  replay_policy: 'whole',
  rate_limit_bps: 'whole',
  sample_freq: 'whole',
  max_waiting: 'whole',
  max_ack_pending: 'whole',
  flow_control: 'whole',
  headers_only: 'whole',
  max_batch: 'whole',
  max_expires: 'whole',
  max_bytes: 'whole',
  deliver_subject: 'whole',
  deliver_group: 'whole',
  idle_heartbeat: 'whole',
  inactive_threshold: 'whole',
  num_replicas: 'whole',
  mem_storage: 'whole',
  direct: 'whole',
  sourcing: 'whole',
  metadata: 'whole',
  pause_until: 'whole',
  priority_groups: 'whole',
  priority_policy: 'whole',
  priority_timeout: 'whole',
};

/** The error for the first field that asks for more than petiole has; `null` if none does. */
export function unsupportedConsumerField(config: ConsumerConfig): ApiError | null {
  const found = consumerConfigType.fields.find((field) => {
    const support = SUPPORT[field.json];
    if (typeof support === 'function') return !support(config);
    return support !== 'whole' && !field.isEmpty(config);
  });
  return found === undefined ? null : ApiErrors.consumerCreateFailed(`${found.json} not supported by petiole yet`);
}
