/** What a remote sets down for each of its connections, and what a connection tells its remote. */

import type { LeafRemoteOptions } from '../server/config/options.ts';
import type { Message } from '../server/protocol/message.ts';
import type { AccountInterest } from './account-interest.ts';
import type { Login } from './leaf-handshake.ts';
import type { LeafSite } from './leaf-site.ts';

export interface LinkTerms {
  readonly site: LeafSite;
  readonly options: LeafRemoteOptions;
  readonly interest: AccountInterest;
  readonly login: Login | null;
  /** The message that parsers of links fill, one at a time. */
  readonly inbound: Message;
  /** 0: the server's. */
  readonly writeDeadlineMs: number;
  /** A write that takes too long is given more time. */
  readonly waitsForWrites: boolean;
  readonly events: LinkEvents;
}

export interface LinkEvents {
  /** The hub told the addresses of its leaf ports. */
  urlsTold(urls: readonly string[]): void;
  /** The hub has taken the link in. */
  opened(): void;
  /** The link has ended; dial again no sooner than after `delayMs`. Called once. */
  lost(delayMs: number): void;
}
