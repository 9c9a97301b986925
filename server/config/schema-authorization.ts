/**
 * Who may connect: `authorization`, `no_auth_user` and the keys about the system account.
 */

import { GLOBAL_ACCOUNT } from './account-options.ts';
import { formatDuration, parseDuration } from './duration.ts';
import type { AuthorizationDraft, Draft } from './draft.ts';
import { goValue } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Permissions } from './options.ts';
import { safeNumber } from './reading.ts';
import type { Reading } from './reading.ts';
import { readPermissions } from './schema-permissions.ts';
import { duplicateOf, readUsers } from './schema-users.ts';
import { ConfigError } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const TIMEOUT_WARNED_MS = 60_000;

interface AuthorizationBlock extends AuthorizationDraft {
  /** Whether `users` was given, were it empty. */
  hasUsers: boolean;
  defaultPermissions: Permissions | null;
}

const block = new Keys<AuthorizationBlock>((options) => options.authorization);

export const AUTHORIZATION_BLOCK_KEYS: readonly Key<AuthorizationBlock>[] = [
  block.string('username', 'username', {
    aliases: ['user'],
    live: 'Username',
    doc: 'Name of the only user.',
  }),
  block.custom(
    'password',
    'string',
    {
      aliases: ['pass'],
      live: 'Password',
      doc: 'Password of the only user.',
      value: (options) => options.authorization.password,
    },
    (draft, node, reading) => {
      draft.password = reading.string(node) ?? draft.password;
    },
  ),
  block.custom(
    'token',
    'string',
    { live: 'Authorization', doc: 'Token that clients must show.', value: (options) => options.authorization.token },
    (draft, node, reading) => {
      draft.token = reading.string(node) ?? draft.token;
    },
  ),
  block.custom(
    'timeout',
    'seconds or duration',
    {
      default: '2s',
      live: 'AuthTimeout',
      doc: 'How long a client may take to show its credentials.',
      value: (options) => formatDuration(options.authorization.timeoutMs),
    },
    readTimeout,
  ),
  block.custom(
    'users',
    'list of maps',
    { live: 'Users', doc: 'Users with their permissions.', value: (options) => options.authorization.users },
    (draft, node, reading) => {
      draft.hasUsers = true;
      draft.users = readUsers(node, reading);
    },
  ),
  block.custom(
    'default_permissions',
    'map',
    {
      aliases: ['default_permission', 'permissions'],
      live: 'Users',
      doc: 'What users without permissions of their own may do.',
    },
    (draft, node, reading) => {
      draft.defaultPermissions = readPermissions(node, reading);
    },
  ),
  absent('auth_callout', 'map', {
    aliases: ['auth_hook'],
    restart: 'AuthCallout',
    doc: 'Asks a service who may connect.',
  }),
  absent('proxy_required', 'boolean', {
    accepts: [false],
    default: 'false',
    restart: 'ProxyRequired',
    doc: 'Clients have to come through a trusted proxy.',
  }),
];

const keys = new Keys<Draft>((options) => options);

export const AUTHORIZATION_KEYS: readonly Key<Draft>[] = [
  keys.custom('authorization', 'map', { live: 'Users', doc: 'Who may connect.' }, readAuthorization),
  keys.custom(
    'no_auth_user',
    'string',
    {
      restart: 'NoAuthUser',
      doc: 'User that clients without credentials become.',
      value: (options) => options.authorization.noAuthUser,
    },
    (draft, node, reading) => {
      draft.authorization.noAuthUser = reading.string(node) ?? draft.authorization.noAuthUser;
    },
  ),
  keys.negation('no_system_account', 'hasSystemAccount', {
    aliases: ['no_system', 'no_sys_acc'],
    default: 'false',
    restart: 'NoSystemAccount',
    doc: 'Runs without a system account.',
  }),
  keys.custom(
    'system_account',
    'string',
    {
      aliases: ['system'],
      default: '$SYS',
      restart: 'SystemAccount',
      doc: 'Account of system events; one that accounts{} defines.',
      value: (options) => options.systemAccount,
    },
    (draft, node, reading, name) => {
      if (typeof node.value !== 'string') reading.error(node.place, 'system account name must be a string');
      else if (node.value === GLOBAL_ACCOUNT) reading.notSupported(node.place, name);
      else draft.systemAccount = node.value;
    },
  ),
];

function readAuthorization(draft: Draft, node: ConfigNode, reading: Reading): void {
  const map = reading.map(node);
  if (map === null) return;
  const { noAuthUser } = draft.authorization;
  const nothing: AuthorizationDraft = { username: '', password: '', token: '', users: [], timeoutMs: 0, noAuthUser };
  const read: AuthorizationBlock = { ...nothing, hasUsers: false, defaultPermissions: null };
  readEntries(AUTHORIZATION_BLOCK_KEYS, map, read, reading);
  const { hasUsers, defaultPermissions, ...authorization } = read;
  const conflict = conflictOf(read);
  if (conflict !== null) reading.error(node.place, conflict);
  const users = authorization.users.map((user) => ({ ...user, permissions: user.permissions ?? defaultPermissions }));
  draft.authorization = { ...authorization, users: hasUsers ? users : [] };
}

/** What cannot stand beside each other in one block. */
function conflictOf(block: AuthorizationBlock): string | null {
  if ((block.username !== '' || block.password !== '') && block.token !== '') {
    return 'Cannot have a user/pass and token';
  }
  if (!block.hasUsers) return null;
  if (block.username !== '') return 'Can not have a single user/pass and a users array';
  if (block.token !== '') return 'Can not have a token and a users array';
  return duplicateOf(block.users, new Set());
}

function readTimeout(draft: AuthorizationBlock, node: ConfigNode, reading: Reading, name: string): void {
  draft.timeoutMs = readAuthTimeout(node, reading, name, 'authorization') ?? draft.timeoutMs;
}

/** Milliseconds of the `timeout` in a block, of which a bare number counts seconds; null, with an error, if it is none. */
export function readAuthTimeout(node: ConfigNode, reading: Reading, name: string, blockName: string): number | null {
  const ms = timeoutMs(node, reading, blockName);
  if (ms === null || ms <= TIMEOUT_WARNED_MS) return ms;
  reading.warn(
    node.place,
    name,
    `timeout of ${goValue(node.value)} (${(ms / 1_000).toFixed(6)} seconds) is high, consider keeping it under 60 ` +
      `seconds. possibly caused by unquoted duration; use '1m' instead of 1m, for example`,
  );
  return ms;
}

function timeoutMs({ value, place }: ConfigNode, reading: Reading, blockName: string): number | null {
  if (typeof value === 'bigint') return safeNumber(value) * 1_000;
  if (typeof value === 'number') return Math.round(value * 1e9) / 1e6;
  if (typeof value !== 'string') {
    reading.error(place, `error parsing ${blockName} config, 'timeout' wrong type`);
    return null;
  }
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    reading.error(place, `error parsing ${blockName} config, 'timeout' ${error.message}`);
    return null;
  }
}
