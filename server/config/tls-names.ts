/**
 * Ciphers and curves by the names that nats-server's configuration uses (Go's), and what OpenSSL calls them.
 *
 * Of TLS 1.3 Go offers all three ciphers whatever is configured, and so does petiole. A name that is known but that
 * OpenSSL does not offer any more (RC4, 3DES) has none here.
 */

interface CipherName {
  /** OpenSSL's; null where it has none. */
  readonly openssl: string | null;
  /** Taken only with `allow_insecure_cipher_suites`. */
  readonly isInsecure: boolean;
}

const TLS_1_3: readonly string[] = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const SECURE: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
};

const INSECURE: Readonly<Record<string, string | null>> = {
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_RC4_128_SHA: null,
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: null,
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: null,
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: null,
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: null,
};

const CURVES: ReadonlyMap<string, string> = new Map([
  ['X25519MLKEM768', 'X25519MLKEM768'],
  ['SecP384r1MLKEM1024', 'SecP384r1MLKEM1024'],
  ['SecP256r1MLKEM768', 'SecP256r1MLKEM768'],
  ['X25519', 'X25519'],
  ['CurveP256', 'P-256'],
  ['CurveP384', 'P-384'],
  ['CurveP521', 'P-521'],
]);

const CIPHERS: ReadonlyMap<string, CipherName> = new Map([
  ...TLS_1_3.map((name): [string, CipherName] => [name, { openssl: name, isInsecure: false }]),
  ...Object.entries(SECURE).map(([name, openssl]): [string, CipherName] => [name, { openssl, isInsecure: false }]),
  ...Object.entries(INSECURE).map(([name, openssl]): [string, CipherName] => [name, { openssl, isInsecure: true }]),
]);

/** OpenSSL's names of what is taken when nothing is configured. */
export const DEFAULT_CIPHERS: readonly string[] = [...TLS_1_3, ...Object.values(SECURE)];
export const DEFAULT_CURVES: readonly string[] = [...CURVES.values()];

/** undefined: no such cipher. */
export function findCipher(name: string): CipherName | undefined {
  return CIPHERS.get(name);
}

/** OpenSSL's name of the curve; undefined: no such curve. */
export function findCurve(name: string): string | undefined {
  return CURVES.get(name);
}

/** The ciphers chosen, with those of TLS 1.3, which cannot be left out. */
export function withTls13(openssl: readonly string[]): readonly string[] {
  return [...new Set([...TLS_1_3, ...openssl])];
}
