/** Which names of users a certificate stands for. */
import { X509Certificate } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { canonicalName, namesOf } from '../../server/auth/certificate-names.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const authority = new TestAuthority(temporaryDirectory(afterAll));

function namesIn(subject: string, alternatives: string): string[] {
  const { certificate } = authority.issue('x', subject, alternatives);
  return namesOf(new X509Certificate(certificate).raw).map(({ kind, text }) => `${kind} ${text}`);
}

test('the most particular names come first', () => {
  expect(namesIn('/O=petiole/CN=joe', 'URI:spiffe://a/b,DNS:joe.example.com,email:joe@example.com,DNS:b')).toEqual([
    'email joe@example.com',
    'SAN joe.example.com',
    'SAN b',
    'URI spiffe://a/b',
    'subject CN=joe,O=petiole',
  ]);
});

test('distinguished names are the same in any order and with any blanks, but not with other values', () => {
  const name = canonicalName('CN=joe,O=petiole');
  expect(canonicalName('o = petiole, cn = joe')).toBe(name);
  expect(canonicalName('CN=Joe,O=petiole')).not.toBe(name);
  expect(canonicalName('CN=joe')).not.toBe(name);
  expect(canonicalName('CN=joe\\,O=petiole')).not.toBe(name);
  expect(canonicalName('joe')).toBeNull();
});
