/** `tls {}`: what is read, and what is complained of, in nats-server's words. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { interpretCommandLine } from '../../server/config/load.ts';
import type { TlsOptions } from '../../server/config/transport-options.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const directory = temporaryDirectory(afterAll);
const authority = new TestAuthority(directory);
const one = authority.issueServer('one');
const two = authority.issueServer('two');
const PAIR = `cert_file: "${one.certFile}", key_file: "${one.keyFile}"`;

function outcomeOf(config: string, flags: readonly string[] = []): ReturnType<typeof interpretCommandLine> {
  const readFile = (path: string): Uint8Array | Error => {
    if (path === 'a.conf') return Buffer.from(config);
    try {
      return readFileSync(path);
    } catch (error) {
      return error as Error;
    }
  };
  return interpretCommandLine(['-c', 'a.conf', ...flags], { readFile, environment: {} });
}

function tlsOf(block: string): TlsOptions {
  const outcome = outcomeOf(`tls { ${block} }`);
  if (outcome.kind !== 'start' || outcome.options.tls === null) throw new Error(JSON.stringify(outcome));
  return outcome.options.tls;
}

function complaintOf(block: string): string {
  const outcome = outcomeOf(`tls { ${block} }`);
  return outcome.kind === 'exit' ? outcome.stderr.trim().replace('nats-server: ', '') : outcome.kind;
}

function pem(type: string): string {
  return `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;
}

describe('tls', () => {
  test('holds what the files do, and the defaults', () => {
    expect(tlsOf(`${PAIR}, ca_file: "${authority.file}"`)).toMatchObject({
      certificates: [{ certificate: one.certificate, key: one.key }],
      authorities: authority.certificate,
      verifiesClients: false,
      minVersion: 'TLSv1.2',
      timeoutMs: 2000,
      isHandshakeFirst: false,
      fallbackDelayMs: 0,
    });
  });

  test.each<[string, Partial<TlsOptions>]>([
    ['verify: true, min_version: "1.3"', { verifiesClients: true, minVersion: 'TLSv1.3' }],
    ['timeout: 0.5', { timeoutMs: 500 }],
    ['timeout: "3s", connection_rate_limit: 7', { timeoutMs: 3000, connectionRateLimit: 7 }],
    ['handshake_first: true', { isHandshakeFirst: true, fallbackDelayMs: 0 }],
    ['first: auto', { isHandshakeFirst: true, fallbackDelayMs: 50 }],
    ['immediate: "250ms"', { isHandshakeFirst: true, fallbackDelayMs: 250 }],
    ['handshake_first: off', { isHandshakeFirst: false }],
    ['curve_preferences: [CurveP384, X25519]', { curves: ['P-384', 'X25519'] }],
    [`pinned_certs: ["${'AB'.repeat(32)}"]`, { pinnedKeys: ['ab'.repeat(32)] }],
  ])('%s', (more, expected) => {
    expect(tlsOf(`${PAIR}, ${more}`)).toMatchObject(expected);
  });

  test('ciphers are those chosen, and those of TLS 1.3', () => {
    expect(tlsOf(`${PAIR}, cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]`).ciphers).toEqual([
      'TLS_AES_128_GCM_SHA256',
      'TLS_AES_256_GCM_SHA384',
      'TLS_CHACHA20_POLY1305_SHA256',
      'ECDHE-RSA-AES256-GCM-SHA384',
    ]);
  });

  test.each<[string, string]>([
    [`cert_file: "${one.certFile}"`, `missing 'key_file' in TLS configuration`],
    [`key_file: "${one.keyFile}"`, `missing 'cert_file' in TLS configuration`],
    [
      `cert_file: "/none.pem", key_file: "/none.key"`,
      'error parsing X509 certificate/key pair: open /none.pem: no such file or directory',
    ],
    [
      `cert_file: "${one.certFile}", key_file: "${two.keyFile}"`,
      'error parsing X509 certificate/key pair: tls: private key does not match public key',
    ],
    [`${PAIR}, ca_file: "${one.keyFile}"`, 'failed to parse root ca certificate'],
    [`${PAIR}, ca_file: "/none.pem"`, 'open /none.pem: no such file or directory'],
    [`${PAIR}, wrong: 1`, 'error parsing tls config, unknown field "wrong"'],
    [`${PAIR}, verify: 1`, `error parsing tls config, expected 'verify' to be a boolean`],
    [`${PAIR}, cipher_suites: []`, `error parsing tls config, 'cipher_suites' cannot be empty`],
    [`${PAIR}, cipher_suites: [X]`, 'unrecognized cipher X'],
    [
      `${PAIR}, cipher_suites: [TLS_RSA_WITH_AES_128_GCM_SHA256]`,
      `insecure cipher suites configured without 'allow_insecure_cipher_suites' option set: TLS_RSA_WITH_AES_128_GCM_SHA256`,
    ],
    [`${PAIR}, curve_preferences: [X]`, 'unrecognized curve preference X'],
    [`${PAIR}, min_version: "1.1"`, 'error parsing tls config: unsupported TLS version: TLS 1.1'],
    [`${PAIR}, handshake_first: soon`, 'field "handshake_first"\'s value "soon" is invalid'],
    [
      `${PAIR}, pinned_certs: [x]`,
      `error parsing tls config, 'pinned_certs' key x does not look like hex-encoded sha256 of DER encoded SubjectPublicKeyInfo`,
    ],
    [
      `${PAIR}, certs: [{cert_file: a, key_file: b}]`,
      `error parsing tls config, cannot combine 'cert_file' option with 'certs' option`,
    ],
    [`${PAIR}, cert_store: windowscurrentuser`, 'cert_store: not supported by petiole yet'],
    [
      `${PAIR}, verify_cert_and_check_known_urls: true`,
      'verify_cert_and_check_known_urls not supported in this context',
    ],
  ])('%s', (block, complaint) => {
    const outcome = outcomeOf(`tls { ${block} }`);
    expect(outcome.kind === 'exit' ? outcome.stderr : outcome).toContain(`: ${complaint}\n`);
  });

  test.each([
    ['a certificate', one.certificate, 'found a certificate rather than a key in the PEM for the private key'],
    ['nothing', '', 'failed to find any PEM data in key input'],
    ['half a key', one.key.slice(0, 80), 'failed to find any PEM data in key input'],
    [
      'certificates',
      `${one.certificate}${one.certificate}`,
      'failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [CERTIFICATE CERTIFICATE]',
    ],
    ['no key at all', pem('PRIVATE KEY'), 'failed to parse private key'],
    ['a key with a password', pem('ENCRYPTED PRIVATE KEY'), 'failed to parse private key'],
  ])('a key file that holds %s', (_, content, complaint) => {
    const keyFile = join(directory, 'wrong.key');
    writeFileSync(keyFile, content);
    const block = `cert_file: "${one.certFile}", key_file: "${keyFile}"`;
    expect(complaintOf(block)).toBe(`a.conf:1:0: error parsing X509 certificate/key pair: tls: ${complaint}`);
  });

  test.each([
    ['nothing', '', 'tls: failed to find any PEM data in certificate input'],
    [
      'a key',
      one.key,
      'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    ],
    [
      'something else',
      pem('PUBLIC KEY'),
      'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [PUBLIC KEY]',
    ],
    ['no certificate at all', pem('CERTIFICATE'), 'x509: malformed certificate'],
  ])('a certificate file that holds %s', (_, content, complaint) => {
    const certFile = join(directory, 'wrong.crt');
    writeFileSync(certFile, content);
    const block = `cert_file: "${certFile}", key_file: "${one.keyFile}"`;
    expect(complaintOf(block)).toBe(`a.conf:1:0: error parsing X509 certificate/key pair: ${complaint}`);
  });

  test.each<[string[], string]>([
    [['-tls'], 'TLS Server certificate must be present and valid'],
    [['-tlsverify', '-tlscert', 'x'], 'TLS Server private key must be present and valid'],
    [
      ['-tlscert', '/none', '-tlskey', 'y'],
      'error parsing X509 certificate/key pair: open /none: no such file or directory',
    ],
  ])('flags %j', (flags, complaint) => {
    expect(outcomeOf('', flags)).toMatchObject({ code: 1, stderr: `nats-server: ${complaint}\n` });
  });

  test('flags win over the file, and can turn it off', () => {
    const files = ['-tlscert', two.certFile, '-tlskey', two.keyFile];
    const config = `tls { ${PAIR} }`;
    const ours = { certificates: [{ certificate: two.certificate, key: two.key }], verifiesClients: true };
    expect(outcomeOf(config, [...files, '-tlsverify'])).toMatchObject({ options: { tls: ours } });
    expect(outcomeOf(config, [...files, '-tls=false'])).toMatchObject({ options: { tls: null } });
  });

  test('https needs it, and no http beside it', () => {
    expect(outcomeOf('https: 8443')).toMatchObject({
      stderr: `nats-server: Can't start monitoring: TLS cert and key required for HTTPS\n`,
    });
    expect(outcomeOf(`http: 8222\nhttps: 8443\ntls { ${PAIR} }`)).toMatchObject({
      stderr: `nats-server: Can't start monitoring: can't specify both HTTP (8222) and HTTPs (8443) ports\n`,
    });
  });
});
