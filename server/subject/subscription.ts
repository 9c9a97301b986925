/**
 * One subscription: who receives what. It is at the same time its own entry in the sublist (`key`, `hash` and the two
 * links), since a server may hold a million of them and every object more costs.
 */

import type { Sink } from '../ports.ts';
import type { Keyed } from './key-table.ts';

export class Subscription implements Keyed {
  readonly sink: Sink;
  /** The subject, a byte a char code; may hold wildcards. */
  readonly key: string;
  /** Hash of `key` in its sublist. */
  hash = 0;
  /** Empty for a plain subscription. */
  readonly queueGroup: string;
  /** The receiver's name for it, sent back with each message. */
  readonly sid: string;
  /** Messages after which it ends by itself; 0: never. */
  maxDeliveries = 0;
  delivered = 0;
  /** Members behind a remote queue subscription; 1 for a local one. */
  weight = 1;
  /** The other subscriptions to the same subject, in no order. */
  next: Subscription | null = null;
  previous: Subscription | null = null;

  constructor(sink: Sink, subject: string, queueGroup: string, sid: string) {
    this.sink = sink;
    this.key = subject;
    this.queueGroup = queueGroup;
    this.sid = sid;
  }

  get subject(): string {
    return this.key;
  }
}
