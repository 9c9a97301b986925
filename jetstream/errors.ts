/**
 * Every error that the JetStream API and a stream answer with: the closed table that clients know by `err_code`.
 *
 *     name: [HTTP-like code, err_code, description]
 *
 * A description with braces has something to say of its own: its entry in `ApiErrors` is a function that takes a value
 * per pair of braces, in their order. The others are one shared, frozen value each, so that an error may be compared by
 * identity. Texts are nats-server's to the letter. An error is answered; it never closes the connection.
 *
 * Source: nats-server 2.15, ADR-7.
 */

export interface ApiError {
  /** As in HTTP. */
  readonly code: number;
  readonly errCode: number;
  readonly description: string;
}

const TABLE = {
  accountResourcesExceeded: [400, 10002, 'resource limits exceeded for account'],
  badRequest: [400, 10003, 'bad request'],
  clusterIncomplete: [503, 10004, 'incomplete results'],
  clusterNoPeers: [400, 10005, '{err}'],
  clusterNotActive: [500, 10006, 'JetStream not in clustered mode'],
  clusterNotAssigned: [500, 10007, 'JetStream cluster not assigned to this server'],
  clusterNotAvailable: [503, 10008, 'JetStream system temporarily unavailable'],
  clusterNotLeader: [500, 10009, 'JetStream cluster can not handle request'],
  clusterRequired: [503, 10010, 'JetStream clustering support required'],
  clusterTags: [400, 10011, 'tags placement not supported for operation'],
  consumerCreateFailed: [500, 10012, '{err}'],
  consumerNameExist: [400, 10013, 'consumer name already in use'],
  consumerNotFound: [404, 10014, 'consumer not found'],
  snapshotDeliverSubjectInvalid: [400, 10015, 'deliver subject not valid'],
  consumerDurableNameNotInSubject: [400, 10016, 'consumer expected to be durable but no durable name set in subject'],
  consumerDurableNameNotMatchSubject: [400, 10017, 'consumer name in subject does not match durable name in request'],
  consumerDurableNameNotSet: [400, 10018, 'consumer expected to be durable but a durable name was not set'],
  consumerEphemeralWithDurableInSubject: [
    400,
    10019,
    'consumer expected to be ephemeral but detected a durable name set in subject',
  ],
  consumerEphemeralWithDurableName: [
    400,
    10020,
    'consumer expected to be ephemeral but a durable name was set in request',
  ],
  streamExternalApiOverlap: [400, 10021, 'stream external api prefix {prefix} must not overlap with {subject}'],
  streamExternalDeliveryPrefixOverlaps: [
    400,
    10022,
    'stream external delivery prefix {prefix} overlaps with stream subject {subject}',
  ],
  insufficientResources: [503, 10023, 'insufficient resources'],
  streamInvalidExternalDeliverySubject: [
    400,
    10024,
    'stream external delivery prefix {prefix} must not contain wildcards',
  ],
  invalidJson: [400, 10025, 'invalid JSON: {err}'],
  maximumConsumersLimit: [400, 10026, 'maximum consumers limit reached'],
  maximumStreamsLimit: [400, 10027, 'maximum number of streams reached'],
  memoryResourcesExceeded: [500, 10028, 'insufficient memory resources available'],
  mirrorConsumerSetupFailed: [500, 10029, '{err}'],
  mirrorMaxMessageSizeTooBig: [400, 10030, 'stream mirror must have max message size >= source'],
  mirrorWithSources: [400, 10031, 'stream mirrors can not also contain other sources'],
  mirrorWithStartSequenceAndTime: [400, 10032, 'stream mirrors can not have both start seq and start time configured'],
  mirrorWithSubjectFilters: [400, 10033, 'stream mirrors can not contain filtered subjects'],
  mirrorWithSubjects: [400, 10034, 'stream mirrors can not contain subjects'],
  accountNotFound: [503, 10035, 'account not found'],
  clusterUnsupportedFeature: [503, 10036, 'not currently supported in clustered mode'],
  noMessageFound: [404, 10037, 'no message found'],
  notEmptyRequest: [400, 10038, 'expected an empty request payload'],
  notEnabledForAccount: [503, 10039, 'JetStream not enabled for account'],
  clusterPeerNotMember: [400, 10040, 'peer not a member'],
  raftFailure: [500, 10041, '{err}'],
  restoreSubscribeFailed: [500, 10042, 'JetStream unable to subscribe to restore snapshot {subject}: {err}'],
  sequenceNotFound: [400, 10043, 'sequence {seq} not found'],
  clusterServerNotMember: [400, 10044, 'server is not a member of the cluster'],
  sourceConsumerSetupFailed: [500, 10045, '{err}'],
  sourceMaxMessageSizeTooBig: [400, 10046, 'stream source must have max message size >= target'],
  storageResourcesExceeded: [500, 10047, 'insufficient storage resources available'],
  streamAssignmentFailed: [500, 10048, '{err}'],
  streamCreateFailed: [500, 10049, '{err}'],
  streamDeleteFailed: [500, 10050, '{err}'],
  streamGeneralFailure: [500, 10051, '{err}'],
  streamInvalidConfig: [500, 10052, '{err}'],
  streamLimitsExceeded: [500, 10053, '{err}'],
  messageExceedsMaximum: [400, 10054, 'message size exceeds maximum allowed'],
  streamMirrorNotUpdatable: [400, 10055, 'stream mirror configuration can not be updated'],
  streamMismatch: [400, 10056, 'stream name in subject does not match request'],
  streamMessageDeleteFailed: [500, 10057, '{err}'],
  streamNameExist: [400, 10058, 'stream name already in use with a different configuration'],
  streamNotFound: [404, 10059, 'stream not found'],
  streamNotMatch: [400, 10060, 'expected stream does not match'],
  streamReplicasNotUpdatable: [400, 10061, 'Replicas configuration can not be updated'],
  streamRestoreFailed: [500, 10062, 'restore failed: {err}'],
  streamSequenceNotMatch: [503, 10063, 'expected stream sequence does not match'],
  streamSnapshotFailed: [500, 10064, 'snapshot failed: {err}'],
  streamSubjectOverlap: [400, 10065, 'subjects overlap with an existing stream'],
  streamTemplateCreateFailed: [500, 10066, '{err}'],
  streamTemplateDeleteFailed: [500, 10067, '{err}'],
  streamTemplateNotFound: [404, 10068, 'template not found'],
  streamUpdateFailed: [500, 10069, '{err}'],
  wrongLastMessageId: [400, 10070, 'wrong last msg ID: {id}'],
  wrongLastSequence: [400, 10071, 'wrong last sequence: {seq}'],
  temporaryStorageFailed: [500, 10072, 'JetStream unable to open temp storage for restore'],
  templateNameNotMatchSubject: [400, 10073, 'template name in subject does not match request'],
  streamReplicasNotSupported: [500, 10074, 'replicas > 1 not supported in non-clustered mode'],
  peerRemap: [503, 10075, 'peer remap failed'],
  notEnabled: [503, 10076, 'JetStream not enabled'],
  streamStoreFailed: [503, 10077, '{err}'],
  consumerConfigRequired: [400, 10078, 'consumer config required'],
  consumerDeliverToWildcards: [400, 10079, 'consumer deliver subject has wildcards'],
  consumerPushMaxWaiting: [400, 10080, 'consumer in push mode can not set max waiting'],
  consumerDeliverCycle: [400, 10081, 'consumer deliver subject forms a cycle'],
  consumerMaxPendingAckPolicyRequired: [400, 10082, 'consumer requires ack policy for max ack pending'],
  consumerSmallHeartbeat: [400, 10083, 'consumer idle heartbeat needs to be >= 100ms'],
  consumerPullRequiresAck: [400, 10084, 'consumer in pull mode requires explicit ack policy on workqueue stream'],
  consumerPullNotDurable: [400, 10085, 'consumer in pull mode requires a durable name'],
  consumerPullWithRateLimit: [400, 10086, 'consumer in pull mode can not have rate limit set'],
  consumerMaxWaitingNegative: [400, 10087, 'consumer max waiting needs to be positive'],
  consumerHeartbeatRequiresPush: [400, 10088, 'consumer idle heartbeat requires a push based consumer'],
  consumerFlowControlRequiresPush: [400, 10089, 'consumer flow control requires a push based consumer'],
  consumerDirectRequiresPush: [400, 10090, 'consumer direct requires a push based consumer'],
  consumerDirectRequiresEphemeral: [400, 10091, 'consumer direct requires an ephemeral consumer'],
  consumerOnMapped: [400, 10092, 'consumer direct on a mapped consumer'],
  consumerFilterNotSubset: [400, 10093, 'consumer filter subject is not a valid subset of the interest subjects'],
  consumerInvalidPolicy: [400, 10094, '{err}'],
  consumerInvalidSampling: [400, 10095, 'failed to parse consumer sampling configuration: {err}'],
  streamInvalid: [500, 10096, 'stream not valid'],
  headerExceedsMaximum: [400, 10097, 'header size exceeds maximum allowed of 64k'],
  consumerWorkQueueRequiresExplicitAck: [400, 10098, 'workqueue stream requires explicit ack'],
  consumerWorkQueueMultipleUnfiltered: [400, 10099, 'multiple non-filtered consumers not allowed on workqueue stream'],
  consumerWorkQueueNotUnique: [400, 10100, 'filtered consumer not unique on workqueue stream'],
  consumerWorkQueueNotDeliverAll: [400, 10101, 'consumer must be deliver all on workqueue stream'],
  consumerNameTooLong: [400, 10102, 'consumer name is too long, maximum allowed is {max}'],
  consumerBadDurableName: [400, 10103, "durable name can not contain '.', '*', '>'"],
  consumerStoreFailed: [500, 10104, 'error creating store for consumer: {err}'],
  consumerExistingActive: [400, 10105, 'consumer already exists and is still active'],
  consumerReplacementWithDifferentName: [400, 10106, 'consumer replacement durable config not the same'],
  consumerDescriptionTooLong: [400, 10107, 'consumer description is too long, maximum allowed is {max}'],
  consumerWithFlowControlNeedsHeartbeats: [400, 10108, 'consumer with flow control also needs heartbeats'],
  streamSealed: [400, 10109, 'invalid operation on sealed stream'],
  streamPurgeFailed: [500, 10110, '{err}'],
  rollupFailed: [500, 10111, '{err}'],
  consumerInvalidDeliverSubject: [400, 10112, 'invalid push consumer deliver subject'],
  streamMaxBytesRequired: [400, 10113, 'account requires a stream config to have max bytes set'],
  consumerMaxRequestBatchNegative: [400, 10114, 'consumer max request batch needs to be > 0'],
  consumerMaxRequestExpiresTooSmall: [400, 10115, 'consumer max request expires needs to be >= 1ms'],
  consumerMaxDeliverBackoff: [400, 10116, 'max deliver is required to be > length of backoff values'],
  streamInfoMaxSubjects: [500, 10117, 'subject details would exceed maximum allowed'],
  streamOffline: [500, 10118, 'stream is offline'],
  consumerOffline: [500, 10119, 'consumer is offline'],
  noLimits: [400, 10120, 'no JetStream default or applicable tiered limit present'],
  consumerMaxPendingAckExcess: [400, 10121, 'consumer max ack pending exceeds system limit of {limit}'],
  streamMaxStreamBytesExceeded: [400, 10122, 'stream max bytes exceeds account limit max stream bytes'],
  streamMoveAndScale: [400, 10123, 'can not move and scale a stream in a single update'],
  streamMoveInProgress: [400, 10124, 'stream move already in progress'],
  consumerMaxRequestBatchExceeded: [400, 10125, 'consumer max request batch exceeds server limit of {limit}'],
  consumerReplicasExceedsStream: [400, 10126, 'consumer config replica count exceeds parent stream'],
  consumerNameContainsPathSeparators: [400, 10127, 'Consumer name can not contain path separators'],
  streamNameContainsPathSeparators: [400, 10128, 'Stream name can not contain path separators'],
  streamReconfigureNotInProgress: [400, 10129, 'stream reconfiguration not in progress'],
  streamNameExistRestoreFailed: [400, 10130, 'stream name already in use, cannot restore'],
  consumerCreateFilterSubjectMismatch: [
    400,
    10131,
    'Consumer create request did not match filtered subject from create subject',
  ],
  consumerCreateDurableAndNameMismatch: [400, 10132, 'Consumer Durable and Name have to be equal if both are provided'],
  replicasCountCannotBeNegative: [400, 10133, 'replicas count cannot be negative'],
  consumerReplicasShouldMatchStream: [
    400,
    10134,
    "consumer config replicas must match interest retention stream's replicas",
  ],
  consumerMetadataLength: [400, 10135, 'consumer metadata exceeds maximum size of {limit}'],
  consumerDuplicateFilterSubjects: [400, 10136, 'consumer cannot have both FilterSubject and FilterSubjects specified'],
  consumerMultipleFiltersNotAllowed: [
    400,
    10137,
    'consumer with multiple subject filters cannot use subject based API',
  ],
  consumerOverlappingSubjectFilters: [400, 10138, 'consumer subject filters cannot overlap'],
  consumerEmptyFilter: [400, 10139, 'consumer filter in FilterSubjects cannot be empty'],
  sourceDuplicateDetected: [400, 10140, 'duplicate source configuration detected'],
  sourceInvalidStreamName: [400, 10141, 'sourced stream name is invalid'],
  mirrorInvalidStreamName: [400, 10142, 'mirrored stream name is invalid'],
  mirrorWithFirstSequence: [400, 10143, 'stream mirrors can not have first sequence configured'],
  sourceMultipleFiltersNotAllowed: [
    400,
    10144,
    'source with multiple subject transforms cannot also have a single subject filter',
  ],
  sourceInvalidSubjectFilter: [400, 10145, 'source transform source: {err}'],
  sourceInvalidTransformDestination: [400, 10146, 'source transform: {err}'],
  sourceOverlappingSubjectFilters: [400, 10147, 'source filters can not overlap'],
  consumerAlreadyExists: [400, 10148, 'consumer already exists'],
  consumerDoesNotExist: [400, 10149, 'consumer does not exist'],
  mirrorMultipleFiltersNotAllowed: [
    400,
    10150,
    'mirror with multiple subject transforms cannot also have a single subject filter',
  ],
  mirrorInvalidSubjectFilter: [400, 10151, 'mirror transform source: {err}'],
  mirrorOverlappingSubjectFilters: [400, 10152, 'mirror subject filters can not overlap'],
  consumerInactiveThresholdExcess: [400, 10153, 'consumer inactive threshold exceeds system limit of {limit}'],
  mirrorInvalidTransformDestination: [400, 10154, 'mirror transform: {err}'],
  streamTransformInvalidSource: [400, 10155, 'stream transform source: {err}'],
  streamTransformInvalidDestination: [400, 10156, 'stream transform: {err}'],
  pedantic: [400, 10157, 'pedantic mode: {err}'],
  duplicateMessageInProcess: [409, 10158, 'duplicate message id is in process'],
  consumerPriorityPolicyWithoutGroup: [
    400,
    10159,
    'Setting PriorityPolicy requires at least one PriorityGroup to be set',
  ],
  consumerInvalidPriorityGroup: [400, 10160, 'Provided priority group does not exist for this consumer'],
  consumerEmptyGroupName: [400, 10161, 'Group name cannot be an empty string'],
  consumerInvalidGroupName: [
    400,
    10162,
    'Valid priority group name must match A-Z, a-z, 0-9, -_/=)+ and may not exceed 16 characters',
  ],
  expectedLastSubjectSequenceUnavailable: [503, 10163, 'expected last sequence per subject temporarily unavailable'],
  wrongLastSequenceConstant: [400, 10164, 'wrong last sequence'],
  messageTtlInvalid: [400, 10165, 'invalid per-message TTL'],
  messageTtlDisabled: [400, 10166, 'per-message TTL is disabled'],
  tooManyRequests: [429, 10167, 'too many requests'],
  messageCountersDisabled: [400, 10168, 'message counters is disabled'],
  messageCounterIncrementMissing: [400, 10169, 'message counter increment is missing'],
  messageCounterHasPayload: [400, 10170, 'message counter has payload'],
  messageCounterIncrementInvalid: [400, 10171, 'message counter increment is invalid'],
  messageCounterBroken: [400, 10172, 'message counter is broken'],
  mirrorWithCounters: [400, 10173, 'stream mirrors can not also calculate counters'],
  atomicPublishDisabled: [400, 10174, 'atomic publish is disabled'],
  atomicPublishMissingSequence: [400, 10175, 'atomic publish sequence is missing'],
  atomicPublishIncomplete: [400, 10176, 'atomic publish batch is incomplete'],
  atomicPublishUnsupportedHeaderBatch: [400, 10177, 'atomic publish unsupported header used: {header}'],
  consumerPushWithPriorityGroup: [400, 10178, 'priority groups can not be used with push consumers'],
  atomicPublishInvalidBatchId: [400, 10179, 'atomic publish batch ID is invalid'],
  streamMinimumLastSequence: [412, 10180, 'min last sequence'],
  consumerAckPolicyInvalid: [400, 10181, 'consumer ack policy invalid'],
  consumerReplayPolicyInvalid: [400, 10182, 'consumer replay policy invalid'],
  consumerAckWaitNegative: [400, 10183, 'consumer ack wait needs to be positive'],
  consumerBackOffNegative: [400, 10184, 'consumer backoff needs to be positive'],
  requiredApiLevel: [412, 10185, 'JetStream minimum api level required'],
  mirrorWithMessageSchedules: [400, 10186, 'stream mirrors can not also schedule messages'],
  sourceWithMessageSchedules: [400, 10187, 'stream source can not also schedule messages'],
  messageSchedulesDisabled: [400, 10188, 'message schedules is disabled'],
  messageSchedulesPatternInvalid: [400, 10189, 'message schedules pattern is invalid'],
  messageSchedulesTargetInvalid: [400, 10190, 'message schedules target is invalid'],
  messageSchedulesTtlInvalid: [400, 10191, 'message schedules invalid per-message TTL'],
  messageSchedulesRollupInvalid: [400, 10192, 'message schedules invalid rollup'],
  expectedLastSubjectSequenceMissing: [400, 10193, 'missing sequence for expected last sequence per subject'],
  streamOfflineReason: [500, 10194, 'stream is offline: {err}'],
  consumerOfflineReason: [500, 10195, 'consumer is offline: {err}'],
  consumerPriorityGroupWithPolicyNone: [400, 10196, 'consumer can not have priority groups when policy is none'],
  consumerPinnedTtlWithoutPriorityPolicyNone: [400, 10197, 'PinnedTTL cannot be set when PriorityPolicy is none'],
  mirrorWithAtomicPublish: [400, 10198, 'stream mirrors can not also use atomic publishing'],
  atomicPublishTooLargeBatch: [400, 10199, 'atomic publish batch is too large: {size}'],
  atomicPublishInvalidBatchCommit: [400, 10200, 'atomic publish batch commit is invalid'],
  atomicPublishContainsDuplicateMessage: [400, 10201, 'atomic publish batch contains duplicate message id'],
  clusterServerMemberChangeInFlight: [400, 10202, 'cluster member change is in progress'],
  messageSchedulesSourceInvalid: [400, 10203, 'message schedules source is invalid'],
  consumerInvalidReset: [400, 10204, 'invalid reset: {err}'],
  batchPublishDisabled: [400, 10205, 'batch publish is disabled'],
  batchPublishInvalidPattern: [400, 10206, 'batch publish pattern is invalid'],
  batchPublishInvalidBatchId: [400, 10207, 'batch publish ID is invalid'],
  batchPublishUnknownBatchId: [400, 10208, 'batch publish ID unknown'],
  mirrorWithBatchPublish: [400, 10209, 'stream mirrors can not also use batch publishing'],
  atomicPublishTooManyInFlight: [429, 10210, 'atomic publish too many inflight'],
  batchPublishTooManyInFlight: [429, 10211, 'batch publish too many inflight'],
  messageSchedulesSchedulerInvalid: [400, 10212, 'message schedules invalid scheduler'],
  mirrorDurableConsumerConfigInvalid: [400, 10213, 'stream mirror consumer config is invalid'],
  mirrorConsumerRequiresAckFlowControl: [400, 10214, 'stream mirror consumer requires flow control ack policy'],
  sourceDurableConsumerConfigInvalid: [400, 10215, 'stream source consumer config is invalid'],
  sourceDurableConsumerDuplicateDetected: [400, 10216, 'duplicate stream source consumer detected'],
  sourceConsumerRequiresAckFlowControl: [400, 10217, 'stream source consumer requires flow control ack policy'],
  consumerAckFlowControlRequiresPush: [400, 10218, 'flow control ack policy requires a push based consumer'],
  consumerAckFlowControlRequiresFlowControl: [400, 10219, 'flow control ack policy requires flow control'],
  consumerAckFlowControlRequiresMaxAckPending: [400, 10220, 'flow control ack policy requires max ack pending'],
  consumerAckFlowControlRequiresNoAckWait: [400, 10221, 'flow control ack policy requires unset ack wait'],
  consumerAckFlowControlRequiresNoMaxDeliver: [400, 10222, 'flow control ack policy requires unset max deliver'],
  messageSchedulesTimeZoneInvalid: [400, 10223, 'message schedules time zone is invalid'],
  clusterRescue: [400, 10224, 'JetStream system rescue not applied: {err}'],
  consumerStreamIdentityMismatch: [400, 10225, "consumer's stream identity does not match: {msg}"],
  streamReconfigureInProgress: [400, 10226, 'stream reconfiguration already in progress'],
  messageStreamSourceNotAllowed: [400, 10227, 'message stream source header is not allowed'],
  sourceConsumerFlowControlStalled: [500, 10228, 'stream source consumer stalled on flow control'],
} as const;

