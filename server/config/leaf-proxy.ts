/**
 * `proxy` of a remote: an HTTP proxy that the server is dialled through. What the keys hold together is checked when the
 * remote has been read, and told at the block as nats-server tells it; the URL of the remote is shown without its
 * password there, which nats-server shows.
 */

import { goQuote } from '../protocol/go-quote.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import { addressOf } from './leaf-url.ts';
import type { LeafProxyOptions, LeafRemoteOptions } from './options.ts';
import type { Reading } from './reading.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode, Place } from './tree.ts';

const HTTP_PORT = 80;

/** A block while it is read. */
export interface ProxyBlock {
  readonly place: Place;
  url: string;
  username: string;
  password: string;
  timeoutMs: number;
}

const proxy = new Keys<ProxyBlock>(null);
const FIXED_LEAF = { restart: 'LeafNode' };

export const LEAF_PROXY_KEYS: readonly Key<ProxyBlock>[] = [
  proxy.string('url', 'url', { ...FIXED_LEAF, doc: 'Address of the proxy, http://host:port.' }),
  proxy.string('username', 'username', { ...FIXED_LEAF, doc: 'Name to log in with.' }),
  proxy.string('password', 'password', { ...FIXED_LEAF, doc: 'Password to log in with.' }),
  proxy.custom(
    'timeout',
    'duration',
    { ...FIXED_LEAF, doc: 'How long connecting to the proxy may take, and its answer.' },
    (draft, node, reading) => {
      draft.timeoutMs = reading.duration(node, 'proxy timeout') ?? draft.timeoutMs;
    },
  ),
  absent('tls', 'map', { ...FIXED_LEAF, doc: 'Encrypts the way to the proxy.' }),
];

/** The block as it stands there; null where it is none, which is reported. */
export function readProxy(node: ConfigNode, reading: Reading): ProxyBlock | null {
  if (!isMap(node.value)) {
    reading.error(node.place, `Expected proxy to be a map, got ${goType(node.value)}`);
    return null;
  }
  const draft: ProxyBlock = { place: node.place, url: '', username: '', password: '', timeoutMs: 0 };
  readEntries(LEAF_PROXY_KEYS, node.value, draft, reading);
  return draft;
}

/** What the block comes to for a remote; null: it has none. A string says what is wrong with it. */
export function proxyOf(
  { url, username, password, timeoutMs }: ProxyBlock,
  { urls, tls }: Pick<LeafRemoteOptions, 'urls' | 'tls'>,
): LeafProxyOptions | string | null {
  if (url === '') {
    const isUnset = username === '' && password === '' && timeoutMs === 0;
    return isUnset ? null : 'proxy URL must be specified when other proxy options are set';
  }
  const address = addressOfProxy(url);
  if (typeof address === 'string') return address;
  if (timeoutMs < 0) return 'proxy timeout must be >= 0';
  if ((username === '') !== (password === '')) {
    return 'proxy username and password must both be specified or both be empty';
  }
  const encrypted = tls === null ? urls.find(({ isEncrypted }) => isEncrypted) : undefined;
  if (encrypted !== undefined) {
    return `proxy is configured but remote URL ${encrypted.redactedText} requires TLS and no TLS configuration is provided. When using proxy with TLS endpoints, ensure TLS is properly configured for the leafnode remote`;
  }
  return { ...address, username, password, timeoutMs };
}

function addressOfProxy(url: string): Pick<LeafProxyOptions, 'host' | 'port'> | string {
  const [start, scheme] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url) ?? ['', ''];
  if (scheme === '' && url.includes(':')) {
    return `invalid proxy URL: parse ${goQuote(shown(url))}: first path segment in URL cannot contain colon`;
  }
  const lowerScheme = (scheme ?? '').toLowerCase();
  if (lowerScheme === 'https') return 'https proxy: not supported by petiole yet';
  if (lowerScheme !== 'http') return `proxy URL scheme must be http or https, got: ${lowerScheme}`;
  const [, authority = ''] = /^\/\/([^/?#]*)/.exec(url.slice(start.length)) ?? [];
  const hostText = authority.slice(authority.lastIndexOf('@') + 1);
  if (hostText === '') return 'proxy URL must specify a host';
  return addressOf(hostText, HTTP_PORT) ?? `invalid proxy URL: parse ${goQuote(shown(url))}: ${faultOf(hostText)}`;
}

function faultOf(hostText: string): string {
  const [port] = /:[^:\]]*$/.exec(hostText) ?? [];
  return port === undefined ? 'invalid host name' : `invalid port ${goQuote(port)} after host`;
}

/** Without what may be a login. */
function shown(url: string): string {
  return url.replace(/^(.*\/\/)?.*@/, '$1[REDACTED]@');
}
