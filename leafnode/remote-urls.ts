/**
 * The addresses of one remote's hub, in the order in which they are dialled: those that were configured, shuffled once
 * unless that is off, and in front of them those that the hub told, as long as it goes on telling them.
 *
 *     [told …, configured …]      the one that was dialled last moves to the end if it is the first
 *
 * Addresses that a hub tells have no login of their own: the first configured one is used for them.
 */

import { parseLeafUrl } from '../server/config/leaf-url.ts';
import type { LeafUrl } from '../server/config/options.ts';
import type { Login } from './leaf-handshake.ts';

/** More addresses than this a hub cannot have told in earnest. */
const TOLD_MAX = 1024;

export class RemoteUrls {
  private readonly configured: readonly LeafUrl[];
  private readonly login: Login | null;
  private readonly scheme: string;
  private urls: LeafUrl[];
  private current: LeafUrl | null = null;

  /** `fraction` gives numbers in [0, 1) to shuffle by; `null` keeps the order. */
  constructor(configured: readonly LeafUrl[], fraction: (() => number) | null) {
    this.configured = configured;
    this.urls = [...configured];
    this.scheme = schemeOf(configured);
    if (fraction !== null) shuffle(this.urls, fraction);
    this.login = loginOf(this.urls.find(({ username }) => username !== null)) ?? null;
  }

  get count(): number {
    return this.urls.length;
  }

  /** The address to dial now. */
  next(): LeafUrl {
    const { urls } = this;
    if (this.current !== null && urls.length > 1 && isSameAddress(this.current, urls[0] as LeafUrl)) {
      urls.push(urls.shift() as LeafUrl);
    }
    this.current = urls[0] as LeafUrl;
    return this.current;
  }

  /** What to log in with at this address; `null`: nothing. */
  loginFor(url: LeafUrl): Login | null {
    return loginOf(url) ?? this.login;
  }

  /** The hub told these as all the addresses it has, `host:port` each. */
  told(addresses: readonly string[]): void {
    const urls: LeafUrl[] = [];
    for (const address of addresses.slice(0, TOLD_MAX)) {
      const url = parseAddress(this.scheme, address);
      if (url !== null && !this.configured.some((each) => isSameAddress(each, url))) urls.push(url);
    }
    this.urls = [...urls, ...this.configured];
  }
}

function isSameAddress(a: LeafUrl, b: LeafUrl): boolean {
  return a.host === b.host && a.port === b.port;
}

function loginOf(url: LeafUrl | undefined): Login | null {
  if (url === undefined || url.username === null) return null;
  return { username: url.username, password: url.password };
}

/** `host:port` or `[v6]:port`. */
function parseAddress(scheme: string, address: string): LeafUrl | null {
  const url = /^[^@/?#]+:\d{1,5}$/.test(address) ? parseLeafUrl(`${scheme}://${address}`) : null;
  return url === null || url.port === 0 ? null : url;
}

/** Addresses that are told are spoken to as those that were configured. */
function schemeOf(configured: readonly LeafUrl[]): string {
  if (!configured.some(({ webSocketPath }) => webSocketPath !== null)) return 'nats-leaf';
  return configured.some(({ isEncrypted }) => isEncrypted) ? 'wss' : 'ws';
}

/** Fisher and Yates. */
function shuffle(items: LeafUrl[], fraction: () => number): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(fraction() * (i + 1));
    const swapped = items[i] as LeafUrl;
    items[i] = items[j] as LeafUrl;
    items[j] = swapped;
  }
}
