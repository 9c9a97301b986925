/**
 * `tls` for clients and monitoring, and `allow_non_tls`. What the block names is read and checked at once
 * (`tls-material.ts`); its complaints are told one at a time, as nats-server tells them.
 */

import { formatDuration, parseDuration } from './duration.ts';
import type { Draft } from './draft.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { goValue } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Reading } from './reading.ts';
import { safeNumber } from './reading.ts';
import { EMPTY_BLOCK, finishBlock, type TlsBlock } from './tls-block.ts';
import { TLS_TIMEOUT_MS, type TlsDraft } from './transport-options.ts';
import { findCipher, findCurve, withTls13 } from './tls-names.ts';
import { ConfigError, goType, isMap } from './tree.ts';
import type { ConfigNode, Place } from './tree.ts';

const FALLBACK_DELAY_MS = 50;
const PINNED = /^[a-f0-9]{64}$/;
const PINNED_FORM = 'hex-encoded sha256 of DER encoded SubjectPublicKeyInfo';

const block = new Keys<TlsBlock>((options) => options.tls ?? EMPTY_BLOCK);
const part = new Keys<TlsBlock>(null);

function fileKey(
  name: 'cert_file' | 'key_file' | 'ca_file',
  option: 'certFile' | 'keyFile' | 'caFile',
  doc: string,
): Key<TlsBlock> {
  return part.custom(name, 'string', { live: 'TLSConfig', doc }, (draft, node) => {
    if (typeof node.value !== 'string') fault(`error parsing tls config, expected '${name}' to be filename`, node);
    draft[option] = node.value;
  });
}

function booleanOf(node: ConfigNode, name: string): boolean {
  if (typeof node.value === 'boolean') return node.value;
  return fault(`error parsing tls config, expected '${name}' to be a boolean`, node);
}

