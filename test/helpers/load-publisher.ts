/**
 * Publishes to one stream of the mixed load, several messages in flight, each with an id. In a new life it first sends
 * again, in order, what it has no answer for; now and then it repeats what it has one for, which must be the same.
 */
import type { Entry, LoadLedger } from './load-ledger.ts';
import type { LoadLink } from './load-link.ts';

const SMALL_BYTES = 200;
const MEDIUM_BYTES = 3000;
const LARGE_BYTES = 60_000;
const RETRY_MS = 50;
const PATIENCE_MS = 30_000;

export interface PublisherOptions {
  readonly inFlightMax: number;
  readonly pauseMsMax: number;
  readonly ttlChance: number;
}

export class LoadPublisher {
  private readonly link: LoadLink;
  private readonly ledger: LoadLedger;
  private readonly name: string;
  private readonly options: PublisherOptions;
  private inFlight = 0;
  private isStopping = false;
  private recent: Entry | null = null;

  constructor(link: LoadLink, ledger: LoadLedger, name: string, options: PublisherOptions) {
    this.link = link;
    this.ledger = ledger;
    this.name = name;
    this.options = options;
  }

  begin(): void {
    for (const entry of this.ledger.unanswered(this.name)) {
      this.inFlight++;
      if (this.ledger.mayRefuse) entry.isLate = true;
      this.send(entry);
    }
    this.fill();
  }

  /** Nothing new is sent. */
  stop(): void {
    this.isStopping = true;
  }

  get isDone(): boolean {
    return this.isStopping && this.inFlight === 0;
  }

  private fill(): void {
    const { random } = this.link;
    while (!this.isStopping && this.inFlight < this.options.inFlightMax) {
      this.inFlight++;
      if (this.recent !== null && random.chance(0.02)) this.send(this.recent);
      else this.send(this.newEntry());
    }
  }

  private newEntry(): Entry {
    const { random } = this.link;
    const kind = random.pick(this.ledger.stream.kinds);
    const choice = random.fraction();
    const bytesMax = choice < 0.03 ? LARGE_BYTES : choice < 0.2 ? MEDIUM_BYTES : SMALL_BYTES;
    const ttlMs = random.chance(this.options.ttlChance) ? 1000 * random.between(1, 3) : 0;
    const entry = this.ledger.nextEntry(this.name, kind, ttlMs, random.below(bytesMax));
    entry.sentMs = this.link.site.wallMs();
    return entry;
  }

  private send(entry: Entry): void {
    const { link, ledger } = this;
    const subject = `${ledger.stream.name.toLowerCase()}.${entry.kind}`;
    const headers = [`Nats-Msg-Id: ${entry.id}`];
    if (entry.ttlMs > 0) headers.push(`Nats-TTL: ${entry.ttlMs / 1000}`);
    let isOver = false;
    const again = (): void => {
      entry.isLate = true;
      this.send(entry);
    };
    link.ask(subject, headers, `${entry.id} ${'.'.repeat(entry.bytes)}`, ({ seq, error }) => {
      if (isOver) return;
      isOver = true;
      if (error !== undefined || seq === undefined) {
        link.after(RETRY_MS, again);
        return;
      }
      ledger.acknowledged(entry, seq, link.site.wallMs());
      this.recent = entry;
      this.inFlight--;
      const pauseMs = link.random.fraction() ** 3 * this.options.pauseMsMax;
      link.after(pauseMs, () => this.fill());
    });
    link.after(PATIENCE_MS, () => {
      if (isOver) return;
      isOver = true;
      again();
    });
  }
}
