/**
 * Takes messages from the stream to whom the delivery names: DELIVER_PER_TURN in one turn, what has to be delivered again
 * before what is new. It rests when nobody takes more, when nothing is left, or when too much is unacknowledged; it parks
 * while a message is read from the disk, and comes back in a moment when the receiver has much unsent.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, NONE } from '../store/store.ts';
import { AckSubject } from './ack-subject.ts';
import type { Consumer } from './consumer.ts';
import type { RedeliveryQueue } from './redelivery-queue.ts';

const DELIVER_PER_TURN = 256;
const CONGESTED_RETRY_MS = 2;

type Outcome = 'delivered' | 'end' | 'full' | 'loading' | 'congested';

export class MessagePump {
  private readonly consumer: Consumer;
  private readonly redelivery: RedeliveryQueue;
  private readonly view = new RecordView(Buffer.alloc(0));
  private readonly message = new Message();
  private readonly ackSubject: AckSubject;
  private isScheduled = false;
  private isReading = false;

  constructor(consumer: Consumer, redelivery: RedeliveryQueue) {
    this.consumer = consumer;
    this.redelivery = redelivery;
    this.ackSubject = new AckSubject(consumer.stream.name, consumer.config.name);
  }

  get isResting(): boolean {
    return !this.isScheduled && !this.isReading && !this.consumer.isStopped;
  }

  /** There may be something to deliver. */
  wake(): void {
    if (!this.isResting || !this.consumer.delivery.isReady) return;
    this.isScheduled = true;
    this.consumer.stream.host.io.timers.afterTurn(() => this.run());
  }

  private run(): void {
    this.isScheduled = false;
    if (this.consumer.isStopped) return;
    const { delivery } = this.consumer;
    for (let count = 0; count < DELIVER_PER_TURN && delivery.isReady; count++) {
      const outcome = this.deliverNext();
      if (outcome === 'delivered') continue;
      if (outcome === 'congested') this.retryLater();
      else delivery.review(outcome === 'end');
      return;
    }
    this.wake();
  }

  private deliverNext(): Outcome {
    const { redelivery } = this;
    const { state, stream, config, filter } = this.consumer;
    const queued = redelivery.peek();
    if (queued > 0) return this.redeliver(queued);
    const { maxAckPending } = config;
    if (maxAckPending > 0 && state.pending.size >= maxAckPending) return 'full';
    const sequence = stream.store.next(state.nextStream, filter.accepts);
    if (sequence === NONE) return 'end';
    if (sequence === LOADING) return this.park(state.nextStream);
    const outcome = stream.store.read(sequence, this.view);
    if (outcome === 'loading') return this.park(sequence);
    if (outcome === 'missing') {
      state.nextStream = sequence + 1;
      return 'delivered';
    }
    return this.send(sequence, 1);
  }

  private redeliver(sequence: number): Outcome {
    const { state, stream, config } = this.consumer;
    const { pending } = state;
    const row = pending.row(sequence);
    const deliveries = pending.deliveryCount(row) + 1;
    const { maxDeliver } = config;
    if (maxDeliver > 0 && deliveries > maxDeliver) {
      this.redelivery.shift();
      this.consumer.settle(sequence);
      return 'delivered';
    }
    const outcome = stream.store.read(sequence, this.view);
    if (outcome === 'loading') return this.park(sequence);
    if (outcome === 'missing') {
      this.redelivery.shift();
      this.consumer.settle(sequence);
      return 'delivered';
    }
    return this.send(sequence, deliveries);
  }

  /** Waits until the message is in memory. */
  private park(sequence: number): 'loading' {
    this.isReading = true;
    this.consumer.stream.store.whenReadable(sequence, () => {
      this.isReading = false;
      this.wake();
    });
    return 'loading';
  }

  /** Sends the message in `view` to whoever takes it. */
  private send(sequence: number, deliveries: number): Outcome {
    const { view, ackSubject, message, consumer } = this;
    const { state, delivery, numPending, stream } = consumer;
    const pendingAfter = deliveries === 1 ? numPending - 1 : numPending;
    const { seconds, nanoseconds } = view;
    const length = ackSubject.write(deliveries, sequence, state.nextConsumer, seconds, nanoseconds, pendingAfter);
    const bytes = view.end - view.subjectStart + length;
    const take = delivery.take(bytes, stream.host.io.clock.monotonicMs());
    if (take !== 'taken') return take === 'congested' ? 'congested' : 'end';
    const { destination } = delivery;
    message.setSubject(view.buffer, view.subjectStart, view.subjectEnd);
    message.setDestination(destination, 0, destination.length);
    message.queueGroups = delivery.queueGroups;
    message.setReply(ackSubject.buffer, 0, length);
    message.setBody(view.buffer, view.bodyStart, view.payloadStart, view.end);
    consumer.noteDelivered(sequence, deliveries);
    stream.account.route(message);
    delivery.delivered();
    return 'delivered';
  }

  private retryLater(): void {
    this.isScheduled = true;
    this.consumer.stream.host.io.timers.after(CONGESTED_RETRY_MS, () => this.run());
  }
}
