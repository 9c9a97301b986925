/**
 * The fields of a stream's configuration, in the API's order and words.
 *
 * Names, subjects and texts are strings of bytes. A limit of -1 is none; Infinity is the largest number of the API.
 */

import type { Metadata } from '../../server/protocol/asset-metadata.ts';
import {
  goBool,
  goDuration,
  goEnumeration,
  goInt,
  goInt32,
  goInt64,
  goList,
  goPointer,
  goString,
  goStringMap,
  goUint64,
  type GoType,
} from '../../server/protocol/go-json-schema.ts';
import { embedded, field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import type { Nanoseconds } from '../../server/protocol/nanoseconds.ts';
import {
  consumerLimitsType,
  placementType,
  republishType,
  streamSourceType,
  subjectTransformType,
  type ConsumerLimits,
  type Placement,
  type Republish,
  type StreamSource,
  type SubjectTransform,
} from './stream-config-parts.ts';

export type RetentionPolicy = 'limits' | 'interest' | 'workqueue';
export type DiscardPolicy = 'old' | 'new';
export type StorageKind = 'file' | 'memory';
export type Compression = 'none' | 's2';
export type PersistMode = 'default' | 'async';

export interface StreamConfig {
  readonly name: string;
  readonly description: string;
  readonly subjects: readonly string[];
  readonly retention: RetentionPolicy;
  readonly maxConsumers: number;
  readonly maxMsgs: number;
  readonly maxBytes: number;
  readonly maxAgeNs: Nanoseconds;
  readonly maxMsgsPerSubject: number;
  readonly maxMsgSize: number;
  readonly discard: DiscardPolicy;
  readonly storage: StorageKind;
  readonly numReplicas: number;
  readonly noAck: boolean;
  readonly duplicateWindowNs: Nanoseconds;
  readonly placement: Placement | null;
  readonly mirror: StreamSource | null;
  readonly sources: readonly (StreamSource | null)[] | null;
  readonly compression: Compression;
  readonly firstSeq: number;
  readonly subjectTransform: SubjectTransform | null;
  readonly republish: Republish | null;
  readonly allowDirect: boolean;
  readonly mirrorDirect: boolean;
  readonly discardNewPerSubject: boolean;
  readonly sealed: boolean;
  readonly denyDelete: boolean;
  readonly denyPurge: boolean;
  readonly allowRollupHdrs: boolean;
  readonly consumerLimits: ConsumerLimits;
  readonly allowMsgTtl: boolean;
  readonly subjectDeleteMarkerTtlNs: Nanoseconds;
  readonly allowMsgCounter: boolean;
  readonly allowAtomic: boolean;
  readonly allowMsgSchedules: boolean;
  readonly persistMode: PersistMode;
  readonly allowBatched: boolean;
  readonly metadata: Metadata | null;
}

/** The body of STREAM.CREATE and STREAM.UPDATE. */
export interface StreamRequest {
  readonly config: StreamConfig;
  /** The server is to refuse what it would otherwise adjust. */
  readonly isPedantic: boolean;
}

const retentionType = goEnumeration<RetentionPolicy>({
  name: 'server.RetentionPolicy',
  values: ['limits', 'interest', 'workqueue'],
});

const discardType = goEnumeration<DiscardPolicy>({
  name: 'server.DiscardPolicy',
  values: ['old', 'new'],
  isCaseIgnored: true,
});

const storageType = goEnumeration<StorageKind>({
  name: 'server.StorageType',
  values: ['file', 'memory'],
});

const persistModeType = goEnumeration<PersistMode>({
  name: 'server.PersistModeType',
  values: ['default', 'async'],
  aliases: new Map([['""', 'default']]),
});

/** Reads a string by itself and then looks at it, so that its errors are not those of the other enumerations. */
const compressionType: GoType<Compression> = {
  name: 'server.StoreCompression',
  zero: () => 'none',
  read(reader, current) {
    const kind = reader.kind();
    if (kind !== 'string' && kind !== 'null') {
      reader.abortWithMismatch('string');
      return current;
    }
    const word = goString.read(reader, '');
    if (word === 'none' || word === 's2') return word;
    reader.abort('unknown compression algorithm');
    return current;
  },
  toJson: (value) => value,
  isEmpty: (value) => value === 'none',
};

const subjectList = goList(goString);

/** A stream without subjects has an empty list of them, never none. */
const subjectsType: GoType<readonly string[]> = {
  ...subjectList,
  zero: () => [],
  read: (reader, current) => subjectList.read(reader, current) ?? [],
};

export const streamConfigType: GoStruct<StreamConfig> = new GoStruct('server.StreamConfig', [
  field('name', 'name', goString),
  field('description', 'description', goString, 'omitempty'),
  field('subjects', 'subjects', subjectsType, 'omitempty'),
  field('retention', 'retention', retentionType),
  field('max_consumers', 'maxConsumers', goInt),
  field('max_msgs', 'maxMsgs', goInt64),
  field('max_bytes', 'maxBytes', goInt64),
  field('max_age', 'maxAgeNs', goDuration),
  field('max_msgs_per_subject', 'maxMsgsPerSubject', goInt64),
  field('max_msg_size', 'maxMsgSize', goInt32, 'omitempty'),
  field('discard', 'discard', discardType),
  field('storage', 'storage', storageType),
  field('num_replicas', 'numReplicas', goInt),
  field('no_ack', 'noAck', goBool, 'omitempty'),
  field('duplicate_window', 'duplicateWindowNs', goDuration, 'omitempty'),
  field('placement', 'placement', goPointer(placementType), 'omitempty'),
  field('mirror', 'mirror', goPointer(streamSourceType), 'omitempty'),
  field('sources', 'sources', goList(goPointer(streamSourceType)), 'omitempty'),
  field('compression', 'compression', compressionType),
  field('first_seq', 'firstSeq', goUint64, 'omitempty'),
  field('subject_transform', 'subjectTransform', goPointer(subjectTransformType), 'omitempty'),
  field('republish', 'republish', goPointer(republishType), 'omitempty'),
  field('allow_direct', 'allowDirect', goBool),
  field('mirror_direct', 'mirrorDirect', goBool),
  field('discard_new_per_subject', 'discardNewPerSubject', goBool, 'omitempty'),
  field('sealed', 'sealed', goBool),
  field('deny_delete', 'denyDelete', goBool),
  field('deny_purge', 'denyPurge', goBool),
  field('allow_rollup_hdrs', 'allowRollupHdrs', goBool),
  field('consumer_limits', 'consumerLimits', consumerLimitsType),
  field('allow_msg_ttl', 'allowMsgTtl', goBool),
  field('subject_delete_marker_ttl', 'subjectDeleteMarkerTtlNs', goDuration, 'omitempty'),
  field('allow_msg_counter', 'allowMsgCounter', goBool, 'omitempty'),
  field('allow_atomic', 'allowAtomic', goBool, 'omitempty'),
  field('allow_msg_schedules', 'allowMsgSchedules', goBool, 'omitempty'),
  field('persist_mode', 'persistMode', persistModeType, 'omitempty'),
  field('allow_batched', 'allowBatched', goBool, 'omitempty'),
  field('metadata', 'metadata', goStringMap, 'omitempty'),
]);

export const streamRequestType: GoStruct<StreamRequest> = new GoStruct('server.StreamConfigRequest', [
  ...embedded<StreamRequest, 'config'>('config', streamConfigType),
  field<StreamRequest, 'isPedantic'>('pedantic', 'isPedantic', goBool, 'omitempty'),
]);
