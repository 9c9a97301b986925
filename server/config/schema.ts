/**
 * Every top-level key that nats-server 2.15.2 knows, and those of its blocks, in one table: the names, what is to be
 * written, the default, whether a change is applied while the server runs, a line of doc, and how the value is read or
 * that petiole does not have the key yet. Reading a file, comparing two configurations and telling people about a key
 * all go by these rows.
 *
 * The rows stand by topic in the `schema-*.ts` beside this file.
 */

import type { Draft } from './draft.ts';
import type { Key, KeyFacts } from './key.ts';
import { ABSENT_KEYS } from './schema-absent.ts';
import { ACCOUNT_JETSTREAM_KEYS } from './schema-account-jetstream.ts';
import { ACCOUNT_KEYS, ACCOUNT_LIMITS_KEYS, ACCOUNTS_KEYS } from './schema-accounts.ts';
import { ADDRESS_KEYS } from './schema-addresses.ts';
import { AUTHORIZATION_BLOCK_KEYS, AUTHORIZATION_KEYS } from './schema-authorization.ts';
import { EXPORT_KEYS } from './schema-exports.ts';
import { IMPORT_KEYS, IMPORT_SOURCE_KEYS } from './schema-imports.ts';
import { JETSTREAM_LIMITS_KEYS } from './schema-jetstream-limits.ts';
import { JETSTREAM_BLOCK_KEYS, JETSTREAM_KEYS } from './schema-jetstream.ts';
import { LEAF_AUTHORIZATION_KEYS } from './schema-leaf-listener.ts';
import { LEAFNODE_BLOCK_KEYS, LEAFNODE_KEYS } from './schema-leafnodes.ts';
import { LEAF_PROXY_KEYS } from './leaf-proxy.ts';
import { LEAF_REMOTE_KEYS } from './schema-leaf-remotes.ts';
import { LIMIT_KEYS } from './schema-limits.ts';
import { LOGGING_KEYS } from './schema-logging.ts';
import { DESTINATION_KEYS, MAPPING_KEYS } from './schema-mappings.ts';
import { PERMISSIONS_KEYS, PUBLISH_KEYS, RESPONSES_KEYS, SUBSCRIBE_KEYS } from './schema-permissions.ts';
import { TLS_BLOCK_KEYS, TLS_KEYS } from './schema-tls.ts';
import { USER_KEYS } from './schema-users.ts';
import { WEBSOCKET_AUTHORIZATION_KEYS, WEBSOCKET_BLOCK_KEYS, WEBSOCKET_KEYS } from './schema-websocket.ts';

/** The keys of the file itself. */
export const TOP_KEYS: readonly Key<Draft>[] = [
  ...ADDRESS_KEYS,
  ...LIMIT_KEYS,
  ...LOGGING_KEYS,
  ...TLS_KEYS,
  ...AUTHORIZATION_KEYS,
  ...ACCOUNTS_KEYS,
  ...MAPPING_KEYS,
  ...JETSTREAM_KEYS,
  ...LEAFNODE_KEYS,
  ...WEBSOCKET_KEYS,
  ...ABSENT_KEYS,
];

/** All tables, by the path of their block; `[]` and `*` stand for list entries and free names. */
export const TABLES: Readonly<Record<string, readonly KeyFacts[]>> = {
  '': TOP_KEYS,
  authorization: AUTHORIZATION_BLOCK_KEYS,
  'authorization.users[]': USER_KEYS,
  'authorization.users[].permissions': PERMISSIONS_KEYS,
  'authorization.users[].permissions.publish': PUBLISH_KEYS,
  'authorization.users[].permissions.subscribe': SUBSCRIBE_KEYS,
  'authorization.users[].permissions.allow_responses': RESPONSES_KEYS,
  'accounts.*': ACCOUNT_KEYS,
  'accounts.*.exports[]': EXPORT_KEYS,
  'accounts.*.imports[]': IMPORT_KEYS,
  'accounts.*.imports[].stream': IMPORT_SOURCE_KEYS,
  'accounts.*.jetstream': ACCOUNT_JETSTREAM_KEYS,
  'accounts.*.limits': ACCOUNT_LIMITS_KEYS,
  'mappings.*': DESTINATION_KEYS,
  jetstream: JETSTREAM_BLOCK_KEYS,
  'jetstream.limits': JETSTREAM_LIMITS_KEYS,
  tls: TLS_BLOCK_KEYS,
  leafnodes: LEAFNODE_BLOCK_KEYS,
  'leafnodes.authorization': LEAF_AUTHORIZATION_KEYS,
  'leafnodes.remotes[].proxy': LEAF_PROXY_KEYS,
  'leafnodes.remotes[]': LEAF_REMOTE_KEYS,
  websocket: WEBSOCKET_BLOCK_KEYS,
  'websocket.authorization': WEBSOCKET_AUTHORIZATION_KEYS,
};
