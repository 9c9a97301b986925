/**
 * What becomes of a request for a consumer that is there: whether the request meant that, and what of the consumer's
 * configuration may change. nats-server's rules in nats-server's order.
 */

import { isDeepStrictEqual } from 'node:util';
import { metadataWithLevelOf } from '../../server/protocol/asset-metadata.ts';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { type ConsumerAction, type ConsumerConfig, withRequiredLevel } from './consumer-config-fields.ts';
import { withInactiveThreshold } from './consumer-config-rules.ts';
import { unsupportedConsumerField } from './consumer-config-support.ts';

/** `current`: the consumer by the name of `wanted`, `null` if there is none. Errors: 10148, 10149. */
export function checkConsumerAction(
  action: ConsumerAction,
  current: ConsumerConfig | null,
  wanted: ConsumerConfig,
): ApiError | null {
  if (current === null) return action === 'update' ? ApiErrors.consumerDoesNotExist : null;
  return action === 'create' && !sameConsumerConfig(current, wanted) ? ApiErrors.consumerAlreadyExists : null;
}

function sameConsumerConfig(current: ConsumerConfig, wanted: ConsumerConfig): boolean {
  const metadata = metadataWithLevelOf(wanted.metadata, current.metadata);
  return isDeepStrictEqual(current, { ...wanted, pauseUntil: current.pauseUntil, metadata });
}

/** `wanted`, which is complete, if the consumer may have it from now on. Errors: 10012. */
export function updateConsumerConfig(current: ConsumerConfig, wanted: ConsumerConfig): ConsumerConfig | ApiError {
  const change = forbiddenChange(current, wanted);
  if (change !== null) return ApiErrors.consumerCreateFailed(change);
  // A consumer stays what it was made as, whatever its configuration says later.
  const isEphemeral = current.durableName === '';
  const config = withPauseOf(current, isEphemeral ? withInactiveThreshold(wanted) : wanted);
  return unsupportedConsumerField(config) ?? config;
}

/** Only CONSUMER.PAUSE pauses, or resumes, a consumer that is there. */
function withPauseOf(current: ConsumerConfig, wanted: ConsumerConfig): ConsumerConfig {
  return withRequiredLevel({ ...wanted, pauseUntil: current.pauseUntil });
}

/** What stays as it is, and what messages call it. */
const FIXED: readonly (readonly [keyof ConsumerConfig, string])[] = [
  ['deliverPolicy', 'deliver policy'],
  ['memStorage', 'storage type'],
  ['direct', 'direct'],
  ['sourcing', 'sourcing'],
  ['optStartSeq', 'start sequence'],
  ['optStartTime', 'start time'],
  ['ackPolicy', 'ack policy'],
  ['replayPolicy', 'replay policy'],
  ['idleHeartbeatNs', 'heart beats'],
  ['flowControl', 'flow control'],
];

function forbiddenChange(current: ConsumerConfig, wanted: ConsumerConfig): string | null {
  for (const [key, name] of FIXED) {
    const isSame = key === 'optStartTime' ? sameMoment(current[key], wanted[key]) : current[key] === wanted[key];
    if (!isSame) return `${name} can not be updated`;
  }
  const [wasPush, isPush] = [current.deliverSubject !== '', wanted.deliverSubject !== ''];
  if (isPush && !wasPush) return 'can not update pull consumer to push based';
  if (wasPush && !isPush) return 'can not update push consumer to pull based';
  return wanted.maxWaiting === current.maxWaiting ? null : 'max waiting can not be updated';
}

function sameMoment(a: Moment | null, b: Moment | null): boolean {
  if (a === null || b === null) return a === b;
  return a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
}
