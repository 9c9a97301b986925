/**
 * `proxy` of a remote: an HTTP proxy that the server is dialled through. What the keys hold together is checked when the
 * remote has been read, and told at the block as nats-server tells it; the URL of the remote is shown without its
 * password there, which nats-server shows, and of a `tls` block with a mistake in it nobody is told that it is missing.
 */

import { goQuote } from '../protocol/go-quote.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import { addressOf } from './leaf-url.ts';
import type { LeafProxyOptions, LeafRemoteOptions } from './options.ts';
import type { Reading } from './reading.ts';
import { readTlsBlock } from './schema-tls.ts';
import type { TlsDraft } from './transport-options.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode, Place } from './tree.ts';

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
]);
const TLS_TIMEOUT_MS = 2000;
/** What a client of a proxy can have of a `tls` block; stores of the system petiole has nowhere. */
const TLS_NAMES: ReadonlySet<string> = new Set(
  [
    ['cert_file', 'key_file', 'ca_file', 'certs', 'certificates', 'insecure', 'min_version', 'timeout'],
    ['cipher_suites', 'allow_insecure_cipher_suites', 'curve_preferences'],
    ['cert_store', 'cert_match_by', 'cert_match', 'cert_match_skip_invalid', 'ca_certs_match'],
  ].flat(),
);

/** A block while it is read. */
export interface ProxyBlock {
  readonly place: Place;
  url: string;
  username: string;
  password: string;
  timeoutMs: number;
  tls: TlsDraft | null;
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
  proxy.custom('tls', 'map', { live: 'LeafNode', doc: 'How the way to an https proxy is encrypted.' }, readProxyTls),
];

function readProxyTls(draft: ProxyBlock, node: ConfigNode, reading: Reading): void {
  const wrong = isMap(node.value) ? [...node.value].filter(([name]) => !TLS_NAMES.has(name.toLowerCase())) : [];
  for (const [name, { place }] of wrong) reading.error(place, `${goQuote(name)} is not supported for proxy TLS`);
  if (wrong.length === 0) draft.tls = readTlsBlock(node, reading);
}

/** The block as it stands there; null where it is none, which is reported. */
export function readProxy(node: ConfigNode, reading: Reading): ProxyBlock | null {
  if (!isMap(node.value)) {
    reading.error(node.place, `Expected proxy to be a map, got ${goType(node.value)}`);
    return null;
  }
  const draft: ProxyBlock = { place: node.place, url: '', username: '', password: '', timeoutMs: 0, tls: null };
  readEntries(LEAF_PROXY_KEYS, node.value, draft, reading);
  return draft;
}

/** What the block comes to for a remote; null: it has none. A string says what is wrong with it. */
export function proxyOf(
  { url, username, password, timeoutMs, tls }: ProxyBlock,
  remote: Pick<LeafRemoteOptions, 'urls'> & { readonly hasTls: boolean },
): LeafProxyOptions | string | null {
  if (url === '') {
    const isUnset = username === '' && password === '' && timeoutMs === 0 && tls === null;
    return isUnset ? null : 'proxy URL must be specified when other proxy options are set';
  }
  const address = addressOfProxy(url);
  if (typeof address === 'string') return address;
  if (tls !== null && !address.isEncrypted) return 'proxy TLS configuration requires an https proxy URL, got: http';
  if (timeoutMs < 0) return 'proxy timeout must be >= 0';
  if (tls !== null && tls.timeoutMs < 0) return 'proxy TLS timeout must be >= 0';
  if ((username === '') !== (password === '')) {
    return 'proxy username and password must both be specified or both be empty';
  }
  const encrypted = remote.hasTls ? undefined : remote.urls.find(({ isEncrypted }) => isEncrypted);
  if (encrypted !== undefined) {
    return `proxy is configured but remote URL ${encrypted.redactedText} requires TLS and no TLS configuration is provided. When using proxy with TLS endpoints, ensure TLS is properly configured for the leafnode remote`;
  }
  const given = tls && { ...tls, timeoutMs: tls.timeoutMs || TLS_TIMEOUT_MS };
  return { ...address, username, password, timeoutMs, tls: given };
}

function addressOfProxy(url: string): Pick<LeafProxyOptions, 'host' | 'port' | 'isEncrypted'> | string {
  const [start, scheme] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url) ?? ['', ''];
  if (scheme === '' && url.includes(':')) {
    return `invalid proxy URL: parse ${goQuote(shown(url))}: first path segment in URL cannot contain colon`;
  }
  const lowerScheme = (scheme ?? '').toLowerCase();
  const defaultPort = DEFAULT_PORTS.get(lowerScheme);
  if (defaultPort === undefined) return `proxy URL scheme must be http or https, got: ${lowerScheme}`;
  const [, authority = ''] = /^\/\/([^/?#]*)/.exec(url.slice(start.length)) ?? [];
  const hostText = authority.slice(authority.lastIndexOf('@') + 1);
  if (hostText === '') return 'proxy URL must specify a host';
  const address = addressOf(hostText, defaultPort);
  if (address === null) return `invalid proxy URL: parse ${goQuote(shown(url))}: ${faultOf(hostText)}`;
  return { ...address, isEncrypted: lowerScheme === 'https' };
}

function faultOf(hostText: string): string {
  const [port] = /:[^:\]]*$/.exec(hostText) ?? [];
  return port === undefined ? 'invalid host name' : `invalid port ${goQuote(port)} after host`;
}

/** Without what may be a login. */
function shown(url: string): string {
  return url.replace(/^(.*\/\/)?.*@/, '$1[REDACTED]@');
}
