/** What /metrics says of one consumer. */

import type { Consumer } from '../../../jetstream/consumer/consumer.ts';
import { bytesAsText } from '../byte-text.ts';
import type { ConsumerLag } from './consumer-lag.ts';
import { joined, labels, type MetricText } from './metric-text.ts';

/** `streamLabels`: those of its stream. */
export function describeConsumer(
  text: MetricText,
  streamLabels: string,
  consumer: Consumer,
  lag: ConsumerLag,
  nowMs: number,
): void {
  const { state, config } = consumer;
  const { pending, ackFloor } = state;
  const own = {
    consumer_name: bytesAsText(consumer.name),
    is_consumer_leader: 'true',
    consumer_desc: bytesAsText(config.description),
  };
  const all = joined(streamLabels, labels(own));
  const gauge = (name: string, help: string, value: number): void => text.gauge(name, help, all, value);
  const age = (name: string, help: string, sinceMs: number | null | undefined): void => {
    if (sinceMs !== undefined) gauge(name, help, sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1000);
  };
  gauge('jetstream_consumer_delivered_consumer_seq', 'Deliveries so far', state.nextConsumer - 1);
  gauge(
    'jetstream_consumer_delivered_stream_seq',
    'Highest stream sequence delivered',
    Math.max(0, state.deliveredStream),
  );
  gauge('jetstream_consumer_ack_floor_consumer_seq', 'Deliveries acknowledged without a gap', ackFloor.consumer);
  gauge(
    'jetstream_consumer_ack_floor_stream_seq',
    'Stream sequence acknowledged without a gap',
    Math.max(0, ackFloor.stream),
  );
  gauge('jetstream_consumer_num_ack_pending', 'Messages delivered and not acknowledged', pending.size);
  gauge(
    'jetstream_consumer_num_redelivered',
    'Messages delivered more than once',
    config.maxDeliver === 1 ? 0 : state.redelivered,
  );
  gauge('jetstream_consumer_num_waiting', 'Pull requests that wait', consumer.delivery.numWaiting);
  if (!consumer.undelivered.isUnknown) {
    const count = consumer.numPending;
    gauge('jetstream_consumer_num_pending', 'Messages not delivered yet', count);
    gauge('petiole_consumer_lag_messages', 'Messages not delivered or not acknowledged yet', count + pending.size);
  }
  if (consumer.lastDeliveredMs > 0)
    age('jetstream_consumer_last_delivery_seconds', 'Seconds since the last delivery', consumer.lastDeliveredMs);
  if (consumer.lastAckMs > 0)
    age('jetstream_consumer_last_ack_seconds', 'Seconds since the last acknowledgement', consumer.lastAckMs);
  age(
    'petiole_consumer_lag_seconds',
    'Age of the oldest message not delivered yet; 0 if there is none',
    lag.undeliveredSinceMs,
  );
  age(
    'petiole_consumer_oldest_unacknowledged_seconds',
    'Age of the oldest message delivered and not acknowledged; 0 if there is none',
    lag.unacknowledgedSinceMs,
  );
}
