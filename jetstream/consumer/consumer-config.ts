/**
 * A consumer's configuration on its way from a request to an answer:
 *
 *     decodeConsumerRequest ─► nameConsumer ─► completeConsumerConfig ─► checkConsumerAction
 *                                                  there is none   ─► newConsumerConfig    ─► consumerConfigJson
 *                                                  there is one    ─► updateConsumerConfig ─► consumerConfigJson
 *
 * Its fields stand in `consumer-config-fields.ts`. How the names in subject and body go together is decided by
 * `consumer-config-names.ts`; which values are allowed, and what becomes of those that were left out, by
 * `consumer-config-rules.ts`; what may change later by `consumer-config-update.ts`; what petiole has by
 * `consumer-config-support.ts`.
 */

import assert from 'node:assert';
import { type ConfigForm, withServerMetadata } from '../../server/protocol/asset-metadata.ts';
import { formatDuration } from '../../server/config/duration.ts';
import { decode, decodeRequest } from '../../server/protocol/go-json.ts';
import { millisecondsOf, type Nanoseconds } from '../../server/protocol/nanoseconds.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import {
  type ConsumerConfig,
  consumerConfigType,
  type ConsumerRequest,
  consumerRequestType,
  withRequiredLevel,
} from './consumer-config-fields.ts';

export type { ConsumerConfig, ConsumerRequest } from './consumer-config-fields.ts';

/** Reads the body of CONSUMER.CREATE; the server's own metadata is in it then. Errors: 10025. */
export function decodeConsumerRequest(text: string, isStrict: boolean): ConsumerRequest | ApiError {
  const { value, error } = decodeRequest(text, consumerRequestType, isStrict);
  if (error !== null) return ApiErrors.invalidJson(error);
  return { ...value, config: withRequiredLevel(value.config) };
}

/** The object to encode, in the API's order. */
export function consumerConfigJson(config: ConsumerConfig, form: ConfigForm): Record<string, unknown> {
  return consumerConfigType.toJson(form === 'full' ? withServerMetadata(config) : config);
}

/** Reads what was written of `consumerConfigJson` in the form `stored`. */
export function storedConsumerConfig(text: string): ConsumerConfig {
  const { value, error } = decode(text, consumerConfigType);
  assert(error === null, `a stored consumer configuration can't be read: ${error}`);
  return value;
}

/** A duration as messages show it: `2m0s`. */
export function durationText(duration: Nanoseconds): string {
  return formatDuration(millisecondsOf(duration));
}
