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
  if (first === undefined) return complain('tls: failed to find any PEM data in certificate input');
  let leaf: X509Certificate | null = null;
  try {
    leaf = new X509Certificate(first);
  } catch (error) {
    complain(`x509: ${messageOf(error)}`, error);
  }
  const privateKey = privateKeyOf(key, complain);
  if (leaf?.checkPrivateKey(privateKey) !== true) complain('tls: private key does not match public key');
  return { certificate, key };
}

function privateKeyOf(key: string, complain: (reason: string, cause?: unknown) => never): KeyObject {
  if (!key.includes('-----BEGIN ')) return complain('tls: failed to find any PEM data in key input');
  try {
    return createPrivateKey(key);
  } catch (error) {
    return complain(`tls: failed to parse private key: ${messageOf(error)}`, error);
  }
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
