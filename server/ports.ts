/**
 * The interfaces by which rooms meet that must not import each other: a sublist knows its receivers only as `Sink`s, a
 * congested queue knows whom it holds only as `Producer`s.
 */

import type { Message } from './protocol/message.ts';
import type { Subscription } from './subject/subscription.ts';

/**
 * `client`: an application. `leaf`: a link to another server. `internal`: this server itself (system services,
 * JetStream streams and API).
 */
export type SinkKind = 'client' | 'leaf' | 'internal';

/** Whoever receives messages: the other end of every subscription. */
export interface Sink {
  readonly sinkKind: SinkKind;
  /** So much is unsent that whoever can wait should. Absent: never. */
  readonly isCongested?: boolean;
  /** It answers clients of this server alone: links say nothing of it. */
  readonly servesOwnClients?: boolean;
  /** What services of other accounts are told of it, as JSON: with `isDetailed` all that is known. Absent: nothing. */
  requestInfo?(isDetailed: boolean): string;
  /**
   * Takes the message for the subscription and copies what it keeps: the message's bytes die when this returns.
   * False when it did not take it (closed, denied, own message without echo); a queue group then asks another member.
   */
  deliver(subscription: Subscription, message: Message): boolean;
}

/**
 * A sink that is a link to another server: however many of its subscriptions match, the message crosses once. Its
 * `deliver` collects and puts the link on `message.links`; `sendCollected` follows when all receivers are known.
 */
export interface LinkSink extends Sink {
  sendCollected(message: Message): void;
}

/** Whoever hears of subscriptions that come and go in an account: links that carry interest. */
export interface InterestListener {
  subscriptionAdded(subscription: Subscription): void;
  subscriptionRemoved(subscription: Subscription): void;
}

/** Whoever's reading can be stopped while a receiver it feeds is congested. Only client connections are. */
export interface Producer {
  /** How many holds keep this producer from being read. */
  holdCount: number;
  /** The last hold is gone: go on reading. */
  resumeReading(): void;
  /** Do not read for so many milliseconds after this read; summed up to a limit. */
  stall(ms: number): void;
}
