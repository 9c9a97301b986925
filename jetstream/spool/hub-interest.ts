/**
 * What the hub was last interested in, of the subjects that are spooled: known while the link is down, and after a
 * restart. It is kept in the metadata of the spool's stream, and written when it has been the same for SETTLED_MS.
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
    if (wanted.length === ENTRIES_MAX) return spooled.map((each) => ({ subject: each, queueGroup: '' }));
    wanted.push({ subject, queueGroup });
  }
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
