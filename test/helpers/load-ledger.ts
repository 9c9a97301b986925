/**
 * What was done to one stream of the mixed load, and whether what the stream holds and hands out agrees with that. Every
 * message has an id, which is its `Nats-Msg-Id` and begins its payload, so it is known wherever it comes up:
 *
 *     an id has one sequence, and a sequence one id             nothing is stored twice, nothing replaced
 *     what was acknowledged, delivered or read once is there    until something that was asked for takes it away
 *     what was taken away, and that was confirmed, is gone
 *     the messages of a publisher stand in the order in which they were sent
 *     what a consumer's acknowledgement of was confirmed does not come again
 */

export interface LoadConsumer {
  readonly name: string;
  /** The subjects it wants; all of the stream's kinds when empty. */
  readonly kinds: readonly string[];
  readonly isPush: boolean;
}

export interface LoadStream {
  readonly name: string;
  readonly retention: 'limits' | 'interest' | 'workqueue';
  /** Second tokens of its subjects, of which the first is its name in lower case. */
  readonly kinds: readonly string[];
  readonly consumers: readonly LoadConsumer[];
}

export interface Entry {
  readonly id: string;
  readonly publisher: string;
  readonly number: number;
  readonly kind: string;
  /** 0: it does not expire. */
  readonly ttlMs: number;
  readonly bytes: number;
  /** 0: nobody knows that it is stored. */
  sequence: number;
  isAcknowledged: boolean;
  /** When it was first sent, and when it was known to be stored, by the clients' wall clock. */
  sentMs: number;
  knownMs: number;
  /** It was refused or sent again: later ones may stand before it. */
  isLate: boolean;
  isDamaged: boolean;
  readonly seenBy: Set<string>;
  readonly tried: Set<string>;
  readonly confirmed: Set<string>;
}

/** A message as it was read. */
export interface Held {
  readonly sequence: number;
  readonly subject: string;
  readonly id: string;
}

/** How late what expires may go. */
const LATE_MS = 1500;

export class LoadLedger {
  readonly stream: LoadStream;
  readonly faults: string[] = [];
  readonly byId: Map<string, Entry> = new Map();
  private readonly bySequence = new Map<number, Entry>();
  private readonly numbers = new Map<string, number>();
  private readonly removing = new Set<number>();
  private readonly removed = new Set<number>();
  private purgingBelow = 0;
  private purgedBelow = 0;
  private lifeFloor = 0;
  lastSequence = 0;
  /** A refusal may have been lost with its connection, and later messages be stored. */
  mayRefuse = false;
  /** The clock was set: nobody can tell when something expires. */
  isClockTrusted = true;
  confirmedCount = 0;
  acknowledgedCount = 0;

  constructor(stream: LoadStream) {
    this.stream = stream;
  }

  // ── what is done ─────────────────────────────────────────────────────────────────────────────────────────────────

  nextEntry(publisher: string, kind: string, ttlMs: number, bytes: number): Entry {
    const number = (this.numbers.get(publisher) ?? 0) + 1;
    this.numbers.set(publisher, number);
    const entry: Entry = {
      id: `${this.stream.name}-${publisher}-${number}`,
      publisher,
      number,
      kind,
      ttlMs,
      bytes,
      sequence: 0,
      isAcknowledged: false,
      sentMs: 0,
      knownMs: 0,
      isLate: false,
      isDamaged: false,
      seenBy: new Set(),
      tried: new Set(),
      confirmed: new Set(),
    };
    this.byId.set(entry.id, entry);
    return entry;
  }

  acknowledged(entry: Entry, sequence: number, nowMs: number): void {
    this.known(entry, sequence, nowMs);
    if (!entry.isAcknowledged) this.acknowledgedCount++;
    entry.isAcknowledged = true;
  }

