/**
 * What was published to streams that keep messages only for their consumers, what was acknowledged on both sides, and
 * whether what a stream holds agrees with that:
 *
 *     everybody who wants it has acknowledged it, and knows that this counts    it is gone
 *     somebody who wants it has not tried to acknowledge it                     it is there
 *     nobody wants it                                                           in a work queue it is there, else not
 */

export interface WantedStream {
  readonly name: string;
  readonly isWorkQueue: boolean;
  /** Consumers, and the subjects they want. */
  readonly consumers: Readonly<Record<string, readonly string[]>>;
}

interface Entry {
  readonly subject: string;
  readonly tried: Set<string>;
  readonly confirmed: Set<string>;
}

export class RetentionLedger {
  readonly faults: string[] = [];
  readonly stream: WantedStream;
  confirmedCount = 0;
  private readonly entries = new Map<number, Entry>();
  private lastSequence = 0;

  constructor(stream: WantedStream) {
    this.stream = stream;
  }

  /** The publisher was told that the message has this sequence. */
  stored(subject: string, sequence: number): void {
    if (this.entries.has(sequence)) this.faults.push(`${this.stream.name}: ${sequence} was given twice`);
    this.entries.set(sequence, { subject, tried: new Set(), confirmed: new Set() });
    this.lastSequence = Math.max(this.lastSequence, sequence);
  }

  /** The consumer got the message. Who published it may not know yet that it is stored. */
  delivered(consumer: string, sequence: number, subject: string): void {
    const { name, consumers } = this.stream;
    if (consumers[consumer]?.includes(subject) !== true) this.faults.push(`${name}.${consumer} got ${subject}`);
    if (this.entries.get(sequence)?.confirmed.has(consumer) === true) {
      this.faults.push(`${name}.${consumer} got ${sequence} again, which it had acknowledged`);
    }
  }

  /** The consumer says that it is done; it may never hear that this counted. */
  tries(consumer: string, sequence: number): void {
    this.entries.get(sequence)?.tried.add(consumer);
  }

  confirmed(consumer: string, sequence: number): void {
    this.confirmedCount++;
    this.entries.get(sequence)?.confirmed.add(consumer);
  }

  /** Whether the ledger knows the message, so that what becomes of it can be told. */
  knows(sequence: number): boolean {
    return this.entries.has(sequence);
  }

  /** Compares with everything that the stream holds. */
  check(held: ReadonlyMap<number, string>, lastSequence: number): void {
    const { name, isWorkQueue, consumers } = this.stream;
    if (lastSequence < this.lastSequence) this.faults.push(`${name} went back to ${lastSequence}`);
    for (const [sequence, { subject, tried, confirmed }] of this.entries) {
      const wanting = Object.keys(consumers).filter((each) => consumers[each]?.includes(subject) === true);
      const isHeld = held.has(sequence);
      if (isHeld && held.get(sequence) !== subject)
        this.faults.push(`${name} has ${held.get(sequence)} at ${sequence}`);
      const isOver = wanting.length === 0 ? !isWorkQueue : wanting.every((each) => confirmed.has(each));
      const isAwaited = wanting.length === 0 ? isWorkQueue : wanting.some((each) => !tried.has(each));
      if (isOver && isHeld) this.faults.push(`${name} still has ${sequence} (${subject})`);
      if (isAwaited && !isHeld) this.faults.push(`${name} has lost ${sequence} (${subject})`);
    }
  }
}
