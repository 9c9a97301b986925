/**
 * What publishers sent to a stream with roll-ups and TTLs, and what of it must be there, may be there, and can't be there.
 * Each subject has one publisher, who waits for an answer before going on: so the order of its messages is known.
 */
import type { MessageStore } from '../../jetstream/store/store.ts';
import { visitMessages } from '../helpers/store-messages.ts';

/** A timer may be late by so much. */
const LATE_MS = 1500;

export interface Sent {
  readonly id: string;
  readonly subject: string;
  /** Seconds; 0: none. */
  readonly ttl: number;
  readonly rollsUp: 'sub' | 'all' | null;
  /** When it was sent, in wall milliseconds. */
  readonly sentMs: number;
  /** Known once it is acknowledged or was there; else 0. */
  sequence: number;
}

export interface Found {
  readonly sequence: number;
  readonly subject: string;
  readonly headers: string;
  readonly id: string;
  readonly timeMs: number;
}

export class LifetimeLedger {
  readonly sent: Sent[] = [];

  get acknowledgedCount(): number {
    return this.sent.filter(({ sequence }) => sequence > 0).length;
  }

  /** What is wrong with `found` at this time; `markerTtl` 0: there are no markers. */
  faults(found: readonly Found[], nowMs: number, markerTtl: number): string[] {
    const there = new Map(found.filter(({ id }) => id !== '').map((each) => [each.id, each]));
    const known = new Set(this.sent.map(({ id }) => id));
    for (const each of this.sent) each.sequence = there.get(each.id)?.sequence ?? each.sequence;
    const allBelow = Math.max(
      0,
      ...this.sent.filter(({ rollsUp }) => rollsUp === 'all').map(({ sequence }) => sequence),
    );
    const faults = [...there.keys()].filter((id) => !known.has(id)).map((id) => `${id} was never sent`);
    for (const subject of new Set(this.sent.map((each) => each.subject))) {
      const sent = this.sent.filter((each) => each.subject === subject);
      faults.push(
        ...faultsOf(sent, there, allBelow, nowMs, markerTtl),
        ...markerFaults(subject, found, nowMs, markerTtl),
      );
    }
    return faults;
  }
}

function faultsOf(
  sent: readonly Sent[],
  there: ReadonlyMap<string, Found>,
  allBelow: number,
  nowMs: number,
  markerTtl: number,
): string[] {
  const stored = sent.filter(({ sequence }) => sequence > 0);
  const last = sent.at(-1);
  // Nobody can tell whether the last one was stored before its time was over, and what it took away.
  const isUnknown =
    last !== undefined && last.rollsUp !== null && !stored.includes(last) && isOver(last, nowMs, markerTtl);
  const replacedBelow = stored.findLastIndex(({ rollsUp }) => rollsUp !== null);
  const faults: string[] = [];
  for (const [at, { id, ttl, sentMs, sequence }] of stored.entries()) {
    const found = there.get(id);
    const lifeMs = lifeOf(ttl, markerTtl);
    const isReplaced = at < replacedBelow || sequence < allBelow;
    if (isReplaced && found !== undefined) faults.push(`${id} is there though it was replaced`);
    if (isReplaced) continue;
    if (found === undefined && sentMs + lifeMs > nowMs && !isUnknown) faults.push(`${id} is lost`);
    if (found !== undefined && found.timeMs + lifeMs + LATE_MS < nowMs) faults.push(`${id} has outlived its time`);
  }
  return faults;
}

function lifeOf(ttl: number, markerTtl: number): number {
  return 1000 * (ttl > 0 ? Math.max(ttl, markerTtl) : Infinity);
}

function isOver({ sentMs, ttl }: Sent, nowMs: number, markerTtl: number): boolean {
  return sentMs + lifeOf(ttl, markerTtl) <= nowMs;
}

/** A marker replaces all that was there before, and does not stay. */
function markerFaults(subject: string, found: readonly Found[], nowMs: number, markerTtl: number): string[] {
  const own = found.filter((each) => each.subject === subject);
  const at = own.findIndex(({ id }) => id === '');
  const marker = own[at];
  if (marker === undefined) return [];
  const faults: string[] = [];
  if (markerTtl === 0 || !marker.headers.includes(`Nats-TTL: ${markerTtl}s`)) faults.push(`${subject} has a marker`);
  if (at > 0) faults.push(`${subject} has messages before its marker`);
  if (own.filter(({ id }) => id === '').length > 1) faults.push(`${subject} has several markers`);
  if (marker.timeMs + markerTtl * 1000 + LATE_MS < nowMs) faults.push(`the marker of ${subject} has outlived its time`);
  return faults;
}

/** Every message of the store. */
export function readFound(store: MessageStore, until: (condition: () => boolean) => void): Found[] {
  const found: Found[] = [];
  visitMessages(store, until, (view) => {
    found.push({
      sequence: view.sequence,
      subject: view.subject,
      headers: view.buffer.toString('latin1', view.bodyStart, view.payloadStart),
      id: view.buffer.toString('latin1', view.payloadStart, view.end).split(' ', 1)[0] as string,
      timeMs: view.seconds * 1000 + view.nanoseconds / 1e6,
    });
  });
  return found;
}
