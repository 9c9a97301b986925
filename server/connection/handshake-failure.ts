/**
 * Why a TLS handshake failed, in the words of Go's library where it has some: people search logs for them. What comes
 * from probes and load balancers that speak no TLS at all is told apart: it is no error of anybody's.
 */

import { createHash, X509Certificate } from 'node:crypto';
import type { IoError, TlsPeer } from '../io/io.ts';

export interface HandshakeFailure {
  readonly text: string;
  /** The peer did not speak TLS. */
  readonly isProbe: boolean;
}

const NO_TLS = 'tls: first record does not look like a TLS handshake';

/** OpenSSL's codes; those of alerts are what the peer said. */
const TEXTS: Readonly<Record<string, string>> = {
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls: client offered only unsupported versions',
  ERR_SSL_NO_SHARED_CIPHER: 'tls: no cipher suite supported by both client and server',
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: `tls: client didn't provide a certificate`,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'remote error: tls: unknown certificate authority',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'remote error: tls: protocol version not supported',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'remote error: tls: bad certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: 'remote error: tls: unknown certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'remote error: tls: expired certificate',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'remote error: tls: certificate required',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'remote error: tls: handshake failure',
  ERR_SSL_DATA_LENGTH_TOO_LONG: 'tls: oversized record received',
  ECONNRESET: 'read: connection reset by peer',
  EPIPE: 'write: broken pipe',
};

const PROBES: readonly string[] = [
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_HTTPS_PROXY_REQUEST',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_UNKNOWN_PROTOCOL',
  'ERR_SSL_RECORD_LAYER_FAILURE',
];

/** What the check of a certificate says, by OpenSSL's code. */
const VERIFICATIONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
};

/** `peer` is what is known of the other side; null for `error`: the peer went away. */
export function handshakeFailure(error: IoError | null, peer: TlsPeer | null): HandshakeFailure {
  if (error === null) return { text: 'EOF', isProbe: false };
  // The same alerts go by two names, depending on OpenSSL's version.
  const code = (error.code ?? '').replace('SSL/TLS_', 'SSLV3_');
  if (PROBES.includes(code)) return { text: NO_TLS, isProbe: true };
  const verification = VERIFICATIONS[code];
  if (verification === undefined) return { text: TEXTS[code] ?? reasonOf(error), isProbe: false };
  if (peer?.certificate === null || peer === null) {
    return { text: `tls: client didn't provide a certificate`, isProbe: false };
  }
  return {
    text: `tls: failed to verify certificate: ${verification} (${certificateText(peer.certificate)})`,
    isProbe: false,
  };
}

/** OpenSSL's messages also tell the thread and the line of its source, which nobody wants to read: `…:reason:file:1:`. */
function reasonOf({ message }: IoError): string {
  const reason = /error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1];
  return reason === undefined ? message : `tls: ${reason}`;
}

/** Subject and digest of the certificate that was not taken. */
export function certificateText(der: Uint8Array): string {
  const subject = new X509Certificate(der).subject.split('\n').toReversed().join(',');
  return `${subject} SHA-256: ${createHash('sha256').update(der).digest('hex')}`;
}
