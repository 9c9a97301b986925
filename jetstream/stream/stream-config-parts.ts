/**
 * The objects within a stream's configuration, each as the API has it: where a stream's messages come from, how their
 * subjects change, where its replicas live, what its consumers may ask for.
 */

import {
  goBool,
  goDuration,
  goInt,
  goList,
  goPointer,
  goString,
  goTime,
  goUint64,
} from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import type { Nanoseconds } from '../../server/protocol/nanoseconds.ts';
import type { Timestamp } from '../../server/protocol/rfc3339.ts';

export interface Placement {
  readonly cluster: string;
  readonly tags: readonly string[] | null;
  readonly preferred: string;
}

export interface SubjectTransform {
  readonly source: string;
  readonly destination: string;
}

export interface Republish extends SubjectTransform {
  readonly headersOnly: boolean;
}

/** A mirror's origin, or one of the streams that a stream draws from. */
export interface StreamSource {
  readonly name: string;
  readonly optStartSeq: number;
  readonly optStartTime: Timestamp | null;
  readonly filterSubject: string;
  readonly subjectTransforms: readonly SubjectTransform[] | null;
  readonly external: ExternalStream | null;
  readonly consumer: SourceConsumer | null;
}

/** A stream of another account or domain. */
export interface ExternalStream {
  readonly apiPrefix: string;
  readonly deliverPrefix: string;
}

/** A durable consumer that somebody made for a stream to draw from. */
export interface SourceConsumer {
  readonly name: string;
  readonly deliverSubject: string;
}

/** What consumers get that ask for nothing, and the most they may ask for; 0 says nothing. */
export interface ConsumerLimits {
  readonly inactiveThresholdNs: Nanoseconds;
  readonly maxAckPending: number;
}

export const placementType: GoStruct<Placement> = new GoStruct('server.Placement', [
  field('cluster', 'cluster', goString, 'omitempty'),
  field('tags', 'tags', goList(goString), 'omitempty'),
  field('preferred', 'preferred', goString, 'omitempty'),
]);

export const subjectTransformType: GoStruct<SubjectTransform> = new GoStruct('server.SubjectTransformConfig', [
  field('src', 'source', goString),
  field('dest', 'destination', goString),
]);

export const republishType: GoStruct<Republish> = new GoStruct('server.RePublish', [
  field('src', 'source', goString, 'omitempty'),
  field('dest', 'destination', goString),
  field('headers_only', 'headersOnly', goBool, 'omitempty'),
]);

const externalStreamType: GoStruct<ExternalStream> = new GoStruct('server.ExternalStream', [
  field('api', 'apiPrefix', goString),
  field('deliver', 'deliverPrefix', goString),
]);

const sourceConsumerType: GoStruct<SourceConsumer> = new GoStruct('server.StreamConsumerSource', [
  field('name', 'name', goString, 'omitempty'),
  field('deliver_subject', 'deliverSubject', goString, 'omitempty'),
]);

export const streamSourceType: GoStruct<StreamSource> = new GoStruct('server.StreamSource', [
  field('name', 'name', goString),
  field('opt_start_seq', 'optStartSeq', goUint64, 'omitempty'),
  field('opt_start_time', 'optStartTime', goTime, 'omitempty'),
  field('filter_subject', 'filterSubject', goString, 'omitempty'),
  field('subject_transforms', 'subjectTransforms', goList(subjectTransformType), 'omitempty'),
  field('external', 'external', goPointer(externalStreamType), 'omitempty'),
  field('consumer', 'consumer', goPointer(sourceConsumerType), 'omitempty'),
]);

export const consumerLimitsType: GoStruct<ConsumerLimits> = new GoStruct('server.StreamConsumerLimits', [
  field('inactive_threshold', 'inactiveThresholdNs', goDuration, 'omitempty'),
  field('max_ack_pending', 'maxAckPending', goInt, 'omitempty'),
]);
