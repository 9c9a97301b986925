/**
 * What consumers of a work queue must hold to, so that each message is for one of them alone: nats-server's rules in
 * nats-server's order.
 */

import { subjectsCollide } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig } from './consumer-config.ts';

/** `others`: the configurations of the consumers that are there. Errors: 10098, 10101, 10099, 10100. */
export function checkNewWorkQueueConsumer(wanted: ConsumerConfig, others: readonly ConsumerConfig[]): ApiError | null {
  if (wanted.ackPolicy !== 'explicit' && wanted.ackPolicy !== 'flow_control') {
    return ApiErrors.consumerWorkQueueRequiresExplicitAck;
  }
  if (wanted.deliverPolicy !== 'all') return ApiErrors.consumerWorkQueueNotDeliverAll;
  if (others.length === 0) return null;
  if (filtersOf(wanted).length === 0) return ApiErrors.consumerWorkQueueMultipleUnfiltered;
  return checkChangedWorkQueueConsumer(wanted, others);
}

/** The same of a consumer that is there, and is to have `wanted` from now on. Errors: 10100. */
export function checkChangedWorkQueueConsumer(
  wanted: ConsumerConfig,
  others: readonly ConsumerConfig[],
): ApiError | null {
  const isShared = filtersOf(wanted).some((filter) =>
    others.some((other) => {
      const theirs = filtersOf(other);
      return theirs.length === 0 || theirs.some((each) => subjectsCollide(filter, each));
    }),
  );
  return isShared ? ApiErrors.consumerWorkQueueNotUnique : null;
}

function filtersOf({ filterSubject, filterSubjects }: ConsumerConfig): readonly string[] {
  return filterSubject === '' ? (filterSubjects ?? []) : [filterSubject];
}
