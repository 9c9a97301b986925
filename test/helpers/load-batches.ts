/** Atomic batches: each is there whole and in one piece, or not at all; one that was acknowledged is there. */
import type { Held } from './load-ledger.ts';
import type { LoadLink } from './load-link.ts';

const MESSAGES_MAX = 12;
const PAUSE_MS_MAX = 80;

export const BATCH_STREAM = 'BATCHES';
export const BATCH_CONFIG: object = {
  name: BATCH_STREAM,
  subjects: ['batches.>'],
  allow_atomic: true,
  allow_direct: true,
};

export class LoadBatches {
  readonly faults: string[] = [];
  /** How many messages each has, and those that were acknowledged, with their last sequence. */
  private readonly sizes = new Map<string, number>();
  private readonly acknowledged = new Map<string, number>();
  private isStopping = false;
  private isWaiting = false;

  begin(link: LoadLink): void {
    this.isStopping = false;
    this.publishNext(link);
  }

  stop(): void {
    this.isStopping = true;
  }

  get isDone(): boolean {
    return this.isStopping && !this.isWaiting;
  }

  private publishNext(link: LoadLink): void {
    if (this.isStopping) return;
    const { random } = link;
    const id = `b${this.sizes.size + 1}`;
    const size = random.between(1, MESSAGES_MAX);
    this.sizes.set(id, size);
    this.isWaiting = true;
    const again = (): void => {
      this.isWaiting = false;
      link.after(random.fraction() * PAUSE_MS_MAX, () => this.publishNext(link));
    };
    for (let position = 1; position <= size; position++) {
      const headers = [`Nats-Batch-Id: ${id}`, `Nats-Batch-Sequence: ${position}`];
      const payload = `${id} ${'.'.repeat(random.below(300))}`;
      if (position < size) {
        link.publish('batches.x', headers, payload, '');
        continue;
      }
      link.ask('batches.x', [...headers, 'Nats-Batch-Commit: 1'], payload, ({ seq, error }) => {
        if (seq !== undefined && error === undefined) this.acknowledged.set(id, seq);
        again();
      });
    }
  }

  check(held: readonly Held[] | null): void {
    this.isWaiting = false;
    const found = new Map<string, number[]>();
    for (const { id, sequence } of held ?? []) found.set(id, [...(found.get(id) ?? []), sequence]);
    for (const [id, sequences] of found) {
      const [first = 0] = sequences;
      const isWhole = sequences.length === this.sizes.get(id) && sequences.every((each, at) => each === first + at);
      if (!isWhole) this.faults.push(`of batch ${id} (${this.sizes.get(id)}) ${sequences.join(' ')} are there`);
    }
    for (const [id, last] of this.acknowledged) {
      if (found.get(id)?.at(-1) !== last) this.faults.push(`batch ${id}, acknowledged at ${last}, is lost`);
    }
  }
}
