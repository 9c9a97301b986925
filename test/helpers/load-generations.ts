/**
 * A stream that is made, filled, consumed, deleted and made again under the same name, over and over. Each time is a
 * generation; what the stream holds is of one, and not of one whose deletion was confirmed. The consumer of one generation
 * is not there in the next.
 */
import type { Held } from './load-ledger.ts';
import type { LoadAnswer, LoadLink } from './load-link.ts';

const NAME = 'AGAIN';
const MESSAGES_MAX = 12;
const RETRY_MS = 50;
const CONFIG = { name: NAME, subjects: ['again.>'], allow_direct: true };
const CONSUMER = { stream_name: NAME, config: { durable_name: 'once', ack_policy: 'explicit' } };

export const GENERATIONS_STREAM: string = NAME;

export class LoadGenerations {
  readonly faults: string[] = [];
  deletions = 0;
  /** Of the stream that was asked for last; those up to `deleted` are gone for certain. */
  private generation = 0;
  private deleted = 0;
  private isMade = false;
  private isDeleting = false;
  private acknowledged = new Set<string>();
  private isStopping = false;

  begin(link: LoadLink): void {
    this.isStopping = false;
    if (this.isMade && !this.isDeleting) this.fill(link, 0);
    else this.deleteIt(link);
  }

  stop(): void {
    this.isStopping = true;
  }

  private make(link: LoadLink): void {
    if (this.isStopping) return;
    this.generation++;
    this.isDeleting = false;
    this.acknowledged = new Set();
    link.request(`STREAM.CREATE.${NAME}`, CONFIG, (answer) => {
      if (this.isRetried(link, answer, () => this.deleteIt(link))) return;
      this.isMade = true;
      const { state } = answer;
      if (state?.messages !== 0 || state.last_seq !== 0) {
        this.faults.push(`generation ${this.generation} begins with ${JSON.stringify(state)}`);
      }
      this.checkConsumer(link);
    });
  }

  private checkConsumer(link: LoadLink): void {
    link.request(`CONSUMER.INFO.${NAME}.once`, null, ({ error }) => {
      if (error === undefined) this.faults.push(`generation ${this.generation} has the consumer of another`);
      link.request(`CONSUMER.DURABLE.CREATE.${NAME}.once`, CONSUMER, () =>
        this.fill(link, link.random.below(MESSAGES_MAX)),
      );
    });
  }

  private fill(link: LoadLink, left: number): void {
    if (left === 0) {
      link.after(link.random.fraction() * 20, () => this.deleteIt(link));
      return;
    }
    const id = `g${this.generation}-${left}`;
    link.ask('again.x', [`Nats-Msg-Id: ${id}`], `${id} `, ({ seq, error }) => {
      if (seq !== undefined && error === undefined) this.acknowledged.add(id);
      this.fill(link, left - 1);
    });
  }

  private deleteIt(link: LoadLink): void {
    if (this.isStopping) return;
    this.isDeleting = true;
    const { generation } = this;
    link.request(`STREAM.DELETE.${NAME}`, null, (answer) => {
      if (answer.error?.code !== 404 && this.isRetried(link, answer, () => this.deleteIt(link))) return;
      this.deleted = generation;
      this.isMade = false;
      this.deletions++;
      this.make(link);
    });
  }

  /** An error on a disk that fails: it is tried again later. */
  private isRetried(link: LoadLink, { error }: LoadAnswer, again: () => void): boolean {
    if (error === undefined) return false;
    link.after(RETRY_MS, again);
    return true;
  }

  check(held: readonly Held[] | null): void {
    if (held === null) {
      if (this.isMade && !this.isDeleting) this.faults.push(`generation ${this.generation} is gone`);
      return;
    }
    const there = new Set(held.map(({ id }) => id));
    for (const id of there) {
      const generation = Number(/^g(\d+)-/.exec(id)?.[1]);
      if (generation <= this.deleted) this.faults.push(`${id} is there, ${this.deleted} generations are deleted`);
      if (generation > this.generation) this.faults.push(`${id} was never sent`);
    }
    if (there.size !== held.length) this.faults.push(`generation ${this.generation} has a message twice`);
    if (this.isDeleting) return;
    for (const id of this.acknowledged) if (!there.has(id)) this.faults.push(`${id} is lost`);
  }
}
