/**
 * The fields of a consumer's configuration, in the API's order and words, and the level of the API that they need.
 *
 * Names, subjects and texts are strings of bytes. A limit of -1 is none; Infinity is the largest number of the API.
 */

import { type Metadata, storedMetadata } from '../../server/protocol/asset-metadata.ts';
import {
  goBool,
  goDuration,
  goEnumeration,
  goInt,
  goList,
  goString,
  goStringMap,
  goTime,
  goUint64,
} from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import type { Nanoseconds } from '../../server/protocol/nanoseconds.ts';
import { isZeroTime, type Timestamp } from '../../server/protocol/rfc3339.ts';

export type DeliverPolicy = 'all' | 'last' | 'new' | 'by_start_sequence' | 'by_start_time' | 'last_per_subject';
export type AckPolicy = 'none' | 'all' | 'explicit' | 'flow_control';
export type ReplayPolicy = 'instant' | 'original';
export type PriorityPolicy = 'none' | 'overflow' | 'pinned_client' | 'prioritized';
/** `create` refuses a consumer that is there and differs, `update` one that is not there. */
export type ConsumerAction = '' | 'create' | 'update';

export interface ConsumerConfig {
  /** '' for an ephemeral consumer. */
  readonly durableName: string;
  readonly name: string;
  readonly description: string;
  readonly deliverPolicy: DeliverPolicy;
  readonly optStartSeq: number;
  readonly optStartTime: Timestamp | null;
  readonly ackPolicy: AckPolicy;
  readonly ackWaitNs: Nanoseconds;
  readonly maxDeliver: number;
  readonly backoffNs: readonly Nanoseconds[] | null;
  readonly filterSubject: string;
  readonly filterSubjects: readonly string[] | null;
  readonly replayPolicy: ReplayPolicy;
  readonly rateLimitBps: number;
  readonly sampleFreq: string;
  readonly maxWaiting: number;
  readonly maxAckPending: number;
  readonly flowControl: boolean;
  readonly headersOnly: boolean;
  readonly maxRequestBatch: number;
  readonly maxRequestExpiresNs: Nanoseconds;
  readonly maxRequestMaxBytes: number;
  /** '' for a pull consumer. */
  readonly deliverSubject: string;
  readonly deliverGroup: string;
  readonly idleHeartbeatNs: Nanoseconds;
  readonly inactiveThresholdNs: Nanoseconds;
  /** 0 for as many as the stream has. */
  readonly numReplicas: number;
  readonly memStorage: boolean;
  readonly direct: boolean;
  readonly sourcing: boolean;
  readonly metadata: Metadata | null;
  readonly pauseUntil: Timestamp | null;
  readonly priorityGroups: readonly string[] | null;
  readonly priorityPolicy: PriorityPolicy;
  readonly priorityTimeoutNs: Nanoseconds;
}

/** The body of CONSUMER.CREATE and CONSUMER.DURABLE.CREATE. */
export interface ConsumerRequest {
  readonly streamName: string;
  readonly config: ConsumerConfig;
  readonly action: ConsumerAction;
  /** The server is to refuse what it would otherwise adjust. */
  readonly isPedantic: boolean;
}

const deliverPolicyType = goEnumeration<DeliverPolicy>({
  name: 'server.DeliverPolicy',
  values: ['all', 'last', 'new', 'by_start_sequence', 'by_start_time', 'last_per_subject'],
  aliases: new Map([['"undefined"', 'all']]),
});

const ackPolicyType = goEnumeration<AckPolicy>({
  name: 'server.AckPolicy',
  values: ['none', 'all', 'explicit', 'flow_control'],
});

const replayPolicyType = goEnumeration<ReplayPolicy>({
  name: 'server.ReplayPolicy',
  values: ['instant', 'original'],
});

const priorityPolicyType = goEnumeration<PriorityPolicy>({
  name: 'server.PriorityPolicy',
  values: ['none', 'overflow', 'pinned_client', 'prioritized'],
  error: (json) => `unknown priority policy: ${json}`,
});

