/**
 * The entries of `users` in an `authorization` block or an account.
 */

import type { UserDraft } from './draft.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { decodeNkey } from '../protocol/nkey.ts';
import { goValue } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { UserOptions } from './options.ts';
import type { Reading } from './reading.ts';
import { readPermissions } from './schema-permissions.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const CONNECTION_TYPES: ReadonlySet<string> = new Set([
  'STANDARD',
  'WEBSOCKET',
  'LEAFNODE',
  'LEAFNODE_WS',
  'MQTT',
  'MQTT_WS',
  'IN_PROCESS',
]);

const user = new Keys<UserDraft>(null);

export const USER_KEYS: readonly Key<UserDraft>[] = [
  user.string('username', 'username', { aliases: ['user'], live: 'Users', doc: 'Name to log in with.' }),
  user.custom(
    'password',
    'string',
    { aliases: ['pass'], live: 'Users', doc: 'Password to log in with.' },
    (draft, node, reading) => {
      draft.password = reading.string(node) ?? draft.password;
    },
  ),
  user.custom(
    'permissions',
    'map',
    { aliases: ['permission', 'authorization'], live: 'Users', doc: 'What the user may publish and subscribe to.' },
    (draft, node, reading) => {
      draft.permissions = readPermissions(node, reading);
    },
  ),
  user.string('nkey', 'nkey', {
    live: 'Nkeys',
    doc: 'Public key to log in with, in place of name and password.',
  }),
  user.custom(
    'allowed_connection_types',
    'list of strings',
    {
      aliases: ['connection_types', 'clients'],
      live: 'Users',
      doc: 'Kinds of connections on which the user may log in.',
    },
    (draft, node, reading) => {
      draft.connectionTypes = readConnectionTypes(node, reading);
    },
  ),
  absent('proxy_required', 'boolean', {
    accepts: [false],
    default: 'false',
    live: 'Users',
    doc: 'The user has to come through a trusted proxy.',
  }),
];

/** The users that can be told by name; a mistake in one does not hide the others. */
export function readUsers(node: ConfigNode, reading: Reading): UserOptions[] {
  if (!Array.isArray(node.value)) {
    reading.error(node.place, `Expected users field to be an array, got ${goValue(node.value)}`);
    return [];
  }
  const users: UserOptions[] = [];
  for (const entry of node.value) {
    if (!isMap(entry.value)) {
      reading.error(entry.place, `Expected user entry to be a map/struct, got ${goValue(entry.value)}`);
      continue;
    }
    const options: UserDraft = { username: '', password: '', nkey: '', permissions: null, connectionTypes: null };
    readEntries(USER_KEYS, entry.value, options, reading);
    const fault = faultOf(options);
    if (fault === null) users.push(options);
    else reading.error(([...entry.value.values()].at(-1) ?? entry).place, fault);
  }
  return users;
}

function faultOf({ username, password, nkey }: UserOptions): string | null {
  if (nkey === '') return username === '' ? 'User entry requires a user' : null;
  if (decodeNkey('user', nkey) === null) return 'Not a valid public nkey for a user';
  return username !== '' || password !== '' ? 'Nkey users do not take usernames or passwords' : null;
}

/** The kinds in capitals; `null` for all, which is also what an empty list means. */
function readConnectionTypes(node: ConfigNode, reading: Reading): string[] | null {
  if (typeof node.value !== 'string' && !Array.isArray(node.value)) {
    reading.error(node.place, `error parsing allowed connection types: unsupported type ${goType(node.value)}`);
    return null;
  }
  const entries = Array.isArray(node.value) ? node.value : [node];
  const types = entries.map((entry) => reading.string(entry)?.toUpperCase()).filter((type) => type !== undefined);
  const unknown = types.filter((type) => !CONNECTION_TYPES.has(type));
  if (unknown.length > 0) reading.error(node.place, `invalid connection types [${unknown.map(goQuote).join(' ')}]`);
  return types.length === 0 ? null : types;
}

/** Why the users can't stand beside those `seen`, which they join; `null` if they can. */
export function duplicateOf(users: readonly UserOptions[], seen: Set<string>): string | null {
  for (const { username, nkey } of users) {
    const name = nkey === '' ? username : nkey;
    if (seen.has(name)) return `Duplicate ${nkey === '' ? 'user' : 'nkey'} ${goQuote(name)} detected`;
    seen.add(name);
  }
  return null;
}
