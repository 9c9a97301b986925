/**
 * What was published to streams from which others are fed, and whether what these hold agrees with it: what was
 * acknowledged and not deleted is there, once and in order, and a mirror has it where its origin had it.
 */
import type { Stored } from '../helpers/store-messages.ts';

export class MirrorLedger {
  readonly faults: string[] = [];
  acknowledgedCount = 0;
  private readonly bySequence = new Map<number, string>();
  private readonly deleted = new Set<number>();
  private readonly subjects = new Map<string, string>();

  /** The payload, which no other message has, is about to be published under the subject. */
  sent(payload: string, subject: string): void {
    this.subjects.set(payload, subject);
  }

  /** The publisher was told that the message with this payload has this sequence. */
  acknowledged(payload: string, sequence: number): void {
    this.acknowledgedCount++;
    const earlier = this.bySequence.get(sequence);
    if (earlier !== undefined) this.faults.push(`${sequence} was given to ${earlier} and to ${payload}`);
    this.bySequence.set(sequence, payload);
  }

  /** Somebody asks for the message to be deleted; it may be gone from now on. */
  deletes(sequence: number): void {
    this.deleted.add(sequence);
  }

  /** A sequence that was acknowledged; 0: there is none. */
  pick(fraction: number): number {
    const all = [...this.bySequence.keys()];
    return all[Math.floor(fraction * all.length)] ?? 0;
  }

  checkMirror(name: string, held: readonly Stored[]): void {
    const there = new Map(held.map((each) => [each.sequence, each]));
    for (const [sequence, payload] of this.bySequence) {
      const found = there.get(sequence);
      if (found === undefined) {
        if (!this.deleted.has(sequence)) this.faults.push(`${name} has lost ${sequence}`);
      } else if (found.payload !== payload || found.subject !== this.subjects.get(payload)) {
        this.faults.push(`${name} has ${found.subject} ${found.payload} at ${sequence} instead of ${payload}`);
      }
    }
  }

  /** `wants`: whether the source lets the message with this subject pass. */
  checkSource(name: string, held: readonly Stored[], wants: (subject: string) => boolean): void {
    let last = 0;
    const there = new Set<string>();
    for (const { sequence, headers, payload } of held) {
      const from = Number(/Nats-Stream-Source: \S+ (\d+) /.exec(headers)?.[1]);
      if (!(from > last)) this.faults.push(`${name} has ${from} behind ${last}, at ${sequence}`);
      if (there.has(payload)) this.faults.push(`${name} has ${payload} twice`);
      there.add(payload);
      last = from;
    }
    for (const [sequence, payload] of this.bySequence) {
      const isWanted = wants(this.subjects.get(payload) as string);
      if (isWanted && !there.has(payload) && !this.deleted.has(sequence)) {
        this.faults.push(`${name} has lost ${payload}, which was ${sequence}`);
      }
      if (!isWanted && there.has(payload)) this.faults.push(`${name} has ${payload}, which it did not want`);
    }
  }
}
