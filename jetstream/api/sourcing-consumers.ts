/**
 * Consumers that feed streams, here or on other servers (`direct`, `sourcing`). They ask by the same name each time:
 *
 *     stream that keeps messages            a consumer of its own for each request, gone when nobody listens to it
 *     stream that lets go what is settled   one durable consumer, acknowledged by flow control, that goes on where its
 *                                           acknowledgements end
 *
 * Whoever asks may say which stream it means, by its identity: another one by that name is not read by mistake.
 *
 * Source: nats-server's jsConsumerCreateRequest.
 */

import { withRequiredLevel } from '../consumer/consumer-config-fields.ts';
import type { ConsumerConfig } from '../consumer/consumer-config.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { shortHash } from '../stream/short-hash.ts';
import type { Stream } from '../stream/stream.ts';
import type { Consumer } from '../consumer/consumer.ts';

/** What tells the stream from an earlier one by its name. */
export function streamIdentity({ created }: Stream): string {
  return shortHash(created);
}

/** Whether the consumer is none of a client: it counts against no limit, and shares a work queue with others. */
export function isForStreams({ direct, sourcing }: ConsumerConfig): boolean {
  return direct || sourcing;
}

/** The error for a request that means another stream than this one. `meant` is empty or `null` where the request did not say. */
export function identityError(stream: Stream, config: ConsumerConfig, meant: string | null): ApiError | null {
  const identity = streamIdentity(stream);
  if (!isForStreams(config) || meant === null || meant === '' || meant === identity) return null;
  return ApiErrors.consumerStreamIdentityMismatch(identity);
}

/** The configuration that fits the stream. `suffix` makes a name one that nobody has. */
export function fittedToStream(
  config: ConsumerConfig,
  { config: { retention } }: Stream,
  suffix: string,
): ConsumerConfig {
  if (!config.direct || !config.sourcing || config.name === '') return config;
  if (retention === 'limits') return { ...config, name: `${config.name}-${suffix}` };
  return withRequiredLevel({
    ...config,
    direct: false,
    durableName: config.name,
    ackPolicy: 'flow_control',
    ackWaitNs: 0,
    maxDeliver: 0,
    inactiveThresholdNs: 0,
  });
}

/** A durable consumer goes on where its acknowledgements end, each time that it is asked for; `done` when it does. */
export function beginAnew(consumer: Consumer, done: () => void): void {
  const { sourcing, durableName } = consumer.config;
  if (sourcing && durableName !== '') consumer.reset(consumer.state.ackFloor.stream + 1, done);
  else done();
}

/** Where the durable consumer of a stream began stays, whatever the stream asks for now. */
export function keepingStart(wanted: ConsumerConfig, current: ConsumerConfig): ConsumerConfig {
  if (!wanted.sourcing || wanted.durableName === '') return wanted;
  const { deliverPolicy, optStartSeq, optStartTime } = current;
  return { ...wanted, deliverPolicy, optStartSeq, optStartTime };
}