const actionType = goEnumeration<ConsumerAction>({
  name: 'server.ConsumerAction',
  values: ['', 'create', 'update'],
  error: (json) => `unknown consumer action: ${json}`,
});

export const consumerConfigType: GoStruct<ConsumerConfig> = new GoStruct('server.ConsumerConfig', [
  field('durable_name', 'durableName', goString, 'omitempty'),
  field('name', 'name', goString, 'omitempty'),
  field('description', 'description', goString, 'omitempty'),
  field('deliver_policy', 'deliverPolicy', deliverPolicyType),
  field('opt_start_seq', 'optStartSeq', goUint64, 'omitempty'),
  field('opt_start_time', 'optStartTime', goTime, 'omitempty'),
  field('ack_policy', 'ackPolicy', ackPolicyType),
  field('ack_wait', 'ackWaitNs', goDuration, 'omitempty'),
  field('max_deliver', 'maxDeliver', goInt, 'omitempty'),
  field('backoff', 'backoffNs', goList(goDuration), 'omitempty'),
  field('filter_subject', 'filterSubject', goString, 'omitempty'),
  field('filter_subjects', 'filterSubjects', goList(goString), 'omitempty'),
  field('replay_policy', 'replayPolicy', replayPolicyType),
  field('rate_limit_bps', 'rateLimitBps', goUint64, 'omitempty'),
  field('sample_freq', 'sampleFreq', goString, 'omitempty'),
  field('max_waiting', 'maxWaiting', goInt, 'omitempty'),
  field('max_ack_pending', 'maxAckPending', goInt, 'omitempty'),
  field('flow_control', 'flowControl', goBool, 'omitempty'),
  field('headers_only', 'headersOnly', goBool, 'omitempty'),
  field('max_batch', 'maxRequestBatch', goInt, 'omitempty'),
  field('max_expires', 'maxRequestExpiresNs', goDuration, 'omitempty'),
  field('max_bytes', 'maxRequestMaxBytes', goInt, 'omitempty'),
  field('deliver_subject', 'deliverSubject', goString, 'omitempty'),
  field('deliver_group', 'deliverGroup', goString, 'omitempty'),
  field('idle_heartbeat', 'idleHeartbeatNs', goDuration, 'omitempty'),
  field('inactive_threshold', 'inactiveThresholdNs', goDuration, 'omitempty'),
  field('num_replicas', 'numReplicas', goInt),
  field('mem_storage', 'memStorage', goBool, 'omitempty'),
  field('direct', 'direct', goBool, 'omitempty'),
  field('sourcing', 'sourcing', goBool, 'omitempty'),
  field('metadata', 'metadata', goStringMap, 'omitempty'),
  field('pause_until', 'pauseUntil', goTime, 'omitempty'),
  field('priority_groups', 'priorityGroups', goList(goString), 'omitempty'),
  field('priority_policy', 'priorityPolicy', priorityPolicyType, 'omitempty'),
  field('priority_timeout', 'priorityTimeoutNs', goDuration, 'omitempty'),
]);

export const consumerRequestType: GoStruct<ConsumerRequest> = new GoStruct('server.CreateConsumerRequest', [
  field('stream_name', 'streamName', goString),
  field('config', 'config', consumerConfigType),
  field('action', 'action', actionType),
  field('pedantic', 'isPedantic', goBool, 'omitempty'),
]);

/** The configuration with the server's own metadata as it is stored. */
export function withRequiredLevel(config: ConsumerConfig): ConsumerConfig {
  return { ...config, metadata: storedMetadata(config.metadata, requiredLevel(config)) };
}

/** The level of the API that first had all that `config` uses. */
function requiredLevel(config: ConsumerConfig): number {
  if (config.ackPolicy === 'flow_control') return 4;
  const isPaused = config.pauseUntil !== null && !isZeroTime(config.pauseUntil);
  const hasPriority = config.priorityPolicy !== 'none' || (config.priorityGroups ?? []).length > 0;
  return isPaused || hasPriority || config.priorityTimeoutNs !== 0 ? 1 : 0;
}
