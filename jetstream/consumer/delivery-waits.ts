/**
 * How long a consumer waits for an acknowledgement before it delivers a message again: `ack_wait`, or what `backoff` says
 * of the first, second … delivery, the last of them for all that follow. Where flow control acknowledges, it waits for
 * ever.
 */

import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';

/** A hundred years: a deadline that lies there is still one that can be written down. */
const FOR_EVER_MS: number = 100 * 365 * 24 * 3600 * 1000;

export class DeliveryWaits {
  /** Milliseconds without regard to deliveries: what a delayed negative acknowledgement counts from. */
  readonly ackWaitMs: number;
  private readonly waitsMs: readonly number[];

  constructor(config: ConsumerConfig) {
    this.ackWaitMs = config.ackPolicy === 'flow_control' ? FOR_EVER_MS : millisecondsOf(config.ackWaitNs);
    const backoff = config.backoffNs ?? [];
    this.waitsMs = backoff.length > 0 ? backoff.map((wait) => millisecondsOf(wait)) : [this.ackWaitMs];
  }

  /** Milliseconds that the `deliveries`th delivery has. */
  afterDelivery(deliveries: number): number {
    const { waitsMs } = this;
    return waitsMs[Math.min(deliveries, waitsMs.length) - 1] as number;
  }

  equals(other: DeliveryWaits): boolean {
    return (
      this.waitsMs.length === other.waitsMs.length && this.waitsMs.every((wait, index) => wait === other.waitsMs[index])
    );
  }
}
