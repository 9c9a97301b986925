/**
 * What becomes of a request for a consumer that is there: whether the request meant that, and what of the consumer's
 * configuration may change. nats-server's rules in nats-server's order.
 */

import { isDeepStrictEqual } from 'node:util';
import { metadataWithLevelOf } from '../../server/protocol/asset-metadata.ts';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerAction, ConsumerConfig } from './consumer-config-fields.ts';
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
  return isDeepStrictEqual(current, { ...wanted, metadata });
}

/** `wanted`, which is complete, if the consumer may have it from now on. Errors: 10012. */
export function updateConsumerConfig(current: ConsumerConfig, wanted: ConsumerConfig): ConsumerConfig | ApiError {
  const changed = fixedFields(current, wanted);
  if (changed !== null) return ApiErrors.consumerCreateFailed(`${changed} can not be updated`);
  return unsupportedConsumerField(wanted) ?? withInactiveThreshold(wanted);
}

/** What of `wanted` differs and may not, as messages name it. */
function fixedFields(current: ConsumerConfig, wanted: ConsumerConfig): string | null {
  if (wanted.deliverPolicy !== current.deliverPolicy) return 'deliver policy';
  if (wanted.optStartSeq !== current.optStartSeq) return 'start sequence';
  if (!sameMoment(wanted.optStartTime, current.optStartTime)) return 'start time';
  return wanted.maxWaiting === current.maxWaiting ? null : 'max waiting';
}

function sameMoment(a: Moment | null, b: Moment | null): boolean {
  if (a === null || b === null) return a === b;
  return a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
}
