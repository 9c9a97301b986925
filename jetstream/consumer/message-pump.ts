/**
 * Takes messages from the stream to whom the delivery names: DELIVER_PER_TURN in one turn, what has to be delivered again
 * before what is new. It rests when nobody takes more, when nothing is left, or when too much is unacknowledged; it parks
 * while a message is read from the disk or its time of replay has not come, and comes back in a moment when the receiver
 * has much unsent.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, NONE } from '../store/store.ts';
import { AckSubject } from './ack-subject.ts';
import type { Consumer } from './consumer.ts';
import { HeadersOnly } from './headers-only.ts';
import { PinHeader } from './pin-header.ts';
import type { RedeliveryQueue } from './redelivery-queue.ts';
import { ReplayPace } from './replay-pace.ts';

const DELIVER_PER_TURN = 256;
const CONGESTED_RETRY_MS = 2;

/** `parked`: the pump is woken when it can go on. */
type Outcome = 'delivered' | 'end' | 'full' | 'parked' | 'nobody' | 'congested';

export class MessagePump {
  private readonly consumer: Consumer;
  private readonly redelivery: RedeliveryQueue;
  private readonly view = new RecordView(Buffer.alloc(0));
  private readonly message = new Message();
  private readonly ackSubject: AckSubject;
  private headersOnly: HeadersOnly | null = null;
  private pinHeader: PinHeader | null = null;
  private pace: ReplayPace | null = null;
  private isScheduled = false;
  private isParked = false;

  constructor(consumer: Consumer, redelivery: RedeliveryQueue) {
    this.consumer = consumer;
    this.redelivery = redelivery;
    this.ackSubject = new AckSubject(consumer.stream.name, consumer.config.name);
    this.update();
  }

  /** The messages that are there now are replayed at their pace, if the configuration says so. */
  start(): void {
    const { config, stream } = this.consumer;
    if (config.replayPolicy === 'original') this.pace = new ReplayPace(stream.store.lastSequence);
  }

  /** The configuration may have changed. */
  update(): void {
    this.headersOnly = this.consumer.config.headersOnly ? new HeadersOnly() : null;
  }

  get isResting(): boolean {
    return !this.isScheduled && !this.isParked && !this.consumer.isStopped;
  }

  /** There may be something to deliver. */
  wake(): void {
    if (!this.isResting || !this.consumer.delivery.isReady) return;
    this.isScheduled = true;
    this.consumer.stream.host.io.timers.afterTurn(() => this.run());
  }

  private run(): void {
    this.isScheduled = false;
    const { consumer } = this;
    const { delivery } = consumer;
    if (consumer.isStopped) return;
    if (consumer.pause.isPaused) {
      delivery.review(true);
      return;
    }
    if (consumer.undelivered.isUnknown) return;
    for (let count = 0; count < DELIVER_PER_TURN && delivery.isReady; count++) {
      const outcome = this.deliverNext();
      if (outcome === 'delivered') continue;
      if (outcome === 'congested') this.retryLater();
      else this.rest(outcome);
      return;
    }
    this.wake();
  }

  private rest(outcome: Outcome): void {
    const { consumer, pace } = this;
    if (pace !== null && outcome !== 'parked' && consumer.state.nextStream > pace.upTo) this.pace = null;
    consumer.delivery.review(outcome === 'end' || outcome === 'nobody');
  }

  private deliverNext(): Outcome {
    const { consumer } = this;
    const queued = this.redelivery.peek();
    if (queued > 0) return this.redeliver(queued);
    if (consumer.isFull) return 'full';
    const { state, stream } = consumer;
    const sequence = consumer.undelivered.next();
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
    const { consumer } = this;
    const { pending } = consumer.state;
    const deliveries = pending.deliveryCount(pending.row(sequence)) + 1;
    const { maxDeliver } = consumer.config;
    if (maxDeliver > 0 && deliveries > maxDeliver) {
      this.redelivery.shift();
      consumer.exhaust(sequence);
      return 'delivered';
    }
    const outcome = consumer.stream.store.read(sequence, this.view);
    if (outcome === 'loading') return this.park(sequence);
    if (outcome === 'missing') {
      this.redelivery.shift();
      consumer.gone(sequence);
      return 'delivered';
    }
    return this.send(sequence, deliveries);
  }

  /** Waits until the message is in memory. */
  private park(sequence: number): 'parked' {
    this.isParked = true;
    this.consumer.stream.store.whenReadable(sequence, () => this.unpark());
    return 'parked';
  }

  private unpark(): void {
    this.isParked = false;
    this.wake();
  }

  private parkFor(delayMs: number): 'parked' {
    this.isParked = true;
    this.consumer.stream.host.io.timers.after(delayMs, () => this.unpark());
    return 'parked';
  }

  /** Sends the message in `view` to whoever takes it. */
  private send(sequence: number, deliveries: number): Outcome {
    const { view, ackSubject, message, consumer, headersOnly, pace } = this;
    const { state, delivery, stream } = consumer;
    const { seconds, nanoseconds } = view;
    const delayMs = pace === null ? 0 : pace.delayMs(sequence, seconds, nanoseconds);
    if (delayMs > 0) return this.parkFor(delayMs);
    const pendingAfter = deliveries === 1 ? consumer.numPending - 1 : consumer.numPending;
    const length = ackSubject.write(deliveries, sequence, state.nextConsumer, seconds, nanoseconds, pendingAfter);
    const headerBytes = headersOnly === null ? 0 : headersOnly.write(view);
    const bodyBytes = headersOnly === null ? view.end - view.bodyStart : headerBytes;
    const bytes = view.subjectEnd - view.subjectStart + length + bodyBytes;
    const take = delivery.take(bytes, stream.host.io.clock.monotonicMs());
    if (take !== 'taken') return take === 'congested' ? 'congested' : 'nobody';
    const { destination } = delivery;
    message.setSubject(view.buffer, view.subjectStart, view.subjectEnd);
    message.setDestination(destination, 0, destination.length);
    message.queueGroups = delivery.queueGroups;
    message.setReply(ackSubject.buffer, 0, length);
    if (headersOnly === null) message.setBody(view.buffer, view.bodyStart, view.payloadStart, view.end);
    else message.setBody(headersOnly.buffer, 0, headerBytes, headerBytes);
    const { pinId } = delivery;
    if (pinId !== null) (this.pinHeader ??= new PinHeader()).add(message, pinId);
    consumer.noteDelivered(sequence, deliveries);
    pace?.delivered(seconds, nanoseconds);
    stream.account.route(message);
    delivery.delivered();
    if (consumer.settlesOnDelivery) stream.settlements?.settled(sequence);
    return 'delivered';
  }

  private retryLater(): void {
    this.isScheduled = true;
    this.consumer.stream.host.io.timers.after(CONGESTED_RETRY_MS, () => this.run());
  }
}
