/**
 * What the configuration of a push consumer must hold to, and what both kinds must where it is about pushing and
 * sampling; nats-server's checks in nats-server's order.
 */

import { isLiteral, isSubsetMatch, isValidSubject } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';

const HEARTBEAT_MIN_NS = 100_000_000;
/** Where Go's int64 ends. */
const SAMPLING_MAX: bigint = 2n ** 63n;

/** `streamSubjects`: what the stream takes. Errors: 10079, 10112, 10081, 10080, 10082, 10083. */
export function checkPush(config: ConsumerConfig, streamSubjects: readonly string[]): ApiError | null {
  const { deliverSubject, maxWaiting, maxAckPending, ackPolicy, idleHeartbeatNs } = config;
  if (deliverSubject === '') return null;
  if (!isLiteral(deliverSubject)) return ApiErrors.consumerDeliverToWildcards;
  if (!isValidSubject(deliverSubject)) return ApiErrors.consumerInvalidDeliverSubject;
  const isCycle = streamSubjects.some((subject) => isSubsetMatch(deliverSubject, subject));
  if (isCycle) return ApiErrors.consumerDeliverCycle;
  if (maxWaiting !== 0) return ApiErrors.consumerPushMaxWaiting;
  if (maxAckPending > 0 && ackPolicy === 'none') return ApiErrors.consumerMaxPendingAckPolicyRequired;
  return idleHeartbeatNs > 0 && idleHeartbeatNs < HEARTBEAT_MIN_NS ? ApiErrors.consumerSmallHeartbeat : null;
}

/** Errors: 10095, 10108. */
export function checkSamplingAndFlow(config: ConsumerConfig): ApiError | null {
  const { sampleFreq, flowControl, idleHeartbeatNs } = config;
  if (sampleFreq !== '') {
    const error = samplingError(sampleFreq.replace(/%$/, ''));
    if (error !== null) return ApiErrors.consumerInvalidSampling(error);
  }
  const needsHeartbeat = flowControl && idleHeartbeatNs === 0;
  return needsHeartbeat ? ApiErrors.consumerWithFlowControlNeedsHeartbeats : null;
}

/** What is wrong with a percentage, in Go's words. */
function samplingError(digits: string): string | null {
  if (!/^[-+]?\d+$/.test(digits)) return `strconv.Atoi: parsing ${JSON.stringify(digits)}: invalid syntax`;
  const value = BigInt(digits.replace('+', ''));
  if (value >= SAMPLING_MAX || value < -SAMPLING_MAX) {
    return `strconv.Atoi: parsing ${JSON.stringify(digits)}: value out of range`;
  }
  return value < 0n ? '<nil>' : null;
}
