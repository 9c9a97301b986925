/**
 * The certificate that a client showed, as /connz lists it: its subject, and the SHA-256 digests of its key and of itself
 * by which it can be pinned or revoked. Certificates of authorities that came with it are not kept, and not listed.
 */

import { createHash, X509Certificate } from 'node:crypto';
import { namesOf } from '../auth/certificate-names.ts';
import type { TlsPeer } from '../io/io.ts';

/** Undefined where none was shown. */
export function peerCertificates(peer: TlsPeer | null): object[] | undefined {
  const der = peer?.certificate ?? null;
  if (der === null) return undefined;
  const key = new X509Certificate(der).publicKey.export({ type: 'spki', format: 'der' });
  const subject = namesOf(der).find(({ kind }) => kind === 'subject')?.text;
  return [{ subject, spki_sha256: digestOf(key), cert_sha256: digestOf(der) }];
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
