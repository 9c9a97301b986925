/**
 * Whether what accounts import is exported to them, and whether all of it together is free of cycles: nats-server's
 * checks and words, made when every account has been read without an error.
 */

import { goQuote } from '../protocol/go-quote.ts';
import { isSubsetMatch, isValidLiteralSubject, isValidSubject, subjectsCollide } from '../subject/subject.ts';
import { compileTransform, placeholdersToWildcards, wildcardsToPlaceholders } from '../subject/transform.ts';
import type { AccountOptions, ExportOptions, ImportOptions } from './account-options.ts';
import type { Reading } from './reading.ts';
import { subjectText } from './subject-text.ts';
import type { Place } from './tree.ts';

type Kind = ImportOptions['kind'];

const BAD_PREFIX = 'stream import prefix can not contain wildcard tokens';
const CYCLE = 'import forms a cycle';

/** An import as its account sees it. */
interface Held {
  readonly importer: string;
  readonly kind: Kind;
  readonly exporter: string;
  /** The exporter's subject, and the importer's with wildcards. */
  readonly subject: string;
  readonly pattern: string;
}

export function checkSharing(accounts: readonly AccountOptions[], place: Place, reading: Reading): void {
  if (reading.hasErrors) return;
  const byName = new Map(accounts.map((account) => [account.name, account]));
  for (const { exports } of accounts) {
    for (let i = 0; i < exports.length; i++) {
      const fault = exportFault(exports, i, byName);
      if (fault !== null) reading.error(place, fault);
    }
  }
  const held: Held[] = [];
  for (const kind of ['stream', 'service'] as const) {
    for (const account of accounts) {
      for (const each of account.imports) {
        if (each.kind !== kind) continue;
        const fault = importFault(account, each, byName, held);
        if (fault !== null) reading.error(place, fault);
      }
    }
  }
}

function exportFault(
  exports: readonly ExportOptions[],
  position: number,
  byName: ReadonlyMap<string, AccountOptions>,
): string | null {
  const options = exports[position];
  if (options === undefined) return null;
  const { kind, subject, accounts, accountTokenPosition } = options;
  const unknown = accounts?.find((name) => !byName.has(name));
  if (unknown !== undefined) return `${goQuote(unknown)} account not defined for ${kind} export`;
  const isPlaced = accountTokenPosition <= 0 || subject.split('.')[accountTokenPosition - 1] === '*';
  if (!isPlaced) return `Error adding ${kind} export ${goQuote(subjectText(subject))}: sublist: invalid subject`;
  const fault = latencyFault(options, exports, position);
  if (fault === null) return null;
  const [service, results] = [subject, options.latency?.subject ?? ''].map((each) => goQuote(subjectText(each)));
  return `Error adding service latency sampling for ${service} on subject ${results}: ${fault}`;
}

/**
 * Latencies are published, and not to a service that the account exports up to there; only of services that answer once.
 */
function latencyFault(
  { latency, responseType }: ExportOptions,
  exports: readonly ExportOptions[],
  position: number,
): string | null {
  if (latency === null) return null;
  const { subject } = latency;
  const isService = exports.some(
    (each, i) => i <= position && each.kind === 'service' && isSubsetMatch(subject, each.subject),
  );
  if (!isValidLiteralSubject(subject) || isService) return 'invalid publish subject';
  return responseType === 'singleton' ? null : 'bad service response type';
}

function importFault(
  importer: AccountOptions,
  options: ImportOptions,
  byName: ReadonlyMap<string, AccountOptions>,
  held: Held[],
): string | null {
  const { kind, account, subject, to, prefix } = options;
  const exporter = byName.get(account);
  if (exporter === undefined) return `${goQuote(account)} account not defined for ${kind} import`;
  const shown = goQuote(subjectText(subject));
  const refused = (reason: string): string => `Error adding ${kind} import ${shown}: ${reason}`;
  const pattern = placeholdersToWildcards(to).pattern;
  if (!isValidSubject(pattern) && kind === 'service') return refused('sublist: invalid subject');
  if (!mayImport(exporter, importer.name, kind, subject)) return refused(`${kind} import not authorized`);
  if (kind === 'stream' && prefix !== '' && !isValidLiteralSubject(prefix)) return refused(BAD_PREFIX);
  const candidate: Held = { importer: importer.name, kind, exporter: account, subject, pattern };
  const subjects = kind === 'stream' ? [pattern, subject] : [pattern];
  if (subjects.some((each) => formsCycle(candidate, each, held, byName))) return refused(CYCLE);
  if (/(^|\.)[*>](\.|$)/.test(subject) && to !== subject) {
    const { error } = compileTransform(subject, wildcardsToPlaceholders(to), { strict: true });
    if (error !== null) {
      const [from, into] = kind === 'stream' ? [subject, to] : [to, subject];
      const texts = `from ${goQuote(subjectText(from))} to ${goQuote(subjectText(into))}`;
      return refused(
        `failed to create mapping transform for ${kind} import subject ${texts}: ${subjectText(error.message)}`,
      );
    }
  }
  const isDuplicate = held.some(
    (each) =>
      each.kind === 'stream' &&
      each.importer === importer.name &&
      each.exporter === account &&
      each.subject === subject,
  );
  if (kind === 'stream' && isDuplicate) return refused('stream import already exists');
  held.push(candidate);
  return null;
}

/** Whether `exporter` exports the subject to the account. */
function mayImport({ exports }: AccountOptions, importer: string, kind: Kind, subject: string): boolean {
  if (!isValidSubject(subject)) return false;
  const ofKind = exports.filter((each) => each.kind === kind);
  const exact = ofKind.find((each) => each.subject === subject);
  const found = exact ?? ofKind.find((each) => isSubsetMatch(subject, each.subject));
  if (found === undefined) return false;
  const { accounts, accountTokenPosition } = found;
  if (accountTokenPosition > 0) {
    return exact === undefined && subject.split('.')[accountTokenPosition - 1] === importer;
  }
  return accounts === null || accounts.includes(importer);
}

/** Whether the subject could come back to the importer by the imports there are. */
function formsCycle(
  { importer, kind, exporter }: Held,
  subject: string,
  held: readonly Held[],
  byName: ReadonlyMap<string, AccountOptions>,
): boolean {
  const visited = new Set([importer]);
  const leadsBack = (account: string, wanted: string): boolean => {
    if (kind === 'stream' && !exportsStream(byName.get(account), wanted)) return false;
    for (const each of held) {
      if (each.importer !== account || each.kind !== kind) continue;
      const inward = kind === 'stream' ? each.pattern : each.subject;
      if (!subjectsCollide(wanted, inward)) continue;
      if (visited.has(each.exporter)) return true;
      visited.add(account);
      const next = isSubsetMatch(each.pattern, wanted) ? each.pattern : wanted;
      if (leadsBack(each.exporter, next)) return true;
    }
    return false;
  };
  return leadsBack(exporter, subject);
}

function exportsStream(account: AccountOptions | undefined, subject: string): boolean {
  if (account === undefined) return false;
  return account.exports.some((each) => each.kind === 'stream' && isSubsetMatch(subject, each.subject));
}
