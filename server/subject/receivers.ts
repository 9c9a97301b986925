/**
 * Who receives a subject: the answer of a sublist match, flattened. Queue members that share a name form one group,
 * whatever their patterns: a message goes to one of them.
 */

import type { Subscription } from './subscription.ts';

export class QueueGroup {
  readonly name: string;
  readonly members: Subscription[] = [];
  /** Sum of the members' weights. */
  weight = 0;

  constructor(name: string) {
    this.name = name;
  }

  add(member: Subscription): void {
    this.members.push(member);
    this.weight += member.weight;
  }
}

export class Receivers {
  readonly plain: Subscription[] = [];
  readonly groups: QueueGroup[] = [];

  get count(): number {
    let count = this.plain.length;
    for (const group of this.groups) count += group.members.length;
    return count;
  }

  clear(): void {
    this.plain.length = 0;
    this.groups.length = 0;
  }

  /** Adds a chain of subscriptions to one pattern. */
  addChain(first: Subscription | null): void {
    for (let subscription = first; subscription !== null; subscription = subscription.next) {
      if (subscription.queueGroup === '') this.plain.push(subscription);
      else this.groupOf(subscription.queueGroup).add(subscription);
    }
  }

  copy(): Receivers {
    const copy = new Receivers();
    for (const subscription of this.plain) copy.plain.push(subscription);
    for (const group of this.groups) {
      const copied = copy.groupOf(group.name);
      for (const member of group.members) copied.add(member);
    }
    return copy;
  }

  private groupOf(name: string): QueueGroup {
    for (const group of this.groups) if (group.name === name) return group;
    const group = new QueueGroup(name);
    this.groups.push(group);
    return group;
  }
}
