/**
 * The entries of `remotes` in `leafnodes`: servers this one links to.
 */

import { AUTOMATIC_COMPRESSION, readCompression } from './compression.ts';
import type { LeafRemoteDraft } from './draft.ts';
import { expandPath } from './expanded-path.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { decodeSeed } from '../protocol/nkey.ts';
import { goValue } from './go-text.ts';
import { absentRows, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import { proxyOf, type ProxyBlock, readProxy } from './leaf-proxy.ts';
import { parseLeafUrl } from './leaf-url.ts';
import type { LeafRemoteOptions, LeafUrl } from './options.ts';
import type { Reading } from './reading.ts';
import { readSubjects } from './schema-permissions.ts';
import { readSpool } from './schema-leaf-spool.ts';
import { readTlsBlock } from './schema-tls.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigMap, ConfigNode, Place } from './tree.ts';

/** A remote while it is read. What its proxy comes to is known when all of it has been. */
interface ReadRemote extends LeafRemoteDraft {
  proxyBlock: ProxyBlock | null;
  /** Whether there is a `tls` block, be it right or not. */
  hasTls: boolean;
}

const remote = new Keys<ReadRemote>(null);
const ONE_KEY = 'Remote leafnode can not have both creds and nkey defined';
const LEAF = { live: 'LeafNode' };
const FIXED_LEAF = { restart: 'LeafNode' };

export const LEAF_REMOTE_KEYS: readonly Key<ReadRemote>[] = [
  remote.custom(
    'urls',
    'URL or list of URLs',
    { ...LEAF, aliases: ['url'], doc: 'Servers to dial, one after the other.' },
    (draft, node, reading) => {
      draft.urls = [...draft.urls, ...readUrls(node, reading)];
    },
  ),
  remote.custom(
    'account',
    'string',
    { ...LEAF, aliases: ['local'], default: '$G', doc: 'Local account that the link joins.' },
    (draft, node, reading) => {
      draft.account = reading.string(node) ?? draft.account;
    },
  ),
  remote.negation('no_randomize', 'randomizesUrls', {
    ...FIXED_LEAF,
    aliases: ['dont_randomize'],
    default: 'false',
    doc: 'Dials the URLs in the order given.',
  }),
  remote.boolean('hub', 'isHub', { ...FIXED_LEAF, default: 'false', doc: 'Plays the hub towards the server dialled.' }),
  remote.custom(
    'deny_imports',
    'subjects',
    { ...FIXED_LEAF, aliases: ['deny_import'], doc: 'What must not come in over the link.' },
    (draft, node, reading) => {
      draft.denyImports = readSubjects(node, reading, false);
    },
  ),
  remote.custom(
    'deny_exports',
    'subjects',
    { ...FIXED_LEAF, aliases: ['deny_export'], doc: 'What must not go out over the link.' },
    (draft, node, reading) => {
      draft.denyExports = readSubjects(node, reading, false);
    },
  ),
  remote.duration('first_info_timeout', 'firstInfoTimeoutMs', {
    ...FIXED_LEAF,
    default: '1s',
    doc: 'How long the server dialled may take to say INFO.',
  }),
  remote.duration('dial_timeout', 'dialTimeoutMs', { ...FIXED_LEAF, doc: 'How long dialling may take.' }),
  remote.boolean('disabled', 'isDisabled', { ...LEAF, default: 'false', doc: 'Does not dial at all.' }),
  remote.negation('ignore_discovered_servers', 'followsDiscoveredServers', {
    ...FIXED_LEAF,
    default: 'false',
    doc: 'Dials only the URLs given and none that the hub tells.',
  }),
  remote.boolean('isolate_leafnode_interest', 'isIsolated', {
    ...FIXED_LEAF,
    aliases: ['isolate'],
    default: 'false',
    doc: 'Keeps the interest of other links from the server dialled.',
  }),
  remote.boolean('request_isolation', 'asksForIsolation', {
    ...FIXED_LEAF,
    default: 'false',
    doc: 'Asks the server dialled to keep the interest of other links from this one.',
  }),
  remote.custom(
    'compression',
    'string, boolean or map',
    {
      ...LEAF,
      default: 's2_auto',
      doc: 'How much what is sent is compressed; off, or accept to leave it to the server.',
    },
    (draft, node, reading, name) => {
      draft.compression = readCompression(node, reading, name);
    },
  ),
  remote.custom(
    'credentials',
    'path',
    { ...LEAF, aliases: ['creds'], doc: 'File with the JWT and the seed to log in with.' },
    (draft, node, reading) => {
      const path = expandPath(reading.string(node) ?? '', reading.sources.environment);
      if (path !== '' && draft.nkeySeed !== '') reading.error(node.place, ONE_KEY);
      else draft.credentialsFile = path;
    },
  ),
  remote.custom(
    'nkey',
    'string',
    { ...LEAF, aliases: ['seed'], doc: 'Seed of the key to log in with.' },
    (draft, node, reading) => {
      const seed = reading.string(node);
      if (seed === null) return;
      // The text may be a seed but for a letter, so it is not shown.
      if (decodeSeed(seed)?.isUser !== true) {
        reading.error(node.place, 'Remote leafnode nkey is not a valid seed: "[REDACTED]"');
      } else if (draft.credentialsFile !== '') reading.error(node.place, ONE_KEY);
      else draft.nkeySeed = seed;
    },
  ),
  remote.custom('tls', 'map', { ...LEAF, doc: 'How the link is encrypted.' }, (draft, node, reading) => {
    draft.tls = readTlsBlock(node, reading);
    draft.hasTls = true;
  }),
  remote.custom(
    'spool',
    'map',
    { ...LEAF, doc: 'Which messages are kept while the link is down.' },
    (draft, node, reading) => {
      draft.spool = readSpool(node, reading);
    },
  ),
  remote.boolean('ws_compression', 'compressesFrames', {
    ...FIXED_LEAF,
    aliases: ['ws_compress', 'websocket_compress', 'websocket_compression'],
    default: 'false',
    doc: 'Offers to compress what goes over WebSocket, instead of `compression`.',
  }),
  remote.boolean('ws_no_masking', 'asksForNoMasking', {
    ...FIXED_LEAF,
    aliases: ['websocket_no_masking'],
    default: 'false',
    doc: 'Sends WebSocket frames unmasked, if the server dialled agrees.',
  }),
  remote.custom('proxy', 'map', { ...FIXED_LEAF, doc: 'HTTP proxy to dial through.' }, (draft, node, reading) => {
    draft.proxyBlock = readProxy(node, reading);
  }),
  ...absentRows(FIXED_LEAF, {
    'jetstream_cluster_migrate|js_cluster_migrate': ['boolean or map', 'Gives up leadership without link.', false],
  }),
];

/** The remotes of the list; those with mistakes too, since they are reported. */
export function readRemotes(node: ConfigNode, reading: Reading): LeafRemoteOptions[] {
  if (!Array.isArray(node.value)) {
    reading.error(node.place, `Expected remotes field to be an array, got ${goType(node.value)}`);
    return [];
  }
  const remotes = new Map<string, LeafRemoteOptions>();
  for (const entry of node.value) {
    if (!isMap(entry.value)) {
      const shown = goValue(entry.value);
      reading.error(entry.place, `Expected remote leafnode entry to be a map/struct, got ${shown}`);
      continue;
    }
    const { proxyBlock, hasTls, ...read } = readRemote(entry.value, reading);
    const proxy = proxyBlock === null ? null : proxyOf(proxyBlock, { urls: read.urls, hasTls });
    if (typeof proxy === 'string') {
      reading.error(proxyBlock?.place ?? entry.place, proxy);
      continue;
    }
    read.proxy = proxy;
    const key = remoteKey(read);
    if (remotes.has(key)) {
      const { place } = [...entry.value.values()].at(-1) ?? entry;
      reading.error(place, `duplicate remote ${remoteName(read)}`);
    }
    remotes.set(key, read);
  }
  return [...remotes.values()];
}

function readRemote(map: ConfigMap, reading: Reading): ReadRemote {
  const read: ReadRemote = { ...emptyRemote(), proxyBlock: null, hasTls: false };
  readEntries(LEAF_REMOTE_KEYS, map, read, reading);
  return read;
}

function emptyRemote(): LeafRemoteDraft {
  return {
    urls: [],
    account: '',
    randomizesUrls: true,
    isHub: false,
    denyImports: [],
    denyExports: [],
    firstInfoTimeoutMs: 0,
    dialTimeoutMs: 0,
    isDisabled: false,
    followsDiscoveredServers: true,
    isIsolated: false,
    asksForIsolation: false,
    compression: AUTOMATIC_COMPRESSION,
    compressesFrames: false,
    asksForNoMasking: false,
    proxy: null,
    tls: null,
    credentialsFile: '',
    nkeySeed: '',
    spool: null,
  };
}

type NamingOptions = Pick<LeafRemoteOptions, 'urls' | 'account' | 'credentialsFile' | 'nkeySeed'>;

/** What tells one remote from another: its URLs, its account and what it logs in with. It is secret. */
export function remoteKey(remote: NamingOptions): string {
  return nameOf(remote, ({ text }) => text, remote.nkeySeed);
}

/** The same for messages. */
export function remoteName(remote: NamingOptions): string {
  return nameOf(remote, ({ redactedText }) => redactedText, '[REDACTED]');
}

function nameOf(remote: NamingOptions, show: (url: LeafUrl) => string, seed: string): string {
  const { urls, account, credentialsFile, nkeySeed } = remote;
  const shown = urls.map((url) => goQuote(show(url))).join(' ');
  const key =
    credentialsFile === ''
      ? nkeySeed === ''
        ? ''
        : `, nkey=${goQuote(seed)}`
      : `, credentials=${goQuote(credentialsFile)}`;
  return `urls=[${shown}], account=${goQuote(account || '$G')}${key}`;
}

/** The URLs; none if there is a mistake in one. */
function readUrls({ value, place }: ConfigNode, reading: Reading): LeafUrl[] {
  if (typeof value === 'string') return [readUrl(value, place, reading)].filter((url) => url !== null);
  if (!Array.isArray(value)) {
    reading.error(place, `Expected remote leafnode url to be an array or string, got ${goValue(value)}`);
    return [];
  }
  const urls = new Map<string, LeafUrl | null>();
  for (const node of value) {
    const text = reading.string(node);
    if (text === null) continue;
    if (urls.has(text)) reading.warn(node.place, text, 'Duplicate leafnode entry detected');
    else urls.set(text, readUrl(text, node.place, reading));
  }
  const found = [...urls.values()].filter((url) => url !== null);
  return found.length === urls.size ? found : [];
}

function readUrl(text: string, place: Place, reading: Reading): LeafUrl | null {
  const parsed = parseLeafUrl(text);
  if (parsed === null) reading.error(place, `error parsing leafnode url [${goQuote(text.trim())}]`);
  return parsed;
}
