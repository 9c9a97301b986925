/**
 * The entries of `users` in an `authorization` block.
 */

import type { UserDraft } from './draft.ts';
import { goValue } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { UserOptions } from './options.ts';
import { readSecret } from './password.ts';
import type { Reading } from './reading.ts';
import { readPermissions } from './schema-permissions.ts';
import { isMap } from './tree.ts';
import type { ConfigMap, ConfigNode } from './tree.ts';

const user = new Keys<UserDraft>(null);

export const USER_KEYS: readonly Key<UserDraft>[] = [
  user.string('username', 'username', { aliases: ['user'], live: 'Users', doc: 'Name to log in with.' }),
  user.custom(
    'password',
    'string',
    { aliases: ['pass'], live: 'Users', doc: 'Password to log in with.' },
    (draft, node, reading, name) => {
      draft.password = readSecret(node, reading, name) ?? draft.password;
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
  absent('nkey', 'string', { live: 'Nkeys', doc: 'Public key to log in with, in place of name and password.' }),
  absent('allowed_connection_types', 'list of strings', {
    aliases: ['connection_types', 'clients'],
    acceptsEmpty: true,
    live: 'Users',
    doc: 'Kinds of connections on which the user may log in.',
  }),
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
    const options: UserDraft = { username: '', password: '', permissions: null };
    readEntries(USER_KEYS, entry.value, options, reading);
    if (options.username !== '') {
      users.push(options);
    } else if (!hasNkey(entry.value)) {
      const last = [...entry.value.values()].at(-1) ?? entry;
      reading.error(last.place, 'User entry requires a user');
    }
  }
  return users;
}

/** Whether the user is told by a key: that is refused already, so that a missing name is no further mistake. */
function hasNkey(entry: ConfigMap): boolean {
  return [...entry.keys()].some((name) => name.toLowerCase() === 'nkey');
}
