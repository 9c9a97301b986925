/**
 * A `tls` block while it is read, and what it comes to: options that hold the content of the files it names.
 */

import type { ConfigSources } from './sources.ts';
import { readAuthorities, readCertificate } from './tls-material.ts';
import { DEFAULT_CIPHERS, DEFAULT_CURVES } from './tls-names.ts';
import type { TlsCertificate, TlsDraft } from './transport-options.ts';
import { ConfigError } from './tree.ts';

/** A block while it is read: the files that it names, before they are. */
export interface TlsBlock extends TlsDraft {
  certFile: string;
  keyFile: string;
  caFile: string;
  pairs: readonly { readonly certFile: string; readonly keyFile: string }[];
  allowsInsecureCiphers: boolean;
  insecureCiphers: string[];
}

export const EMPTY_BLOCK: Readonly<TlsBlock> = {
  certificates: [],
  authorities: null,
  verifiesClients: false,
  mapsUsers: false,
  minVersion: 'TLSv1.2',
  ciphers: DEFAULT_CIPHERS,
  curves: DEFAULT_CURVES,
  pinnedKeys: [],
  timeoutMs: 0,
  connectionRateLimit: 0,
  isHandshakeFirst: false,
  fallbackDelayMs: 0,
  certFile: '',
  keyFile: '',
  caFile: '',
  pairs: [],
  allowsInsecureCiphers: false,
  insecureCiphers: [],
};

type NamedFiles = Pick<TlsBlock, 'certFile' | 'keyFile' | 'caFile' | 'verifiesClients'>;

/** TLS with these files and the defaults. Throws a ConfigError. */
export function tlsOfFiles(given: NamedFiles, sources: ConfigSources): TlsDraft {
  const {
    certFile,
    keyFile,
    caFile,
    pairs: _pairs,
    allowsInsecureCiphers: _a,
    insecureCiphers: _i,
    ...tls
  } = {
    ...EMPTY_BLOCK,
    ...given,
  };
  const authorities = caFile === '' ? null : readAuthorities(caFile, sources);
  return { ...tls, certificates: [readCertificate(certFile, keyFile, '', sources)], authorities };
}

/** What a block that has been read comes to, once the files it names are. Throws a ConfigError. */
export function finishBlock(read: TlsBlock, sources: ConfigSources): TlsDraft {
  const { certFile, keyFile, caFile, pairs, allowsInsecureCiphers, insecureCiphers, ...tls } = read;
  if (pairs.length > 0 && certFile !== '') {
    throw new ConfigError(`error parsing tls config, cannot combine 'cert_file' option with 'certs' option`);
  }
  if (insecureCiphers.length > 0 && !allowsInsecureCiphers) {
    const list = insecureCiphers.join(', ');
    throw new ConfigError(
      `insecure cipher suites configured without 'allow_insecure_cipher_suites' option set: ${list}`,
    );
  }
  if (certFile !== '' && keyFile === '') throw new ConfigError(`missing 'key_file' in TLS configuration`);
  if (certFile === '' && keyFile !== '') throw new ConfigError(`missing 'cert_file' in TLS configuration`);
  const certificates: TlsCertificate[] = pairs.map((pair, index) =>
    readCertificate(pair.certFile, pair.keyFile, ` ${index + 1}/${pairs.length}`, sources),
  );
  if (certFile !== '') certificates.push(readCertificate(certFile, keyFile, '', sources));
  return { ...tls, certificates, authorities: caFile === '' ? null : readAuthorities(caFile, sources) };
}
