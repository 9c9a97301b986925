/**
 * The subscriptions of one connection by sid. Most connections have a few: they stand in an array. More go into a map,
 * and beyond MAP_ENTRIES_MAX into as many maps as it takes, since one map of a million entries pauses for tens of
 * milliseconds when it grows.
 */

import { hashText } from '../subject/subject-hash.ts';
import type { Subscription } from '../subject/subscription.ts';

const ARRAY_ENTRIES_MAX = 8;
const MAP_ENTRIES_MAX = 16_384;
const SHARDS = 256;

/** Shared by the many that have none. */
const NONE: readonly Subscription[] = [];

export class SidTable {
  /** Never changed in place: an array that grows takes room for sixteen more. */
  private few: readonly Subscription[] | null = NONE;
  private shards: readonly Map<string, Subscription>[] | null = null;
  size = 0;

  get(sid: string): Subscription | undefined {
    if (this.few !== null) {
      for (const each of this.few) if (each.sid === sid) return each;
      return undefined;
    }
    return this.shardOf(sid).get(sid);
  }

  /** Adds a subscription whose sid is not there yet. */
  add(subscription: Subscription): void {
    this.size++;
    if (this.few !== null) {
      if (this.few.length < ARRAY_ENTRIES_MAX) {
        this.few = this.few.concat(subscription);
        return;
      }
      this.spread(this.few, 1);
      this.few = null;
    } else if (this.shards?.length === 1 && this.size > MAP_ENTRIES_MAX) this.spread([...this.all()], SHARDS);
    this.shardOf(subscription.sid).set(subscription.sid, subscription);
  }

  delete(sid: string): void {
    if (this.few === null) {
      if (this.shardOf(sid).delete(sid)) this.size--;
      return;
    }
    this.few = this.few.filter((each) => each.sid !== sid);
    this.size = this.few.length;
  }

  *all(): Generator<Subscription> {
    if (this.few !== null) yield* this.few;
    for (const shard of this.shards ?? []) yield* shard.values();
  }

  clear(): void {
    this.few = NONE;
    this.shards = null;
    this.size = 0;
  }

  private spread(subscriptions: readonly Subscription[], shards: number): void {
    this.shards = Array.from({ length: shards }, () => new Map<string, Subscription>());
    for (const each of subscriptions) this.shardOf(each.sid).set(each.sid, each);
  }

  private shardOf(sid: string): Map<string, Subscription> {
    const shards = this.shards as readonly Map<string, Subscription>[];
    const index = shards.length === 1 ? 0 : (hashText(sid, 0) >>> 8) % shards.length;
    return shards[index] as Map<string, Subscription>;
  }
}
