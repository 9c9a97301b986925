/**
 * Certificates, keys and authorities that a `tls` block names, read and checked when the configuration is: a server
 * never starts, and never takes a changed configuration, with files that it could not use. The texts are kept in the
 * options, so that a file whose content has changed is seen as a change when the configuration is loaded again.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { fileErrorText } from './file-error.ts';
import type { TlsCertificate } from './transport-options.ts';
import type { ConfigSources } from './sources.ts';
import { ConfigError } from './tree.ts';

/** A block of PEM, from its first to its last line. */
const PEM_BLOCK = /-----BEGIN ([^\n]*?)-----[\s\S]*?-----END \1-----/g;
const PRIVATE_KEY = /^(?:.* )?PRIVATE KEY$/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** `which` stands behind the words, as in ` 1/2`. Throws a ConfigError. */
export function readCertificate(
  certFile: string,
  keyFile: string,
  which: string,
  sources: ConfigSources,
): TlsCertificate {
  const complain = (reason: string, cause?: unknown): never => {
    throw new ConfigError(`error parsing X509 certificate/key pair${which}: ${reason}`, { cause });
  };
  const read = (path: string): string => {
    const content = sources.readFile(path);
    if ('message' in content) return complain(fileErrorText(path, content), content);
    return new TextDecoder().decode(content);
  };
  const [certificate, key] = [read(certFile), read(keyFile)];
  const [first] = certificate.match(CERTIFICATE) ?? [];
  if (first === undefined) return complain(`tls: ${withoutCertificate(certificate)}`);
  if (!pemTypes(key).some(isPrivateKey)) return complain(`tls: ${withoutKey(key)}`);
  let leaf: X509Certificate | null = null;
  try {
    leaf = new X509Certificate(first);
  } catch (error) {
    complain('x509: malformed certificate', error);
  }
  const privateKey = privateKeyOf(key, complain);
  if (leaf?.checkPrivateKey(privateKey) !== true) complain('tls: private key does not match public key');
  return { certificate, key };
}

function privateKeyOf(key: string, complain: (reason: string, cause?: unknown) => never): KeyObject {
  try {
    return createPrivateKey(key);
  } catch (error) {
    return complain('tls: failed to parse private key', error);
  }
}

/** What stands in the lines that begin the blocks of a text. */
function pemTypes(text: string): string[] {
  return Array.from(text.matchAll(PEM_BLOCK), ([, type = '']) => type);
}

function isPrivateKey(type: string): boolean {
  return PRIVATE_KEY.test(type);
}

/** What is said of a text that should hold a certificate, and holds none. */
function withoutCertificate(text: string): string {
  const types = pemTypes(text);
  if (types.length === 0) return 'failed to find any PEM data in certificate input';
  if (types.length === 1 && types.every(isPrivateKey)) {
    return 'failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

/** The same of a text that should hold a key. */
function withoutKey(text: string): string {
  const types = pemTypes(text);
  if (types.length === 0) return 'failed to find any PEM data in key input';
  if (types.join() === 'CERTIFICATE') return 'found a certificate rather than a key in the PEM for the private key';
  return `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

/** The certificates of the authorities, in PEM. Throws a ConfigError. */
export function readAuthorities(path: string, sources: ConfigSources): string {
  const content = sources.readFile(path);
  if ('message' in content) throw new ConfigError(fileErrorText(path, content), { cause: content });
  const text = new TextDecoder().decode(content);
  const certificates = text.match(CERTIFICATE) ?? [];
  try {
    const parsed = certificates.map((each) => new X509Certificate(each));
    if (parsed.length > 0) return text;
  } catch (error) {
    throw new ConfigError('failed to parse root ca certificate', { cause: error });
  }
  throw new ConfigError('failed to parse root ca certificate');
}
