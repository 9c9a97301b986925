/** `websocket`: where clients, and leaves, that speak WebSocket connect. */

import type { Draft } from './draft.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { ServerOptions } from './options.ts';
import type { Reading } from './reading.ts';
import { safeNumber } from './reading.ts';
import { listenAddress } from './schema-addresses.ts';
import { readTlsBlock } from './schema-tls.ts';
import { Secret } from './secret.ts';
import { ConfigError, goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';
import {
  emptyWebSocketAuthorization,
  type WebSocketAuthorizationDraft,
  type WebSocketDraft,
  type WebSocketOptions,
} from './websocket-options.ts';

const SECOND_MS = 1_000;

const block = new Keys<WebSocketDraft>((options) => options.websocket);
const authorization = new Keys<WebSocketAuthorizationDraft>((options) => options.websocket.authorization);

export const WEBSOCKET_AUTHORIZATION_KEYS: readonly Key<WebSocketAuthorizationDraft>[] = [
  authorization.string('user', 'username', {
    aliases: ['username'],
    restart: 'Websocket.Username',
    doc: 'Name of the only user.',
  }),
  secretKey('pass', 'password', 'Password', ['password'], 'Password of the only user.'),
  secretKey('token', 'token', 'Token', [], 'Token that clients must show.'),
  authorization.custom(
    'timeout',
    'seconds',
    {
      restart: 'Websocket.AuthTimeout',
      doc: 'How long a client may take to show its credentials.',
      value: ({ websocket }) => formatDuration(websocket.authorization.timeoutMs),
    },
    (draft, { value }) => {
      // As nats-server does: whatever is no number is a second.
      const seconds = typeof value === 'bigint' ? safeNumber(value) : value;
      draft.timeoutMs = typeof seconds === 'number' ? Math.round(seconds * 1e9) / 1e6 : SECOND_MS;
    },
  ),
];

function secretKey(
  name: string,
  option: 'password' | 'token',
  field: string,
  aliases: readonly string[],
  doc: string,
): Key<WebSocketAuthorizationDraft> {
  const value = ({ websocket }: ServerOptions): Secret => new Secret(websocket.authorization[option]);
  return authorization.custom(
    name,
    'string',
    { aliases, restart: `Websocket.${field}`, doc, value },
    (draft, node, reading) => {
      draft[option] = reading.string(node) ?? draft[option];
    },
  );
}

/** What is compared of an option. */
function of<T>(value: (options: WebSocketOptions) => T): (options: ServerOptions) => T {
  return (options) => value(options.websocket);
}

function cookieKey(name: keyof WebSocketOptions['cookies'], field: string, what: string): Key<WebSocketDraft> {
  return block.custom(
    `${name}_cookie`,
    'string',
    {
      restart: `Websocket.${field}`,
      doc: `Name of the cookie that holds the ${what}.`,
      value: of(({ cookies }) => cookies[name]),
    },
    (draft, node, reading) => {
      draft.cookies[name] = reading.string(node) ?? draft.cookies[name];
    },
  );
}

export const WEBSOCKET_BLOCK_KEYS: readonly Key<WebSocketDraft>[] = [
  block.custom(
    'listen',
    'port or host:port',
    { restart: 'Websocket.Port', doc: 'Where WebSocket clients connect; port -1 takes any free one.' },
    (draft, node, reading) => {
      const address = listenAddress(node, reading);
      if (address === null) return;
      draft.host = address.host;
      draft.port = address.port;
    },
  ),
  block.custom(
    'port',
    'integer',
    {
      default: '0',
      restart: 'Websocket.Port',
      doc: 'Port on which they connect; 0 accepts nobody, -1 takes any free one.',
      value: of(({ port }) => (port === null ? 0 : port || -1)),
    },
    (draft, node, reading) => {
      draft.port = reading.integer(node) ?? draft.port;
    },
  ),
  block.string('host', 'host', {
    aliases: ['net'],
    default: '0.0.0.0',
    restart: 'Websocket.Host',
    doc: 'Address on which they connect.',
  }),
  block.string('advertise', 'advertise', {
    restart: 'Websocket.Advertise',
    doc: 'host:port that other clients are told instead of the address listened on.',
  }),
  block.boolean('no_tls', 'allowsNonTls', {
    default: 'false',
    restart: 'Websocket.NoTLS',
    doc: 'Serves without TLS, where none is configured.',
  }),
  block.custom(
    'tls',
    'map',
    { live: 'Websocket.TLSConfig', doc: 'Encrypts connections.', value: of(({ tls }) => tls) },
    (draft, node, reading) => {
      draft.tls = readTlsBlock(node, reading) ?? draft.tls;
    },
  ),
  block.boolean('same_origin', 'isSameOrigin', {
    default: 'false',
    restart: 'Websocket.SameOrigin',
    doc: 'Takes only pages of the host that they ask.',
  }),
  block.custom(
    'allowed_origins',
    'string or list of strings',
    {
      aliases: ['allowed_origin', 'allow_origins', 'allow_origin', 'origins', 'origin'],
      restart: 'Websocket.AllowedOrigins',
      doc: 'Takes only pages of these origins, such as https://example.com.',
      value: of(({ allowedOrigins }) => allowedOrigins),
    },
    (draft, node, reading) => {
      draft.allowedOrigins = readStrings(node, reading);
    },
  ),
  block.custom(
    'handshake_timeout',
    'seconds or duration',
    {
      restart: 'Websocket.HandshakeTimeout',
      doc: 'How long a connection may take to ask for WebSocket.',
      value: of(({ handshakeTimeoutMs }) => formatDuration(handshakeTimeoutMs)),
    },
    (draft, node, reading) => {
      draft.handshakeTimeoutMs = handshakeTimeoutMs(node, reading) ?? draft.handshakeTimeoutMs;
    },
  ),
  block.boolean('compression', 'compresses', {
    aliases: ['compress'],
    default: 'false',
    restart: 'Websocket.Compression',
    doc: 'Compresses messages for those who offer it (permessage-deflate).',
  }),
  block.custom(
    'authorization',
    'map',
    { aliases: ['authentication'], restart: 'Websocket', doc: 'Who may connect here, where there are no users.' },
    (draft, node, reading) => {
      const map = reading.map(node);
      if (map === null) return;
      draft.authorization = emptyWebSocketAuthorization();
      readEntries(WEBSOCKET_AUTHORIZATION_KEYS, map, draft.authorization, reading);
    },
  ),
  cookieKey('jwt', 'JWTCookie', 'JWT'),
  cookieKey('user', 'UsernameCookie', 'user'),
  cookieKey('pass', 'PasswordCookie', 'password'),
  cookieKey('token', 'TokenCookie', 'token'),
  block.string('no_auth_user', 'noAuthUser', {
    restart: 'Websocket.NoAuthUser',
    doc: 'User that clients without credentials become.',
  }),
  block.custom(
    'headers',
    'map of strings',
    {
      restart: 'Websocket.Headers',
      doc: 'Headers of the answer by which a connection is taken.',
      value: of(({ headers }) => headers),
    },
    (draft, node, reading) => {
      draft.headers = readHeaders(node, reading);
    },
  ),
  block.duration('ping_interval', 'pingIntervalMs', {
    restart: 'Websocket.PingInterval',
    doc: "How often a quiet client is pinged; the server's if not given.",
  }),
];

const keys = new Keys<Draft>((options) => options);

export const WEBSOCKET_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'websocket',
    'map',
    { restart: 'Websocket', aliases: ['ws'], doc: 'Clients over WebSocket.' },
    (draft, node, reading) => {
      if (isMap(node.value)) readEntries(WEBSOCKET_BLOCK_KEYS, node.value, draft.websocket, reading);
      else reading.error(node.place, `Expected websocket to be a map, got ${goType(node.value)}`);
    },
  ),
];

function readStrings({ value, place }: ConfigNode, reading: Reading): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) {
    reading.error(place, `error parsing allowed origins: unsupported type ${goType(value)}`);
    return [];
  }
  const strings: string[] = [];
  for (const each of value) {
    if (typeof each.value === 'string') strings.push(each.value);
    else reading.error(each.place, `error parsing allowed origins: unsupported type in array ${goType(each.value)}`);
  }
  return strings;
}

function handshakeTimeoutMs({ value, place }: ConfigNode, reading: Reading): number | null {
  if (typeof value === 'bigint') return safeNumber(value) * SECOND_MS;
  if (typeof value !== 'string') {
    reading.error(place, `error parsing handshake timeout: unsupported type ${goType(value)}`);
    return null;
  }
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    reading.error(place, error.message);
    return null;
  }
}

function readHeaders({ value, place }: ConfigNode, reading: Reading): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isMap(value)) {
    reading.error(place, `error parsing headers: unsupported type ${goType(value)}`);
    return headers;
  }
  for (const [name, each] of value) {
    if (typeof each.value === 'string') headers[name] = each.value;
    else reading.error(each.place, `error parsing header key ${name}: unsupported type ${goType(each.value)}`);
  }
  return headers;
}
