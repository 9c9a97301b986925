/** What all links of a server have in common, what a remote sets down for each of its own, and what these tell it. */

import type { LeafRemoteOptions, LeafUrl } from '../server/config/options.ts';
import type { Message } from '../server/protocol/message.ts';
import type { AccountInterest } from './account-interest.ts';
import type { Login } from './leaf-handshake.ts';
import type { LeafSite } from './leaf-site.ts';
import type { LinkSpool } from '../server/ports.ts';
import type { RemoteEncryption } from './remote-encryption.ts';
import type { WebSocket } from './websocket/web-socket.ts';

export interface LinkSettings {
  readonly site: LeafSite;
  /** The message that parsers of links fill, one at a time. */
  readonly inbound: Message;
  /** 0: the server's. */
  readonly writeDeadlineMs: number;
  /** A write that takes too long is given more time. */
  readonly waitsForWrites: boolean;
  /** No link hears of the interest of others, whichever side dialled. */
  readonly keepsLinksApart: boolean;
}

export interface LinkTerms extends LinkSettings {
  readonly options: LeafRemoteOptions;
  readonly interest: AccountInterest;
  readonly url: LeafUrl;
  readonly login: Login | null;
  readonly encryption: RemoteEncryption;
  /** The connection, where the hub speaks WebSocket; null: where it does not. */
  readonly webSocket: WebSocket | null;
  /** null: it has none. */
  readonly spool: LinkSpool | null;
  readonly events: LinkEvents;
}

export interface LinkEvents {
  /** The hub told the addresses of its leaf ports. */
  urlsTold(urls: readonly string[]): void;
  /** The hub has taken the link in. */
  opened(): void;
  /** The link has ended, for a reason to show; dial again no sooner than after `delayMs`. Called once. */
  lost(delayMs: number, reason: string): void;
}
