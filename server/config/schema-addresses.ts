/**
 * Where the server listens, for clients and for monitoring, and what it calls itself.
 */

import type { Draft } from './draft.ts';
import { parseDecimal, splitHostPort } from './host-port.ts';
import { Keys } from './key.ts';
import type { Key } from './key.ts';
import { goQuote } from '../protocol/go-quote.ts';
import type { Reading } from './reading.ts';
import { safeNumber } from './reading.ts';
import { goType } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const keys = new Keys<Draft>((options) => options);

export const ADDRESS_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'server_name',
    'string',
    {
      restart: 'ServerName',
      doc: 'Name of this server, without spaces; its id if not given.',
      value: (options) => options.serverName,
    },
    (draft, node, reading) => {
      const name = reading.string(node);
      if (name === null) return;
      if (name.includes(' ')) reading.error(node.place, 'server name cannot contain spaces');
      else draft.serverName = name;
    },
  ),
  keys.custom(
    'listen',
    'port or host:port',
    { restart: 'Port', default: '0.0.0.0:4222', doc: 'Where clients connect; port -1 takes any free one.' },
    (draft, node, reading) => {
      const address = listenAddress(node, reading);
      if (address === null) return;
      draft.host = address.host;
      draft.port = address.port;
    },
  ),
  keys.string('host', 'host', {
    aliases: ['net'],
    default: '0.0.0.0',
    restart: 'Host',
    doc: 'Address on which clients connect.',
  }),
  keys.integer('port', 'port', {
    default: '4222',
    restart: 'Port',
    doc: 'Port on which clients connect; -1 takes any free one.',
  }),
  keys.string('client_advertise', 'clientAdvertise', {
    live: 'ClientAdvertise',
    doc: 'host:port that clients are told instead of the address listened on.',
  }),
  keys.custom(
    'http',
    'port or host:port',
    {
      restart: 'HTTPHost',
      doc: 'Where monitoring is served; port -1 takes any free one.',
      value: (options) => options.monitorHost,
    },
    (draft, node, reading) => {
      const address = listenAddress(node, reading);
      if (address === null) return;
      draft.monitorHost = address.host;
      draft.monitorPort = address.port;
    },
  ),
  keys.custom(
    'http_port',
    'integer',
    {
      aliases: ['monitor_port'],
      default: '0',
      restart: 'HTTPPort',
      doc: 'Port on which monitoring is served; 0 serves none, -1 takes any free one.',
      value: ({ monitorPort }) => (monitorPort === null ? 0 : monitorPort || -1),
    },
    (draft, node, reading) => {
      draft.monitorPort = reading.integer(node) ?? draft.monitorPort;
    },
  ),
  keys.string('http_base_path', 'monitorBasePath', {
    default: '/',
    restart: 'HTTPBasePath',
    doc: 'Path under which monitoring is served.',
  }),
  keys.custom(
    'https',
    'port or host:port',
    { restart: 'HTTPSPort', doc: 'Where monitoring is served over TLS, which needs tls.' },
    (draft, node, reading) => {
      const address = listenAddress(node, reading);
      if (address === null) return;
      draft.monitorHost = address.host;
      draft.httpsPort = address.port;
    },
  ),
  keys.custom(
    'https_port',
    'integer',
    {
      default: '0',
      restart: 'HTTPSPort',
      doc: 'Port on which monitoring is served over TLS; 0 serves none, -1 takes any free one.',
      value: ({ httpsPort }) => (httpsPort === null ? 0 : httpsPort || -1),
    },
    (draft, node, reading) => {
      draft.httpsPort = reading.integer(node) ?? draft.httpsPort;
    },
  ),
  keys.string('unix', 'unixPath', {
    restart: 'Unix',
    doc: 'Path of a socket on which clients of this machine connect as well, without TLS.',
  }),
  keys.custom(
    'unix_mode',
    'octal string',
    {
      default: '0660',
      restart: 'UnixMode',
      doc: 'Permissions of that socket: who of this machine may connect.',
      value: ({ unixMode }) => `0${unixMode.toString(8)}`,
    },
    (draft, node, reading) => {
      const text = reading.string(node);
      if (text === null) return;
      if (/^0?[0-7]{3}$/.test(text)) draft.unixMode = Number.parseInt(text, 8);
      else reading.error(node.place, `unix_mode ${goQuote(text)} is not three octal digits`);
    },
  ),
];

/** The address of a `listen` or `http`; null, with an error, if it is none. */
export function listenAddress(node: ConfigNode, reading: Reading): { host: string; port: number } | null {
  const { value, place } = node;
  if (typeof value === 'bigint') return { host: '', port: safeNumber(value) };
  if (typeof value !== 'string') {
    reading.error(place, `expected port or host:port, got ${goType(value)}`);
    return null;
  }
  const address = splitHostPort(value);
  if (typeof address === 'string') {
    reading.error(place, `could not parse address string ${goQuote(value)}`);
    return null;
  }
  const port = parseDecimal(address.port);
  if (port === null) {
    reading.error(place, `could not parse port ${goQuote(address.port)}`);
    return null;
  }
  return { host: address.host, port };
}
