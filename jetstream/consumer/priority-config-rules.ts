/**
 * What a consumer must hold to that serves its requests by priority; nats-server's checks in nats-server's order.
 *
 * Source: ADR-42.
 */

import { NS_PER_SECOND } from '../../server/protocol/nanoseconds.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';

const GROUP_NAME = /^[a-zA-Z0-9/_=-]{1,16}$/;

/** How long a client stays pinned that does not ask again, if nothing else is said. */
export const PRIORITY_TIMEOUT_DEFAULT_NS: number = 120 * NS_PER_SECOND;

/** Whether a priority group can be called that. */
export function isGroupName(name: string): boolean {
  return GROUP_NAME.test(name);
}

/** Errors: 10178, 10159, 10161, 10162, 10196, 10197. */
export function checkPriority(config: ConsumerConfig): ApiError | null {
  const { priorityPolicy, priorityTimeoutNs, deliverSubject } = config;
  const groups = config.priorityGroups ?? [];
  if (priorityPolicy === 'none') {
    if (groups.length > 0) return ApiErrors.consumerPriorityGroupWithPolicyNone;
    return priorityTimeoutNs > 0 ? ApiErrors.consumerPinnedTtlWithoutPriorityPolicyNone : null;
  }
  if (deliverSubject !== '') return ApiErrors.consumerPushWithPriorityGroup;
  if (groups.length === 0) return ApiErrors.consumerPriorityPolicyWithoutGroup;
  for (const group of groups) {
    if (group === '') return ApiErrors.consumerEmptyGroupName;
    if (!isGroupName(group)) return ApiErrors.consumerInvalidGroupName;
  }
  return null;
}