export const TLS_BLOCK_KEYS: readonly Key<TlsBlock>[] = [
  fileKey('cert_file', 'certFile', 'File of the certificate, with those that vouch for it behind it.'),
  fileKey('key_file', 'keyFile', 'File of its private key.'),
  fileKey('ca_file', 'caFile', 'File of the authorities that clients are checked against.'),
  part.custom(
    'insecure',
    'boolean',
    { live: 'TLSConfig', default: 'false', doc: 'Takes any certificate of whom is dialled.' },
    (draft, node, _reading, name) => {
      draft.isInsecure = booleanOf(node, name);
    },
  ),
  part.custom(
    'verify',
    'boolean',
    { live: 'TLSConfig', default: 'false', doc: 'Asks clients for a certificate.' },
    (draft, node, _reading, name) => {
      draft.verifiesClients = booleanOf(node, name);
    },
  ),
  block.custom(
    'verify_and_map',
    'boolean',
    {
      restart: 'TLSMap',
      default: 'false',
      doc: 'Asks clients for a certificate, and takes the user from it.',
      value: (options) => options.tls?.mapsUsers ?? false,
    },
    (draft, node, _reading, name) => {
      draft.mapsUsers = booleanOf(node, name);
      if (draft.mapsUsers) draft.verifiesClients = true;
    },
  ),
  part.custom(
    'verify_cert_and_check_known_urls',
    'boolean',
    { live: 'TLSConfig', default: 'false', doc: 'Only for clusters and gateways.' },
    (_draft, node, _reading, name) => {
      if (booleanOf(node, name)) fault(`${name} not supported in this context`, node);
    },
  ),
  part.custom(
    'allow_insecure_cipher_suites',
    'boolean',
    { live: 'TLSConfig', default: 'false', doc: 'Takes weak ciphers.' },
    (draft, node, _reading, name) => {
      draft.allowsInsecureCiphers = booleanOf(node, name);
    },
  ),
  part.custom('cipher_suites', 'list of strings', { live: 'TLSConfig', doc: 'Ciphers that are taken.' }, readCiphers),
  part.custom(
    'curve_preferences',
    'list of strings',
    { live: 'TLSConfig', doc: 'Curves in order of preference.' },
    (draft, node, _reading, name) => {
      draft.curves = names(node, name).map((each) => {
        const curve = findCurve(goValue(each.value));
        return curve ?? fault(`unrecognized curve preference ${goValue(each.value)}`, each);
      });
    },
  ),
  block.custom(
    'timeout',
    'seconds or duration',
    {
      live: 'TLSTimeout',
      default: '2s',
      doc: 'How long a handshake may take.',
      value: (options) => (options.tls?.timeoutMs ?? TLS_TIMEOUT_MS) / 1000,
    },
    (draft, node) => {
      draft.timeoutMs = timeoutMs(node);
    },
  ),
  block.custom(
    'connection_rate_limit',
    'integer',
    {
      restart: 'TLSRateLimit',
      default: '0',
      doc: 'How many handshakes a second are taken; 0 takes all.',
      value: (options) => options.tls?.connectionRateLimit ?? 0,
    },
    (draft, node, _reading, name) => {
      if (typeof node.value !== 'bigint') fault(`error parsing tls config, '${name}' wrong type`, node);
      draft.connectionRateLimit = safeNumber(node.value);
    },
  ),
  block.custom(
    'pinned_certs',
    'list of strings',
    {
      live: 'TLSPinnedCerts',
      doc: `Takes only certificates with one of these keys: ${PINNED_FORM}.`,
      value: (options) => options.tls?.pinnedKeys ?? [],
    },
    readPinned,
  ),
  absent('cert_store', 'string', {
    live: 'TLSConfig',
    doc: 'Store of the operating system to take the certificate from.',
  }),
  absent('cert_match_by', 'string', { live: 'TLSConfig', doc: 'How the certificate is found there.' }),
  absent('cert_match', 'string', { live: 'TLSConfig', doc: 'What the certificate is found by.' }),
  absent('ca_certs_match', 'list of strings', { live: 'TLSConfig', doc: 'What the authorities are found by.' }),
  absent('cert_match_skip_invalid', 'boolean', {
    live: 'TLSConfig',
    accepts: [false],
    doc: 'Skips certificates that have expired.',
  }),
  block.custom(
    'handshake_first',
    'boolean, auto or duration',
    {
      aliases: ['first', 'immediate'],
      live: 'TLSHandshakeFirst',
      default: 'false',
      doc: 'Shakes hands before INFO; with auto or a duration only with clients that begin within it.',
      value: (options) => options.tls?.isHandshakeFirst ?? false,
      also: [
        {
          field: 'TLSHandshakeFirstFallback',
          value: (options) => formatDuration(options.tls?.fallbackDelayMs ?? 0),
        },
      ],
    },
    readHandshakeFirst,
  ),
  absent('ocsp_peer', 'boolean or map', {
    live: 'TLSConfig',
    accepts: [false],
    default: 'false',
    doc: 'Asks whether certificates are revoked.',
  }),
  part.custom(
    'certs',
    'list of maps',
    { aliases: ['certificates'], live: 'TLSConfig', doc: 'Several certificates: cert_file and key_file of each.' },
    readPairs,
  ),
  part.custom(
    'min_version',
    'string',
    { live: 'TLSConfig', default: '1.2', doc: 'Oldest version of TLS that is taken.' },
    (draft, node) => {
      draft.minVersion = versionOf(node);
    },
  ),
];

const keys = new Keys<Draft>((options) => options);

export const TLS_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'tls',
    'map',
    {
      live: 'TLSConfig',
      doc: 'Encrypts connections of clients, and monitoring on https.',
      value: ({ tls }) =>
        tls && [tls.certificates, tls.authorities, tls.verifiesClients, tls.minVersion, tls.ciphers, tls.curves],
    },
    readTls,
  ),
  keys.boolean('allow_non_tls', 'allowsNonTls', {
    default: 'false',
    restart: 'AllowNonTLS',
    doc: 'Takes clients without TLS as well.',
  }),
];

/** A complaint about a node of the block, thrown because the rest of the block is of no account then. */
class TlsFault extends ConfigError {
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.place = place;
  }
}

function fault(message: string, node: ConfigNode): never {
  throw new TlsFault(message, node.place);
}

function readTls(draft: Draft, node: ConfigNode, reading: Reading): void {
  draft.tls = readTlsBlock(node, reading) ?? draft.tls;
}

/** A `tls` block, whatever it is for; null where there is a mistake, which is reported. */
export function readTlsBlock(node: ConfigNode, reading: Reading): TlsDraft | null {
  const map = reading.map(node);
  if (map === null) return null;
  try {
    const read: TlsBlock = { ...EMPTY_BLOCK, insecureCiphers: [] };
    const unknown = (name: string): string => `error parsing tls config, unknown field ${goQuote(name)}`;
    readEntries(TLS_BLOCK_KEYS, map, read, reading, unknown);
    return finishBlock(read, reading.sources);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    reading.error(error instanceof TlsFault ? error.place : node.place, error.message);
    return null;
  }
}

