/**
 * The names by which a client's certificate can stand for a user (`verify_and_map`), the most particular first: e-mail
 * addresses, DNS names, URIs, and the distinguished name of its subject.
 *
 * A distinguished name is one of a user when both hold the same attributes with the same values, in whatever order and
 * whatever blanks stand between them. That is told by bringing both to one form:
 *
 *     CN=joe, O=petiole   ─►  cn=joe,o=petiole  ◄─   O=petiole,CN=joe
 */

import { X509Certificate } from 'node:crypto';

export interface CertificateName {
  readonly kind: 'email' | 'SAN' | 'URI' | 'subject';
  readonly text: string;
}

/** In the order in which users are looked for. */
export function namesOf(der: Uint8Array): CertificateName[] {
  const certificate = new X509Certificate(der);
  const alternatives = entriesOf(certificate.subjectAltName ?? '');
  const named = (prefix: string, kind: CertificateName['kind']): CertificateName[] =>
    alternatives
      .filter((entry) => entry.startsWith(prefix))
      .map((entry) => ({ kind, text: entry.slice(prefix.length) }));
  const subject = certificate.subject.split('\n').toReversed().join(',');
  return [
    ...named('email:', 'email'),
    ...named('DNS:', 'SAN'),
    ...named('URI:', 'URI'),
    ...(subject === '' ? [] : [{ kind: 'subject' as const, text: subject }]),
  ];
}

/** The form that distinguished names are compared in; null for a text that is none. */
export function canonicalName(text: string): string | null {
  const parts = text.split(/(?<!\\)[,+]/).map((part) => /^\s*([A-Za-z][A-Za-z0-9.-]*)\s*=\s*(.*?)\s*$/.exec(part));
  if (parts.length === 0 || parts.some((part) => part === null)) return null;
  return parts
    .map((part) => `${part?.[1]?.toLowerCase()}=${part?.[2]}`)
    .toSorted()
    .join(',');
}

/** The runtime puts an entry into quotes, as in JSON, when it holds something that could be taken for a separator. */
function entriesOf(alternatives: string): string[] {
  const entries = alternatives.match(/[A-Za-z ]+:(?:"(?:[^"\\]|\\.)*"|[^,]*)/g) ?? [];
  return entries.map((entry) => {
    const [, prefix = '', quoted = ''] = /^\s*([A-Za-z ]+:)(.*)$/s.exec(entry) ?? [];
    return prefix + (quoted.startsWith('"') ? String(JSON.parse(quoted)) : quoted);
  });
}
