/**
 * What holds for a consumer whose receiver acknowledges by its answers to flow control, as streams do that draw from
 * another: all that came before the question is done. What is not answered is delivered again only when the consumer
 * begins anew. nats-server's rules in nats-server's order.
 */

import { NS_PER_SECOND } from '../../server/protocol/nanoseconds.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';

type Draft = { -readonly [Key in keyof ConsumerConfig]: ConsumerConfig[Key] };

const HEARTBEAT_NS = NS_PER_SECOND;

/** Fills in what it always has; a pedantic request has to say so itself. */
export function completeFlowAcknowledged(draft: Draft, isPedantic: boolean): null {
  if (draft.ackPolicy !== 'flow_control' || isPedantic) return null;
  draft.flowControl = true;
  draft.idleHeartbeatNs = HEARTBEAT_NS;
  return null;
}

/** Errors: 10218, 10219, 10052, 10220, 10221, 10222. */
export function checkFlowAcknowledged(config: ConsumerConfig): ApiError | null {
  const { ackPolicy, deliverSubject, flowControl, idleHeartbeatNs, maxAckPending, ackWaitNs, maxDeliver } = config;
  if (ackPolicy !== 'flow_control') return null;
  if (deliverSubject === '') return ApiErrors.consumerAckFlowControlRequiresPush;
  if (!flowControl) return ApiErrors.consumerAckFlowControlRequiresFlowControl;
  if (idleHeartbeatNs !== HEARTBEAT_NS) {
    return ApiErrors.streamInvalidConfig('flow control ack policy heartbeat needs to be 1s');
  }
  if (maxAckPending <= 0) return ApiErrors.consumerAckFlowControlRequiresMaxAckPending;
  const waits = ackWaitNs !== 0 || (config.backoffNs ?? []).length > 0;
  if (waits) return ApiErrors.consumerAckFlowControlRequiresNoAckWait;
  return maxDeliver > 0 ? ApiErrors.consumerAckFlowControlRequiresNoMaxDeliver : null;
}
