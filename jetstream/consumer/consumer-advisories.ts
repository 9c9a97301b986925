/**
 * What the world may hear of one consumer: advisories under `$JS.EVENT.ADVISORY.CONSUMER.<what>.<stream>.<consumer>`, and
 * of a share of its acknowledgements how long they took.
 *
 * Source: nats-server's jetstream_events.go.
 */

import { formatTime, ZERO_TIME } from '../../server/protocol/rfc3339.ts';
import type { ConsumedStream } from './consumed-stream.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';
import type { ConsumerEvents } from './consumer-events.ts';
import type { ConsumerState } from './consumer-state.ts';
import type { DeliveryWaits } from './delivery-waits.ts';
import type { PinEvents } from './pinned-client.ts';

const ADVISORY = '$JS.EVENT.ADVISORY.CONSUMER';
const METRIC = '$JS.EVENT.METRIC.CONSUMER.ACK';
const NS_PER_MS = 1_000_000;
const EVERY = 100;

/** What is told of. */
interface Subject {
  readonly stream: ConsumedStream;
  readonly name: string;
  readonly config: ConsumerConfig;
  readonly state: ConsumerState;
  readonly waits: DeliveryWaits;
  readonly pause: { readonly isPaused: boolean };
  nowMs(): number;
}

export class ConsumerAdvisories implements ConsumerEvents, PinEvents {
  private readonly consumer: Subject;

  constructor(consumer: Subject) {
    this.consumer = consumer;
  }

  created(): void {
    this.advise('CREATED', 'consumer_action', () => ({ action: 'create' }));
  }

  deleted(): void {
    this.advise('DELETED', 'consumer_action', () => ({ action: 'delete' }));
  }

  /** Paused, or going on. */
  paused(): void {
    const { pause, config } = this.consumer;
    this.advise('PAUSE', 'consumer_pause', () => ({
      paused: pause.isPaused,
      pause_until: formatTime(config.pauseUntil ?? ZERO_TIME),
    }));
  }

  /** A client of the group is pinned under this id. */
  pinned(group: string, id: string): void {
    this.adviseOfGroup('PINNED', 'consumer_group_pinned', { group, pinned_id: id });
  }

  unpinned(group: string, reason: 'admin' | 'timeout'): void {
    this.adviseOfGroup('UNPINNED', 'consumer_group_unpinned', { group, reason });
  }

  private adviseOfGroup(what: string, type: string, fields: object): void {
    const { stream, name } = this.consumer;
    const { account } = stream;
    const { advisories } = stream.host;
    const common = { account: account.name, stream: stream.name, consumer: name, domain: advisories.domain };
    const subject = `${ADVISORY}.${what}.${stream.name}.${name}`;
    advisories.advise(account, subject, `advisory.v1.${type}`, () => ({ ...common, ...fields }));
  }

  naked(sequence: number, consumerSequence: number, deliveries: number): void {
    this.advise('MSG_NAKED', 'nak', () => ({
      consumer_seq: consumerSequence,
      stream_seq: sequence,
      deliveries,
    }));
  }

  terminated(sequence: number, consumerSequence: number, deliveries: number, reason: string): void {
    this.advise('MSG_TERMINATED', 'terminated', () => ({
      consumer_seq: consumerSequence,
      stream_seq: sequence,
      deliveries,
      reason: reason === '' ? undefined : reason,
    }));
  }

  exhausted(sequence: number, deliveries: number): void {
    this.advise('MAX_DELIVERIES', 'max_deliver', () => ({ stream_seq: sequence, deliveries }));
  }

  acknowledged(sequence: number, consumerSequence: number, deliveries: number): void {
    const { stream, name, config } = this.consumer;
    const share = config.sampleFreq === '' ? 0 : Number.parseInt(config.sampleFreq, 10);
    const { io } = stream.host;
    if (share <= 0 || (share < EVERY && Math.floor(io.random.fraction() * EVERY) > share)) return;
    const elapsed = this.millisecondsSinceDelivery(sequence);
    this.publish(`${METRIC}.${stream.name}.${name}`, 'metric.v1.consumer_ack', () => ({
      consumer_seq: consumerSequence,
      stream_seq: sequence,
      ack_time: Math.round(elapsed * NS_PER_MS),
      deliveries,
    }));
  }

  /** A pending message's deadline tells when it was delivered. */
  private millisecondsSinceDelivery(sequence: number): number {
    const { waits, state } = this.consumer;
    const { pending } = state;
    const row = pending.row(sequence);
    if (row < 0) return 0;
    const deliveredMs = pending.deadlineMs(row) - waits.afterDelivery(pending.deliveryCount(row));
    return Math.max(0, this.consumer.nowMs() - deliveredMs);
  }

  private advise(what: string, type: string, fields: () => object): void {
    const { stream, name } = this.consumer;
    this.publish(`${ADVISORY}.${what}.${stream.name}.${name}`, `advisory.v1.${type}`, fields);
  }

  private publish(subject: string, type: string, fields: () => object): void {
    const { stream, name } = this.consumer;
    const { advisories } = stream.host;
    advisories.advise(stream.account, subject, type, () => ({
      stream: stream.name,
      consumer: name,
      ...fields(),
      domain: advisories.domain,
    }));
  }
}
