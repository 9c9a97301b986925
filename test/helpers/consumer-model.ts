/**
 * What a consumer has delivered and what of it is acknowledged, written down so plainly that it can't be wrong: lists that
 * are searched from end to end.
 */
import type { ConsumerState } from '../../jetstream/consumer/consumer-state.ts';

interface Delivered {
  readonly stream: number;
  readonly consumer: number;
  readonly deliveries: number;
}

export class ConsumerModel {
  pending: readonly Delivered[] = [];
  exhausted: readonly number[] = [];
  nextStream = 1;
  nextConsumer = 1;
  deliveredStream = 0;
  floor: { readonly stream: number; readonly consumer: number } = { stream: 0, consumer: 0 };

  /** The state as one text, to compare. */
  get text(): string {
    const { pending, exhausted, nextStream, nextConsumer, deliveredStream, floor } = this;
    return JSON.stringify({ pending, exhausted, nextStream, nextConsumer, deliveredStream, floor });
  }

  deliver(stream: number): void {
    const before = this.pending.find((each) => each.stream === stream);
    const now = {
      stream,
      consumer: before?.consumer ?? this.nextConsumer,
      deliveries: (before?.deliveries ?? 0) + 1,
    };
    this.nextConsumer++;
    this.pending = [...this.pending.filter((each) => each !== before), now].toSorted((a, b) => a.stream - b.stream);
    this.deliveredStream = Math.max(this.deliveredStream, stream);
    this.nextStream = Math.max(this.nextStream, stream + 1);
  }

  settle(stream: number): void {
    this.exhausted = this.exhausted.filter((each) => each !== stream);
    const gone = this.pending.find((each) => each.stream === stream);
    if (gone === undefined) return;
    this.pending = this.pending.filter((each) => each !== gone);
    if (this.pending.length === 0) this.floor = { stream: this.deliveredStream, consumer: this.nextConsumer - 1 };
    else if (gone.consumer === this.floor.consumer + 1) {
      const next = this.pending.find((each) => each.stream > stream);
      this.floor =
        next === undefined
          ? { stream, consumer: gone.consumer }
          : { stream: next.stream - 1, consumer: next.consumer - 1 };
    }
  }

  settleUpTo(consumer: number, stream: number): void {
    if (consumer <= this.floor.consumer || stream <= this.floor.stream) return;
    this.floor = { stream, consumer };
    this.pending = this.pending.filter((each) => each.stream > stream);
    this.exhausted = this.exhausted.filter((each) => each > stream);
  }

  exhaust(stream: number): void {
    if (!this.pending.some((each) => each.stream === stream)) return;
    this.pending = this.pending.filter((each) => each.stream !== stream);
    this.exhausted = [...this.exhausted, stream].toSorted((a, b) => a - b);
  }

  purge(below: number): void {
    if (this.nextStream < below) {
      this.nextStream = below;
      this.deliveredStream = below - 1;
    }
    const gone = this.pending.filter((each) => each.stream < below);
    const consumer = Math.max(this.floor.consumer, ...gone.map((each) => each.consumer));
    this.floor = { stream: Math.max(this.floor.stream, below - 1), consumer };
    this.pending = this.pending.filter((each) => each.stream >= below);
    this.exhausted = this.exhausted.filter((each) => each >= below);
    if (this.pending.length === 0) this.floor = { stream: this.deliveredStream, consumer: this.nextConsumer - 1 };
  }

  reset(stream: number): void {
    this.pending = [];
    this.exhausted = [];
    this.nextConsumer = 1;
    this.nextStream = stream;
    this.deliveredStream = stream - 1;
    this.floor = { stream: stream - 1, consumer: 0 };
  }

  /** Whether the consumer has yet to have the message, or never will. */
  needs(stream: number): boolean {
    if (this.exhausted.includes(stream)) return true;
    if (stream >= this.nextStream) return true;
    return stream > this.floor.stream && this.pending.some((each) => each.stream === stream);
  }
}

/** What the model's text would be if it stood where the consumer stands. */
export function textOf(state: ConsumerState): string {
  const model = new ConsumerModel();
  const { pending, exhausted, ackFloor } = state;
  const rows: Delivered[] = [];
  for (let row = pending.firstRow; row >= 0; row = pending.nextRow(row)) {
    rows.push({
      stream: pending.sequence(row),
      consumer: pending.consumerSequence(row),
      deliveries: pending.deliveryCount(row),
    });
  }
  const left: number[] = [];
  for (let row = exhausted.firstRow; row >= 0; row = exhausted.nextRow(row)) left.push(exhausted.sequence(row));
  model.pending = rows;
  model.exhausted = left;
  model.nextStream = state.nextStream;
  model.nextConsumer = state.nextConsumer;
  model.deliveredStream = state.deliveredStream;
  model.floor = { stream: ackFloor.stream, consumer: ackFloor.consumer };
  return model.text;
}
