/**
 * Who wants to hear of subscriptions to one subject: a push consumer, which delivers only while somebody listens. One
 * listener of the account serves them all, so that a subscription that comes or goes costs one look into a table,
 * however many wait.
 */

import type { InterestListener } from '../ports.ts';
import type { Subscription } from '../subject/subscription.ts';

export class SubjectWatches implements InterestListener {
  private readonly callbacks = new Map<string, Set<() => void>>();

  get isEmpty(): boolean {
    return this.callbacks.size === 0;
  }

  /** Calls back when a subscription to exactly this subject came or went. */
  add(subject: string, callback: () => void): void {
    const callbacks = this.callbacks.get(subject);
    if (callbacks === undefined) this.callbacks.set(subject, new Set([callback]));
    else callbacks.add(callback);
  }

  remove(subject: string, callback: () => void): void {
    const callbacks = this.callbacks.get(subject);
    if (callbacks?.delete(callback) === true && callbacks.size === 0) this.callbacks.delete(subject);
  }

  subscriptionAdded(subscription: Subscription): void {
    this.changed(subscription.key);
  }

  subscriptionRemoved(subscription: Subscription): void {
    this.changed(subscription.key);
  }

  private changed(subject: string): void {
    const callbacks = this.callbacks.get(subject);
    if (callbacks !== undefined) for (const callback of callbacks) callback();
  }
}
