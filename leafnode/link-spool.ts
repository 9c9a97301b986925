/** What a remote that keeps messages while its link is down has of its spool, and the spool of the link. */

import type { LinkSink } from '../server/ports.ts';
import type { Message } from '../server/protocol/message.ts';
import type { Subscription } from '../server/subject/subscription.ts';

/** A link whose messages are spooled. */
export interface SpooledLink {
  /** By which messages know it. */
  readonly sink: LinkSink;
  /** So much is unsent that the spool should wait until `proceed`. */
  readonly isCongested: boolean;
  /** What the hub wants to hear. */
  peerSubscriptions(): Iterable<Subscription>;
  /** Sends a message to the queue groups, and to plain subscribers; false when it may not go over this link at all. */
  forward(message: Message, queueGroups: readonly string[]): boolean;
  /** Calls back when the hub has taken everything that was sent so far. Never after the end of the link. */
  fence(done: () => void): void;
}

export interface LinkSpool {
  readonly statistics: SpoolStatistics;
  /** The link takes messages from here on; the hub may not have told all its interest yet. */
  opened(link: SpooledLink): void;
  /** The link has ended; what the hub wants to hear can still be asked. Nothing happens if it was never opened. */
  lost(): void;
  /** The hub wants to hear something else. */
  interestChanged(): void;
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
