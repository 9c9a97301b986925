/**
 * What of the hub's interest counts while the link is down: of the subjects that are spooled, whatever it wanted to hear
 * when it was last looked at, and is known to want since then. It is kept in the metadata of the spool's stream, so that it
 * is known after a restart, too.
 *
 *     link opened, interest whole ─► begin: what the hub wants counts, and nothing else
 *     a second after a change     ─► look:  what it wants counts, and what it wanted at the look before
 *     link lost, other subjects   ─► add:   what it wants counts, too
 *
 * A hub that is stopped withdraws what its streams want before it closes the link. So a withdrawal counts when two looks
 * have seen it, one to two seconds after it came, and none counts that a loss overtakes. What is wanted counts at a loss
 * however new it is: a message that is spooled in vain costs room, one that is not spooled is lost.
 *
 * Bound: ENTRIES_MAX; a hub that wants to hear more than so many different things is taken to want all of them.
 */

import { subjectsCollide } from '../../server/subject/subject.ts';
import type { Subscription } from '../../server/subject/subscription.ts';

const ENTRIES_MAX = 1_000;

export interface WantedSubject {
  readonly subject: string;
  /** '' for plain subscribers. */
  readonly queueGroup: string;
}

/** What of the hub's subscriptions concerns these subjects; in order, so that the same interest has the same text. */
export function wantedOf(subscriptions: Iterable<Subscription>, spooled: readonly string[]): readonly WantedSubject[] {
  const wanted: WantedSubject[] = [];
  for (const { subject, queueGroup } of subscriptions) {
    if (!spooled.some((pattern) => subjectsCollide(pattern, subject))) continue;
    if (wanted.length === ENTRIES_MAX) return everything(spooled);
    wanted.push({ subject, queueGroup });
  }
  return sorted(wanted);
}

export class HubInterest {
  /** What counts, in order. */
  wanted: readonly WantedSubject[];
  /** What the hub wanted at the last look. */
  private seen: readonly WantedSubject[] = [];
  /** The texts of what counts, made when they are asked for. */
  private texts = new Set<string>();
  private textsOf: readonly WantedSubject[] = [];

  constructor(wanted: readonly WantedSubject[]) {
    this.wanted = wanted;
  }

  /** What the hub wants is whole, on a new link. */
  begin(present: readonly WantedSubject[]): void {
    this.wanted = present;
    this.seen = present;
  }

  /** What the hub wants after a change; true: something is withdrawn but counts until the next look. */
  look(present: readonly WantedSubject[], spooled: readonly string[]): boolean {
    this.wanted = union(present, this.seen, spooled);
    this.seen = present;
    return wantedText(this.wanted) !== wantedText(present);
  }

  /** What the hub wants counts beside what does. */
  add(present: readonly WantedSubject[], spooled: readonly string[]): void {
    this.wanted = union(present, this.wanted, spooled);
    this.seen = union(present, this.seen, spooled);
  }

  /** Whether this counts. */
  counts(each: WantedSubject): boolean {
    const { wanted } = this;
    if (this.textsOf !== wanted) this.texts = new Set(wanted.map(textOf));
    this.textsOf = wanted;
    return this.texts.has(textOf(each));
  }

  /** Whether all that counts is wanted. */
  isWithin(present: readonly WantedSubject[]): boolean {
    const known = new Set(present.map(textOf));
    return this.wanted.every((each) => known.has(textOf(each)));
  }

  /** Other subjects are spooled: nothing else counts. */
  restrict(spooled: readonly string[]): void {
    const isSpooled = ({ subject }: WantedSubject): boolean => spooled.some((each) => subjectsCollide(each, subject));
    this.wanted = this.wanted.filter(isSpooled);
    this.seen = this.seen.filter(isSpooled);
  }
}

function union(
  some: readonly WantedSubject[],
  others: readonly WantedSubject[],
  spooled: readonly string[],
): readonly WantedSubject[] {
  const known = new Set(some.map(textOf));
  const all = [...some, ...others.filter((each) => !known.has(textOf(each)))];
  return all.length > ENTRIES_MAX ? everything(spooled) : sorted(all);
}

function everything(spooled: readonly string[]): readonly WantedSubject[] {
  return sorted(spooled.map((subject) => ({ subject, queueGroup: '' })));
}

function sorted(wanted: readonly WantedSubject[]): readonly WantedSubject[] {
  return wanted.toSorted((a, b) => compare(textOf(a), textOf(b)));
}

export function wantedText(wanted: readonly WantedSubject[]): string {
  return wanted.map(textOf).join('\n');
}

export function readWanted(text: string): readonly WantedSubject[] {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const [subject = '', queueGroup = ''] = line.split(' ');
    return { subject, queueGroup };
  });
}

function textOf({ subject, queueGroup }: WantedSubject): string {
  return queueGroup === '' ? subject : `${subject} ${queueGroup}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
