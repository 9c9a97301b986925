/**
 * The keys of `leafnodes` about links that are accepted: where, from whom, and what leaves are told.
 */

import { isVersionAtLeast, versionParts } from '../protocol/semantic-version.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { decodeNkey } from '../protocol/nkey.ts';
import { readCompression } from './compression.ts';
import type { LeafnodeDraft } from './draft.ts';
import { formatDuration } from './duration.ts';
import { goValue } from './go-text.ts';
import { absentRows, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import {
  emptyLeafAuthorization,
  type LeafAuthorizationDraft,
  type LeafListenerOptions,
  type LeafUserDraft,
  type LeafUserOptions,
} from './leaf-listener-options.ts';
import type { ServerOptions } from './options.ts';
import type { Reading } from './reading.ts';
import { listenAddress } from './schema-addresses.ts';
import { readAuthTimeout } from './schema-authorization.ts';
import { readTlsBlock } from './schema-tls.ts';
import { Secret } from './secret.ts';
import { isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const block = new Keys<LeafnodeDraft>((options) => options.leafnodes);
const authorization = new Keys<LeafAuthorizationDraft>((options) => options.leafnodes.listener.authorization);
const user = new Keys<LeafUserDraft>(null);

const OLDEST_MIN_VERSION = [2, 8, 0] as const;

/** What is compared of an option of the listener. */
function of<T>(value: (listener: LeafListenerOptions) => T): (options: ServerOptions) => T {
  return (options) => value(options.leafnodes.listener);
}

const LEAF_USER_KEYS: readonly Key<LeafUserDraft>[] = [
  user.string('user', 'username', { aliases: ['username'], restart: 'LeafNode.Users', doc: 'Name to log in with.' }),
  user.string('password', 'password', {
    aliases: ['pass'],
    restart: 'LeafNode.Users',
    doc: 'Password to log in with.',
  }),
  user.string('account', 'account', { restart: 'LeafNode.Users', doc: 'Account that the link joins.' }),
  ...absentRows(
    { restart: 'LeafNode.Users' },
    { proxy_required: ['boolean', 'The user has to come through a trusted proxy.', false] },
  ),
];

export const LEAF_AUTHORIZATION_KEYS: readonly Key<LeafAuthorizationDraft>[] = [
  authorization.string('user', 'username', {
    aliases: ['username'],
    restart: 'LeafNode.Username',
    doc: 'Name of the only user.',
  }),
  authorization.custom(
    'password',
    'string',
    {
      aliases: ['pass'],
      restart: 'LeafNode.Password',
      doc: 'Password of the only user.',
      value: of((listener) => new Secret(listener.authorization.password)),
    },
    (draft, node, reading) => {
      draft.password = reading.string(node) ?? draft.password;
    },
  ),
  authorization.custom(
    'nkey',
    'string',
    {
      restart: 'LeafNode.Nkey',
      doc: 'Public key of the only user.',
      value: of((listener) => listener.authorization.nkey),
    },
    (draft, node, reading) => {
      draft.nkey = reading.string(node) ?? draft.nkey;
      if (typeof node.value !== 'string' || decodeNkey('user', node.value) !== null) return;
      reading.error(node.place, 'Not a valid public nkey for leafnode authorization');
    },
  ),
  authorization.string('account', 'account', { restart: 'LeafNode.Account', doc: 'Account that links join.' }),
  authorization.custom(
    'timeout',
    'seconds or duration',
    {
      default: '2s',
      restart: 'LeafNode.AuthTimeout',
      doc: 'How long a leaf may take to show its credentials.',
      value: of((listener) => formatDuration(listener.authorization.timeoutMs)),
    },
    (draft, node, reading, name) => {
      draft.timeoutMs = readAuthTimeout(node, reading, name, 'leafnode authorization') ?? draft.timeoutMs;
    },
  ),
  authorization.custom(
    'users',
    'list of maps',
    {
      restart: 'LeafNode.Users',
      doc: 'Users, each with the account that its link joins.',
      value: of((listener) => new Secret(listener.authorization.users)),
    },
    (draft, node, reading) => {
      draft.users = readLeafUsers(node, reading);
    },
  ),
  ...absentRows(
    { restart: 'LeafNode.ProxyRequired' },
    { proxy_required: ['boolean', 'Leaves have to come through a trusted proxy.', false] },
  ),
];

export const LEAF_LISTENER_KEYS: readonly Key<LeafnodeDraft>[] = [
  block.custom(
    'listen',
    'port or host:port',
    { restart: 'LeafNode.Port', doc: 'Where links are accepted; port -1 takes any free one.' },
    ({ listener }, node, reading) => {
      const address = listenAddress(node, reading);
      if (address === null) return;
      listener.host = address.host;
      listener.port = address.port;
    },
  ),
  block.custom(
    'host',
    'host',
    {
      aliases: ['net'],
      default: '0.0.0.0',
      restart: 'LeafNode.Host',
      doc: 'Address on which links are accepted.',
      value: of(({ host }) => host),
    },
    ({ listener }, node, reading) => {
      listener.host = reading.string(node) ?? listener.host;
    },
  ),
  block.custom(
    'port',
    'integer',
    {
      default: '0',
      restart: 'LeafNode.Port',
      doc: 'Port on which links are accepted; 0 accepts none, -1 takes any free one.',
      value: of(({ port }) => (port === null ? 0 : port || -1)),
    },
    ({ listener }, node, reading) => {
      listener.port = reading.integer(node) ?? listener.port;
    },
  ),
  block.custom(
    'authorization',
    'map',
    { restart: 'LeafNode', doc: 'Who may link; users of clients may, if nothing is said.' },
    ({ listener }, node, reading) => {
      const map = reading.map(node);
      if (map === null) return;
      const read = emptyLeafAuthorization();
      readEntries(LEAF_AUTHORIZATION_KEYS, map, read, reading);
      const conflict = conflictOf(read);
      if (conflict !== null) reading.error(node.place, conflict);
      listener.authorization = read;
    },
  ),
  block.custom(
    'tls',
    'map',
    { live: 'LeafNode.TLSConfig', doc: 'Encrypts accepted links.', value: of(({ tls }) => tls) },
    ({ listener }, node, reading) => {
      listener.tls = readTlsBlock(node, reading) ?? listener.tls;
    },
  ),
  block.custom(
    'compression',
    'string, boolean or map',
    {
      live: 'LeafNode.Compression',
      default: 's2_auto',
      doc: 'How much what is sent is compressed; off, or accept to leave it to leaves.',
      value: of(({ compression }) => compression),
    },
    ({ listener }, node, reading, name) => {
      listener.compression = readCompression(node, reading, name);
    },
  ),
  block.custom(
    'advertise',
    'host:port',
    {
      aliases: ['leafnode_advertise'],
      restart: 'LeafNode.Advertise',
      doc: 'Address that leaves are told instead of the one listened on.',
      value: of(({ advertise }) => advertise),
    },
    ({ listener }, node, reading) => {
      listener.advertise = reading.string(node) ?? listener.advertise;
    },
  ),
  block.custom(
    'no_advertise',
    'boolean',
    {
      default: 'false',
      restart: 'LeafNode.NoAdvertise',
      doc: 'Tells leaves no addresses to come back to.',
      value: of(({ isAdvertised }) => !isAdvertised),
    },
    ({ listener }, node, reading) => {
      const value = reading.boolean(node);
      if (value !== null) listener.isAdvertised = !value;
    },
  ),
  block.custom(
    'min_version',
    'version',
    {
      aliases: ['minimum_version'],
      restart: 'LeafNode.MinVersion',
      doc: 'Oldest version that may link.',
      value: of(({ minVersion }) => minVersion),
    },
    ({ listener }, node, reading) => {
      const version = reading.string(node);
      if (version === null) return;
      const fault = minVersionFault(version);
      if (fault === null) listener.minVersion = version;
      else reading.error(node.place, fault);
    },
  ),
  block.custom(
    'isolate_leafnode_interest',
    'boolean',
    {
      aliases: ['isolate'],
      default: 'false',
      restart: 'LeafNode.IsolateLeafnodeInterest',
      doc: 'Leaves are not told of the interest of each other.',
      value: of(({ isolatesInterest }) => isolatesInterest),
    },
    ({ listener }, node, reading) => {
      listener.isolatesInterest = reading.boolean(node) ?? listener.isolatesInterest;
    },
  ),
];

function minVersionFault(version: string): string | null {
  if (versionParts(version) === null) return `invalid leafnode's minimum version: invalid semver`;
  return isVersionAtLeast(version, OLDEST_MIN_VERSION) ? null : 'the minimum version should be at least 2.8.0';
}

/** The users that can be told by name; a mistake in one does not hide the others. */
function readLeafUsers(node: ConfigNode, reading: Reading): LeafUserOptions[] {
  if (!Array.isArray(node.value)) {
    reading.error(node.place, `Expected users field to be an array, got ${goValue(node.value)}`);
    return [];
  }
  const users: LeafUserOptions[] = [];
  for (const entry of node.value) {
    if (!isMap(entry.value)) {
      reading.error(entry.place, `Expected user entry to be a map/struct, got ${goValue(entry.value)}`);
      continue;
    }
    const options: LeafUserDraft = { username: '', password: '', account: '' };
    readEntries(LEAF_USER_KEYS, entry.value, options, reading);
    users.push(options);
  }
  return users;
}

/** What cannot stand beside each other in one block. */
function conflictOf({ username, nkey, users }: LeafAuthorizationDraft): string | null {
  if (users.length === 0) return null;
  if (username !== '') return 'can not have a single user/pass and a users array';
  if (nkey !== '') return 'can not have a single nkey and a users array';
  const names = new Set<string>();
  for (const { username: name } of users) {
    if (names.has(name)) return `duplicate user ${goQuote(name)} detected in leafnode authorization`;
    names.add(name);
  }
  return null;
}
