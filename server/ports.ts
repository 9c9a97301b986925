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
  /** The one that it stands for in another account. Absent: it stands for itself. */
  readonly standsFor?: Sink;
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
 * `deliver` collects and calls `message.collectFor`; `sendCollected` follows when all receivers are known.
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

/** A link whose messages are spooled. */
export interface SpooledLink {
  /** By which messages know it. */
  readonly sink: LinkSink;
  /** So much is unsent that the spool should wait until `proceed`. */
  readonly isCongested: boolean;
  /** What the hub wants to hear. */
  peerSubscriptions(): Iterable<Subscription>;
  /** Whether the hub, or its cluster, is where the message came from. Can be asked after the end of the link, too. */
  cameFrom(message: Message): boolean;
  /** Sends a message to the queue groups, and to plain subscribers; false when it may not go over this link at all. */
  forward(message: Message, queueGroups: readonly string[]): boolean;
  /** Calls back when the hub has taken everything that was sent so far. Never after the end of the link. */
  fence(done: () => void): void;
}

/** Keeps messages of a link while that is down. */
export interface LinkSpool {
  readonly statistics: SpoolStatistics;
  /** The link takes messages from here on; the hub may not have told all its interest yet. */
  opened(link: SpooledLink): void;
  /** The link has ended; what the hub wants to hear can still be asked. Nothing happens if it was never opened. */
  lost(): void;
  /** The hub wants to hear this, or does no more; '' as the queue group of plain subscribers. */
  interestChanged(subject: string, queueGroup: string, isWanted: boolean): void;
  /** The link has room again. */
  proceed(): void;
  /** A message that the link is about to send: what is to be sent now, null when it is kept for later. */
  pass(message: Message, queueGroups: readonly string[]): Message | null;
}

/** Counts since the start of the server. */
export interface SpoolStatistics {
  /** In the spool at present. */
  readonly messages: number;
  readonly bytes: number;
  /** When the oldest of them was published, wall time in milliseconds; null: there is none. */
  readonly oldestWallMs: number | null;
  readonly spooled: number;
  readonly forwarded: number;
  /** Pushed out by newer ones, or too old. */
  readonly dropped: number;
  /** Not taken, since the spool was full or its disk did not take them. */
  readonly refused: number;
}
