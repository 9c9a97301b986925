/**
 * `accounts`: a map of accounts with their users, what they share, their mappings and limits, or only a list of names.
 * What accounts share is checked when all are known (`sharing.ts`).
 */

import { goQuote } from '../protocol/go-quote.ts';
import { decodeNkey } from '../protocol/nkey.ts';
import { emptyAccount, GLOBAL_ACCOUNT, NO_LIMITS } from './account-options.ts';
import type { AccountLimitsOptions } from './account-options.ts';
import type { AccountDraft, Draft } from './draft.ts';
import { goString, goValue } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Permissions } from './options.ts';
import type { Reading } from './reading.ts';
import { readAccountJetStream } from './schema-account-jetstream.ts';
import { readExports } from './schema-exports.ts';
import { readImports } from './schema-imports.ts';
import { readMappings } from './schema-mappings.ts';
import { readPermissions } from './schema-permissions.ts';
import { duplicateOf, readUsers } from './schema-users.ts';
import { checkSharing } from './sharing.ts';
import { isMap } from './tree.ts';
import type { ConfigMap, ConfigNode, Place } from './tree.ts';

interface AccountBlock extends AccountDraft {
  defaultPermissions: Permissions | null;
  usersPlace: Place | null;
}

const account = new Keys<AccountBlock>(null);

export const ACCOUNT_KEYS: readonly Key<AccountBlock>[] = [
  account.custom('nkey', 'string', { live: 'Accounts', doc: 'Public key of the account.' }, (draft, node, reading) => {
    const { value } = node;
    if (typeof value === 'string' && decodeNkey('account', value) !== null) draft.nkey = value;
    else reading.error(node.place, `Not a valid public nkey for an account: ${goQuote(goString(value))}`);
  }),
  account.custom(
    'users',
    'list of maps',
    { live: 'Users', doc: 'Users with their permissions.' },
    (draft, node, reading) => {
      draft.users = readUsers(node, reading);
      draft.usersPlace = node.place;
    },
  ),
  account.custom(
    'default_permissions',
    'map',
    { live: 'Users', doc: 'What users without permissions of their own may do.' },
    (draft, node, reading) => {
      draft.defaultPermissions = readPermissions(node, reading);
    },
  ),
  account.custom(
    'imports',
    'list of maps',
    { live: 'Accounts', doc: 'Streams and services of other accounts.' },
    (draft, node, reading) => {
      draft.imports = readImports(node, reading);
    },
  ),
  account.custom(
    'exports',
    'list of maps',
    { live: 'Accounts', doc: 'Streams and services for other accounts.' },
    (draft, node, reading) => {
      draft.exports = readExports(node, reading);
    },
  ),
  account.custom(
    'jetstream',
    'boolean, enabled, disabled or map',
    { live: 'Accounts', doc: 'Whether the account has JetStream, and how much of it.' },
    (draft, node, reading) => {
      draft.jetstream = readAccountJetStream(node, reading);
    },
  ),
  account.custom(
    'mappings',
    'map of subjects to destinations',
    { aliases: ['maps'], live: 'Accounts', doc: 'Subjects that become others when they are published.' },
    (draft, node, reading) => {
      draft.mappings = readMappings(node, reading) ?? draft.mappings;
    },
  ),
  account.custom(
    'limits',
    'map',
    { live: 'Accounts', doc: 'How much the account may have.' },
    (draft, node, reading) => {
      draft.limits = readLimits(node, reading);
    },
  ),
  absent('msg_trace', 'subject or map', {
    aliases: ['trace_dest'],
    live: 'Accounts',
    doc: 'Where traces of messages go.',
  }),
];

type LimitsDraft = { -readonly [K in keyof AccountLimitsOptions]: AccountLimitsOptions[K] };

const limits = new Keys<LimitsDraft>(null);

export const ACCOUNT_LIMITS_KEYS: readonly Key<LimitsDraft>[] = [
  limits.integer('max_connections', 'maxConnections', {
    aliases: ['max_conn'],
    default: '-1',
    live: 'Accounts',
    doc: 'How many clients may be connected.',
  }),
  limits.integer('max_subscriptions', 'maxSubscriptions', {
    aliases: ['max_subs'],
    default: '-1',
    live: 'Accounts',
    doc: 'How many subscriptions a connection may have.',
  }),
  limits.integer('max_payload', 'maxPayloadBytes', {
    aliases: ['max_pay'],
    default: '-1',
    live: 'Accounts',
    doc: 'Bytes of a message.',
  }),
  limits.integer('max_leafnodes', 'maxLeafnodes', {
    aliases: ['max_leafs'],
    default: '-1',
    live: 'Accounts',
    doc: 'How many leaf nodes may be connected.',
  }),
];

const keys = new Keys<Draft>((options) => options);

export const ACCOUNTS_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'accounts',
    'map or list of names',
    { live: 'Accounts', doc: 'Accounts and what they share.', value: (options) => options.accounts },
    (draft, node, reading) => {
      if (Array.isArray(node.value)) draft.accounts = readNames(node.value, reading);
      else if (isMap(node.value)) draft.accounts = readAccounts(node.value, reading);
      checkSharing(draft.accounts, node.place, reading);
    },
  ),
];

function readNames(entries: readonly ConfigNode[], reading: Reading): AccountDraft[] {
  const accounts: AccountDraft[] = [];
  for (const entry of entries) {
    const name = reading.string(entry);
    if (name === null) continue;
    const isKnown = accounts.some((other) => other.name === name);
    if (name === GLOBAL_ACCOUNT) reading.error(entry.place, `${goQuote(name)} is a Reserved Account`);
    else if (isKnown) reading.error(entry.place, `Duplicate Account Entry: ${name}`);
    else accounts.push(emptyAccount(name));
  }
  return accounts;
}

function readAccounts(map: ConfigMap, reading: Reading): AccountDraft[] {
  const accounts: AccountDraft[] = [];
  const seen = new Set<string>();
  for (const [name, node] of map) {
    if (node.usedAsVariable) continue;
    if (!isMap(node.value)) reading.error(node.place, 'Expected map entries for accounts');
    else if (name === GLOBAL_ACCOUNT) reading.error(node.place, `${goQuote(name)} is a Reserved Account`);
    else accounts.push(readAccount(name, node.value, seen, reading));
  }
  return accounts;
}

function readAccount(name: string, map: ConfigMap, seen: Set<string>, reading: Reading): AccountDraft {
  const read: AccountBlock = { ...emptyAccount(name), defaultPermissions: null, usersPlace: null };
  readEntries(ACCOUNT_KEYS, map, read, reading);
  const { defaultPermissions, usersPlace, ...options } = read;
  const duplicate = duplicateOf(options.users, seen);
  if (duplicate !== null && usersPlace !== null) reading.error(usersPlace, duplicate);
  const users = options.users.map((user) => ({ ...user, permissions: user.permissions ?? defaultPermissions }));
  return { ...options, users };
}

function readLimits(node: ConfigNode, reading: Reading): AccountLimitsOptions {
  const read: LimitsDraft = { ...NO_LIMITS };
  if (isMap(node.value)) {
    readEntries(ACCOUNT_LIMITS_KEYS, node.value, read, reading, (field) => {
      return `Unknown field ${goQuote(field)} parsing account limits`;
    });
  } else reading.error(node.place, `Expected account limits to be a map/struct, got ${goValue(node.value)}`);
  return read;
}