/** A value for each pair of braces in `Description`. */
type Values<Description extends string> = Description extends `${string}{${string}}${infer Rest}`
  ? [string | number, ...Values<Rest>]
  : [];

type Entry<Description extends string> =
  Values<Description> extends [] ? ApiError : (...values: Values<Description>) => ApiError;

type Entries = { readonly [Name in keyof typeof TABLE]: Entry<(typeof TABLE)[Name][2]> };

/** The errors by name: `ApiErrors.streamNotFound`, `ApiErrors.wrongLastSequence(6)`. */
export const ApiErrors: Entries = Object.fromEntries(
  Object.entries(TABLE).map(([name, [code, errCode, description]]) => [name, entry(code, errCode, description)]),
) as Entries;

function entry(
  code: number,
  errCode: number,
  template: string,
): ApiError | ((...values: (string | number)[]) => ApiError) {
  const parts = template.split(/\{\w+\}/);
  if (parts.length === 1) return Object.freeze({ code, errCode, description: template });
  return (...values) => {
    const description = parts.map((part, at) => (at === 0 ? part : `${values[at - 1]}${part}`)).join('');
    return { code, errCode, description };
  };
}

/** Tells an error from what a function gives when all is well. */
export function isApiError(value: object): value is ApiError {
  return 'errCode' in value;
}

/** The `error` of an answer. */
export function errorJson(error: ApiError): { code: number; err_code: number; description: string } {
  return { code: error.code, err_code: error.errCode, description: error.description };
}