  /** The message came to a consumer; whether the same connection heard before that it is done with it. */
  delivered(consumer: string, id: string, sequence: number, nowMs: number, isDone: boolean): Entry | null {
    const entry = this.byId.get(id);
    if (entry === undefined) {
      this.fault(`${consumer} got ${id} at ${sequence}, which nobody sent`);
      return null;
    }
    this.known(entry, sequence, nowMs);
    const wanted = this.stream.consumers.find(({ name }) => name === consumer)?.kinds ?? [];
    if (wanted.length > 0 && !wanted.includes(entry.kind)) this.fault(`${consumer} got ${id} (${entry.kind})`);
    if (isDone || this.settled.get(consumer)?.has(sequence) === true) {
      this.fault(`${consumer} got ${id} at ${sequence} again behind its confirmed acknowledgement`);
    }
    if (sequence < this.lifeFloor || this.settledRemoved.has(sequence)) {
      this.fault(`${consumer} got ${id} at ${sequence}, which was removed in an earlier life`);
    }
    entry.seenBy.add(consumer);
    return entry;
  }

  confirmed(consumer: string, sequence: number): void {
    const entry = this.bySequence.get(sequence);
    if (entry?.confirmed.has(consumer) === false) this.confirmedCount++;
    entry?.confirmed.add(consumer);
  }

  purging(below: number): void {
    this.purgingBelow = Math.max(this.purgingBelow, below);
  }

  purged(below: number): void {
    this.purgedBelow = Math.max(this.purgedBelow, below);
  }

  removes(sequence: number): void {
    this.removing.add(sequence);
  }

  wasRemoved(sequence: number): void {
    this.removed.add(sequence);
  }

  /** One of the sequences that are known to be there, or 0. */
  someSequence(choose: (count: number) => number): number {
    const first = Math.max(1, this.purgingBelow);
    if (this.lastSequence < first) return 0;
    const sequence = first + choose(this.lastSequence - first + 1);
    return this.bySequence.has(sequence) && !this.removing.has(sequence) ? sequence : 0;
  }

  /** A bit of the message flipped on the disk. */
  damaged(sequence: number): void {
    const entry = this.bySequence.get(sequence);
    if (entry !== undefined) entry.isDamaged = true;
    else this.unknownDamage.add(sequence);
  }

  /** What the publisher has not heard of, in the order in which it was sent. */
  unanswered(publisher: string): Entry[] {
    return [...this.byId.values()].filter((each) => each.publisher === publisher && !each.isAcknowledged);
  }

  // ── what must be so ──────────────────────────────────────────────────────────────────────────────────────────────

  /** The server started anew: nothing of the life before is on its way to anybody. */
  restarted(): void {
    this.lifeFloor = this.purgedBelow;
    for (const each of this.removed) this.settledRemoved.add(each);
    for (const { sequence, confirmed } of this.byId.values()) {
      for (const consumer of confirmed) {
        if (!this.settled.has(consumer)) this.settled.set(consumer, new Set());
        this.settled.get(consumer)?.add(sequence);
      }
    }
  }

  /** Compares with everything that the stream holds, in its order. Right after a start what expired may still be there. */
  check(held: readonly Held[], lastSequence: number, nowMs: number, isSettled: boolean): void {
    const { name } = this.stream;
    const there = new Map(held.map((each) => [each.sequence, each]));
    const newest = new Map<string, number>();
    for (const { sequence, id, subject } of held) {
      const entry = this.byId.get(id);
      if (entry === undefined) {
        this.fault(`${name} has ${id} at ${sequence}, which nobody sent`);
        continue;
      }
      this.known(entry, sequence, nowMs);
      if (subject !== `${name.toLowerCase()}.${entry.kind}`) this.fault(`${id} has the subject ${subject}`);
      if (entry.isLate) continue;
      const last = newest.get(entry.publisher) ?? 0;
      if (entry.number < last) this.fault(`${id} stands behind ${last} of its publisher`);
      newest.set(entry.publisher, entry.number);
    }
    if (lastSequence < this.lastSequence) this.fault(`${name} went back from ${this.lastSequence} to ${lastSequence}`);
    for (const entry of this.byId.values()) {
      if (entry.sequence === 0) continue;
      const isHeld = there.has(entry.sequence);
      if (isHeld && (this.mustBeGone(entry) || (isSettled && this.isExpired(entry, nowMs))))
        this.fault(`${name} still has ${shown(entry)}`);
      if (!isHeld && !this.mayBeGone(entry, nowMs)) this.fault(`${name} has lost ${shown(entry)}`);
    }
  }