/** The entries of a list that must have some. */
function names(node: ConfigNode, name: string): readonly ConfigNode[] {
  const { value } = node;
  if (!Array.isArray(value)) fault(`interface conversion: interface {} is ${goType(value)}, not []interface {}`, node);
  if (value.length === 0) fault(`error parsing tls config, '${name}' cannot be empty`, node);
  for (const each of value) {
    if (typeof each.value === 'string') continue;
    fault(`interface conversion: interface {} is ${goType(each.value)}, not string`, each);
  }
  return value;
}

function readCiphers(draft: TlsBlock, node: ConfigNode, reading: Reading, name: string): void {
  const chosen: string[] = [];
  for (const each of names(node, name)) {
    const go = goValue(each.value);
    const cipher = findCipher(go) ?? fault(`unrecognized cipher ${go}`, each);
    if (cipher.isInsecure) draft.insecureCiphers.push(go);
    if (cipher.openssl !== null) chosen.push(cipher.openssl);
    else reading.notSupported(each.place, go);
  }
  draft.ciphers = withTls13(chosen);
}

function readPinned(draft: TlsBlock, node: ConfigNode): void {
  if (!Array.isArray(node.value)) {
    fault(`error parsing tls config, expected 'pinned_certs' to be a list of ${PINNED_FORM}`, node);
  }
  draft.pinnedKeys = node.value.map((each) => {
    const digest = goValue(each.value).toLowerCase();
    if (PINNED.test(digest)) return digest;
    return fault(`error parsing tls config, 'pinned_certs' key ${digest} does not look like ${PINNED_FORM}`, each);
  });
}

function readHandshakeFirst(draft: TlsBlock, node: ConfigNode, _reading: Reading, name: string): void {
  const { value } = node;
  if (typeof value !== 'boolean' && typeof value !== 'string') {
    fault(`field ${goQuote(name)} should be a boolean or a string, got ${goType(value)}`, node);
  }
  draft.fallbackDelayMs = 0;
  const word = String(value).toLowerCase();
  draft.isHandshakeFirst = !['false', 'off'].includes(word);
  if (['true', 'on', 'false', 'off'].includes(word)) return;
  if (word === 'auto' || word === 'auto_fallback') draft.fallbackDelayMs = FALLBACK_DELAY_MS;
  else {
    try {
      draft.fallbackDelayMs = parseDuration(String(value));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      fault(`field ${goQuote(name)}'s value ${goQuote(String(value))} is invalid`, node);
    }
  }
}

function readPairs(draft: TlsBlock, node: ConfigNode): void {
  const unsupported = (wrong: ConfigNode): never =>
    fault(`error parsing certificates config: unsupported type ${goType(wrong.value)}`, wrong);
  if (!Array.isArray(node.value)) return unsupported(node);
  draft.pairs = node.value.map((each) => {
    if (!isMap(each.value)) return unsupported(each);
    const files = { cert_file: '', key_file: '' };
    for (const [name, file] of each.value) {
      if (typeof file.value !== 'string') return unsupported(file);
      if (name !== 'cert_file' && name !== 'key_file') {
        fault(`error parsing tls certs config, unknown field ${goQuote(name)}`, file);
      }
      files[name] = file.value;
    }
    if (files.cert_file === '' || files.key_file === '') {
      fault(`error parsing certificates config: both 'cert_file' and 'cert_key' options are required`, each);
    }
    return { certFile: files.cert_file, keyFile: files.key_file };
  });
}

/** A bare number counts seconds. */
function timeoutMs(node: ConfigNode): number {
  const { value } = node;
  if (typeof value === 'bigint') return safeNumber(value) * 1_000;
  if (typeof value === 'number') return Math.round(value * 1e9) / 1e6;
  if (typeof value !== 'string') return fault(`error parsing tls config, 'timeout' wrong type`, node);
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fault(`error parsing tls config, 'timeout' ${error.message}`, node);
  }
}

function versionOf(node: ConfigNode): 'TLSv1.2' | 'TLSv1.3' {
  const { value } = node;
  if (value === '1.2') return 'TLSv1.2';
  if (value === '1.3') return 'TLSv1.3';
  if (typeof value !== 'string')
    return fault(`error parsing tls config: 'min_version' wrong type: ${goValue(value)}`, node);
  if (value === '1.0' || value === '1.1')
    return fault(`error parsing tls config: unsupported TLS version: TLS ${value}`, node);
  return fault(`error parsing tls config: unknown version: ${value}`, node);
}
