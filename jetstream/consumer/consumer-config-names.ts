/**
 * The three ways to ask for a consumer, and what each says of its name:
 *
 *     CONSUMER.CREATE.<stream>                          unnamed: ephemeral; a name in the body is taken
 *     CONSUMER.CREATE.<stream>.<consumer>[.<filter>]    named: durable if the body says so, and then by this name
 *     CONSUMER.DURABLE.CREATE.<stream>.<consumer>       durable, and the body says so by this name
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig, ConsumerRequest } from './consumer-config-fields.ts';

/** What the subject of a request says. */
export interface ConsumerEndpoint {
  readonly way: 'unnamed' | 'named' | 'durable';
  readonly streamName: string;
  /** '' where there is none. */
  readonly consumerName: string;
  readonly filterSubject: string;
}

/** `tokens`: those behind `$JS.API` or `$JS.<domain>.API`. Errors: 10016. */
export function consumerEndpoint(tokens: readonly string[]): ConsumerEndpoint | ApiError {
  if (tokens[1] === 'DURABLE') {
    const [, , , streamName = '', consumerName = ''] = tokens;
    if (tokens.length !== 5) return ApiErrors.consumerDurableNameNotInSubject;
    return { way: 'durable', streamName, consumerName, filterSubject: '' };
  }
  const [, , streamName = '', consumerName = '', ...filter] = tokens;
  return { way: tokens.length > 3 ? 'named' : 'unnamed', streamName, consumerName, filterSubject: filter.join('.') };
}

/**
 * The configuration with the name that the consumer is to have, '' for one that the server has yet to find. Errors:
 * 10056, 10127, 10017, 10018, 10020, 10137, 10131, 10074.
 */
export function nameConsumer(request: ConsumerRequest, endpoint: ConsumerEndpoint): ConsumerConfig | ApiError {
  const { config } = request;
  const name = endpoint.way === 'unnamed' ? config.name : endpoint.consumerName;
  if (endpoint.streamName !== request.streamName) return ApiErrors.streamMismatch;
  if (/[\\/]/.test(name)) return ApiErrors.consumerNameContainsPathSeparators;
  const durable = checkDurableName(config.durableName, endpoint);
  if (durable !== null) return durable;
  if (endpoint.filterSubject !== '') {
    if ((config.filterSubjects ?? []).length > 0) return ApiErrors.consumerMultipleFiltersNotAllowed;
    if (config.filterSubject !== endpoint.filterSubject) return ApiErrors.consumerCreateFilterSubjectMismatch;
  }
  return config.numReplicas > 1 ? ApiErrors.streamReplicasNotSupported : { ...config, name };
}

function checkDurableName(durableName: string, { way, consumerName }: ConsumerEndpoint): ApiError | null {
  if (durableName === '') return way === 'durable' ? ApiErrors.consumerDurableNameNotSet : null;
  if (way === 'unnamed') return ApiErrors.consumerEphemeralWithDurableName;
  return durableName === consumerName ? null : ApiErrors.consumerDurableNameNotMatchSubject;
}