  /** When everything is done: whatever had to be handed out was. */
  checkSeen(nowMs: number): void {
    for (const entry of this.byId.values()) {
      if (entry.sequence === 0 || entry.isDamaged || this.isRemovable(entry, nowMs)) continue;
      for (const consumer of this.wanting(entry)) {
        if (!entry.seenBy.has(consumer)) this.fault(`${consumer} never got ${shown(entry)}`);
      }
    }
  }

  private isExpired({ ttlMs, knownMs }: Entry, nowMs: number): boolean {
    return ttlMs > 0 && this.isClockTrusted && knownMs + ttlMs + LATE_MS < nowMs;
  }

  private mustBeGone(entry: Entry): boolean {
    const { sequence, confirmed, isDamaged } = entry;
    if (isDamaged) return false;
    if (sequence < this.purgedBelow || this.removed.has(sequence)) return true;
    if (this.stream.retention === 'limits') return false;
    const wanting = this.wanting(entry);
    return wanting.length > 0
      ? wanting.every((each) => confirmed.has(each))
      : this.stream.retention === 'interest' && entry.isAcknowledged;
  }

  private mayBeGone(entry: Entry, nowMs: number): boolean {
    if (entry.isDamaged || this.isRemovable(entry, nowMs)) return true;
    if (this.stream.retention === 'limits') return false;
    const wanting = this.wanting(entry);
    if (wanting.length === 0) return this.stream.retention === 'interest';
    return wanting.every((each) => entry.tried.has(each));
  }

  private isRemovable({ sequence, ttlMs, sentMs }: Entry, nowMs: number): boolean {
    if (sequence < this.purgingBelow || this.removing.has(sequence)) return true;
    return ttlMs > 0 && (!this.isClockTrusted || sentMs + ttlMs <= nowMs + 1);
  }

  private wanting({ kind }: Entry): string[] {
    const { consumers } = this.stream;
    return consumers.filter(({ kinds }) => kinds.length === 0 || kinds.includes(kind)).map(({ name }) => name);
  }

  private known(entry: Entry, sequence: number, nowMs: number): void {
    if (entry.sequence === sequence) return;
    const other = this.bySequence.get(sequence);
    if (other !== undefined) this.fault(`${sequence} is ${other.id} and ${entry.id}`);
    if (entry.sequence > 0) this.fault(`${entry.id} is stored at ${entry.sequence} and at ${sequence}`);
    entry.sequence = sequence;
    entry.knownMs = nowMs;
    if (this.unknownDamage.has(sequence)) entry.isDamaged = true;
    this.bySequence.set(sequence, entry);
    this.lastSequence = Math.max(this.lastSequence, sequence);
  }

  private fault(text: string): void {
    this.faults.push(text);
  }

  /** What consumers are done with, and what is gone, since earlier lives. */
  private readonly settled = new Map<string, Set<number>>();
  private readonly settledRemoved = new Set<number>();
  private readonly unknownDamage = new Set<number>();
}

function shown(entry: Entry): string {
  const { id, sequence, isAcknowledged, tried, confirmed, ttlMs } = entry;
  const facts = [`at ${sequence}`, isAcknowledged ? 'acknowledged' : 'not acknowledged'];
  if (tried.size > 0) facts.push(`tried by ${[...tried].join(' ')}`);
  if (confirmed.size > 0) facts.push(`confirmed to ${[...confirmed].join(' ')}`);
  if (ttlMs > 0) facts.push(`for ${ttlMs} ms`);
  return `${id} (${facts.join(', ')})`;
}
