/**
 * `imports` of an account: streams and services that other accounts export. A prefix is written out as the subject it
 * comes to.
 */

import { goQuote } from '../protocol/go-quote.ts';
import type { ImportOptions } from './account-options.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Reading } from './reading.ts';
import { subjectOf, subjectText } from './subject-text.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

interface ImportDraft {
  kind: 'stream' | 'service' | null;
  account: string;
  subject: string;
  prefix: string;
  to: string;
  isShared: boolean;
}

const keys = new Keys<ImportDraft>(null);

export const IMPORT_KEYS: readonly Key<ImportDraft>[] = [
  keys.custom(
    'stream',
    'map',
    { live: 'Accounts', doc: 'Account and subject of a stream.' },
    (draft, node, reading) => {
      if (draft.kind === 'service') reading.error(node.place, 'Detected stream but already saw a service');
      else readSource(draft, 'stream', node, reading);
    },
  ),
  keys.custom(
    'service',
    'map',
    { live: 'Accounts', doc: 'Account and subject of a service.' },
    (draft, node, reading) => {
      if (draft.kind === 'stream') reading.error(node.place, 'Detected service but already saw a stream');
      else readSource(draft, 'service', node, reading);
    },
  ),
  keys.custom(
    'prefix',
    'subject',
    { live: 'Accounts', doc: 'What the subjects of a stream begin with here.' },
    (draft, node, reading) => {
      draft.prefix = subjectOf(reading.string(node) ?? '');
    },
  ),
  keys.custom('to', 'subject', { live: 'Accounts', doc: 'The subject here.' }, (draft, node, reading) => {
    draft.to = subjectOf(reading.string(node) ?? '');
    if (draft.kind === 'stream' && draft.prefix !== '') {
      reading.error(node.place, "Stream import can not have a 'prefix' and a 'to' property");
    }
  }),
  keys.boolean('share', 'isShared', {
    default: 'false',
    live: 'Accounts',
    doc: 'Tells a service who asks.',
  }),
  absent('allow_trace', 'boolean', {
    accepts: [false],
    default: 'false',
    live: 'Accounts',
    doc: 'Traces of messages go on in this account.',
  }),
];

interface SourceDraft {
  account: string;
  subject: string;
}

const source = new Keys<SourceDraft>(null);

export const IMPORT_SOURCE_KEYS: readonly Key<SourceDraft>[] = [
  source.string('account', 'account', { live: 'Accounts', doc: 'The account that exports.' }),
  source.custom('subject', 'subject', { live: 'Accounts', doc: 'The subject there.' }, (draft, node, reading) => {
    draft.subject = subjectOf(reading.string(node) ?? '');
  }),
];

export function readImports(node: ConfigNode, reading: Reading): ImportOptions[] {
  if (!Array.isArray(node.value)) {
    reading.error(node.place, `Imports should be an array, got ${goType(node.value)}`);
    return [];
  }
  const imports: ImportOptions[] = [];
  for (const entry of node.value) {
    const read = readImport(entry, reading);
    if (read === null) continue;
    const { kind, account, to } = read;
    const duplicate = imports.find((each) => each.kind === 'service' && each.account === account && each.to === to);
    if (kind === 'stream' || duplicate === undefined) imports.push(read);
    else {
      const quoted = [to, duplicate.account, duplicate.subject].map((text) => goQuote(subjectText(text)));
      const where = `previously used in import for account ${quoted[1]}, subject ${quoted[2]}`;
      reading.error(entry.place, `Duplicate service import subject ${quoted[0]}, ${where}`);
    }
  }
  return imports;
}

function readImport(node: ConfigNode, reading: Reading): ImportOptions | null {
  if (!isMap(node.value)) {
    reading.error(node.place, `Import Items should be a map with type entry, got ${goType(node.value)}`);
    return null;
  }
  const draft: ImportDraft = { kind: null, account: '', subject: '', prefix: '', to: '', isShared: false };
  readEntries(IMPORT_KEYS, node.value, draft, reading);
  const { kind, account, subject, isShared } = draft;
  if (kind === null) return null;
  const prefix = kind === 'stream' ? draft.prefix.replace(/\.$/, '') : '';
  const named = draft.to === '' ? subject : draft.to;
  return { kind, account, subject, to: prefix === '' ? named : `${prefix}.${subject}`, prefix, isShared };
}

function readSource(draft: ImportDraft, kind: 'stream' | 'service', node: ConfigNode, reading: Reading): void {
  if (!isMap(node.value)) {
    const what = kind === 'stream' ? 'Stream' : 'Service';
    reading.error(node.place, `${what} entry should be an account map, got ${goType(node.value)}`);
    return;
  }
  const read: SourceDraft = { account: '', subject: '' };
  readEntries(IMPORT_SOURCE_KEYS, node.value, read, reading);
  if (read.account === '' || read.subject === '') {
    reading.error(node.place, 'Expect an account name and a subject');
    return;
  }
  draft.kind = kind;
  draft.account = read.account;
  draft.subject = read.subject;
}
