/**
 * URLs of the servers that a leaf link dials: `nats://user:password@host:7422`, `wss://host:443/prefix`. The parts are
 * taken apart by the rules of Go's parser, which among other things reads `#`, `?` and `/` in an unescaped password as
 * the end of the address.
 *
 * Over WebSocket the leaf port is the path `/leafnode`, below the path of the URL if it has one. The port is 7422 there
 * too when the URL has none.
 *
 * Unlike nats-server this refuses a URL without `//host`, which it takes and then dials in vain for ever.
 */

import type { LeafUrl } from './options.ts';

const LEAF_PORT = 7_422;

interface Login {
  readonly username: string | null;
  readonly password: string | null;
}

/** The parts of a URL, or null if it is none. */
export function parseLeafUrl(text: string): LeafUrl | null {
  const trimmed = text.trim();
  const [start, scheme = '', authority = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)/.exec(trimmed) ?? [];
  if (start === undefined || /\p{Cc}/u.test(trimmed)) return null;
  const at = authority.lastIndexOf('@');
  const userInfo = at === -1 ? '' : authority.slice(0, at);
  const login = at === -1 ? { username: null, password: null } : loginOf(userInfo);
  const address = addressOf(authority.slice(at + 1));
  if (login === null || address === null) return null;
  const lowerScheme = scheme.toLowerCase();
  const [opening, rest] = [`${lowerScheme}://`, trimmed.slice(start.length)];
  const hidden = login.password === null ? authority : `${userInfo.split(':')[0]}:xxxxx${authority.slice(at)}`;
  const texts = { text: opening + authority + rest, redactedText: opening + hidden + rest };
  return { ...address, ...login, ...transportOf(lowerScheme, rest), ...texts };
}

/** How a server of a URL with this scheme is spoken to. `rest` is what follows its address. */
function transportOf(scheme: string, rest: string): Pick<LeafUrl, 'webSocketPath' | 'isEncrypted'> {
  if (scheme !== 'ws' && scheme !== 'wss') return { webSocketPath: null, isEncrypted: false };
  const path = (/^[^?#]*/.exec(rest)?.[0] ?? '').replaceAll(/[^!-~]+/gu, encodeURIComponent);
  const segments = path.split('/').filter((segment) => segment !== '');
  return { webSocketPath: ['', ...segments, 'leafnode'].join('/'), isEncrypted: scheme === 'wss' };
}

/** A name or address, IPv6 in brackets, and perhaps a port. */
export function addressOf(
  text: string,
  defaultPort: number = LEAF_PORT,
): { readonly host: string; readonly port: number } | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:@[\]\s%\\^`{|}]+))(?::(\d*))?$/.exec(text);
  const [, address = '', name = '', port = ''] = match ?? [];
  const host = address || name;
  return host === '' || Number(port) > 65_535 ? null : { host, port: Number(port || defaultPort) };
}

/** User and password before the `@`, unescaped; null if they hold what has to be escaped. */
function loginOf(text: string): Login | null {
  if (!/^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/.test(text)) return null;
  const colon = text.indexOf(':');
  const username = unescapeText(colon === -1 ? text : text.slice(0, colon));
  return { username, password: colon === -1 ? null : unescapeText(text.slice(colon + 1)) };
}

function unescapeText(text: string): string {
  const bytes = text.replaceAll(/%(..)/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
