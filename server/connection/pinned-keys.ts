/** Certificates that are taken because of their keys alone. */

import { createHash, X509Certificate } from 'node:crypto';
import type { TlsPeer } from '../io/io.ts';

/** Whether the peer's public key has one of these SHA-256 digests (hex, of the DER of its SubjectPublicKeyInfo). */
export function isPinned(peer: TlsPeer, pinnedKeys: readonly string[]): boolean {
  if (pinnedKeys.length === 0) return true;
  if (peer.certificate === null) return false;
  const key = new X509Certificate(peer.certificate).publicKey.export({ type: 'spki', format: 'der' });
  return pinnedKeys.includes(createHash('sha256').update(key).digest('hex'));
}
