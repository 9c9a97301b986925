/**
 * `leafnodes`: links between servers. Only the dialling side is here yet; the keys of the listening side are known and
 * refused.
 */

import type { Draft, LeafnodeDraft } from './draft.ts';
import { absent, absentRows, Keys, readEntries } from './key.ts';
import type { AbsentKey, Key } from './key.ts';
import { readRemotes } from './schema-leaf-remotes.ts';
import { readWriteTimeoutPolicy, shownPolicy } from './schema-limits.ts';
import { goType, isMap } from './tree.ts';

const block = new Keys<LeafnodeDraft>((options) => options.leafnodes);

/** Keys of the side that accepts links. */
const LISTENER_KEYS: readonly AbsentKey[] = [
  absent('tls', 'map', { live: 'LeafNode', doc: 'Encrypts accepted links.' }),
  absent('authorization', 'map', { restart: 'LeafNode', acceptsEmpty: true, doc: 'Who may link.' }),
  ...absentRows({ live: 'LeafNode' }, { compression: ['string, boolean or map', 'Of accepted links.', 'off', false] }),
  ...absentRows(
    { restart: 'LeafNode' },
    {
      listen: ['port or host:port', 'Where links are accepted.'],
      'host|net': ['string', 'Address on which links are accepted.', ''],
      port: ['integer', 'Port on which links are accepted.', 0n],
      'advertise|leafnode_advertise': ['string', 'host:port that others are told.', ''],
      no_advertise: ['boolean', 'Tells others no addresses.', false],
      'min_version|minimum_version': ['string', 'Oldest version that may link.', ''],
      'isolate_leafnode_interest|isolate': ['boolean', 'Keeps interest of accepted links from each other.', false],
    },
  ),
];

export const LEAFNODE_BLOCK_KEYS: readonly Key<LeafnodeDraft>[] = [
  block.custom(
    'remotes',
    'list of maps',
    { live: 'LeafNode.Remotes', doc: 'Servers to link to.', value: (options) => options.leafnodes.remotes },
    (draft, node, reading) => {
      draft.remotes = readRemotes(node, reading);
    },
  ),
  block.duration('reconnect', 'reconnectIntervalMs', {
    restart: 'LeafNode.ReconnectInterval',
    aliases: ['reconnect_delay', 'reconnect_interval'],
    default: '1s',
    doc: 'How long to wait before dialling again.',
  }),
  block.duration('dial_timeout', 'dialTimeoutMs', {
    restart: 'LeafNode.DialTimeout',
    default: '1s',
    doc: 'How long dialling may take.',
  }),
  block.duration('write_deadline', 'writeDeadlineMs', {
    restart: 'LeafNode.WriteDeadline',
    doc: "How long a write to a link may take; the server's if not given.",
  }),
  block.custom(
    'write_timeout',
    'default, close or retry',
    {
      restart: 'LeafNode.WriteTimeout',
      default: 'default',
      doc: 'What happens to a link whose write takes too long: retried by default.',
      value: (options) => shownPolicy(options.leafnodes.writeTimeoutPolicy),
    },
    (draft, node, reading) => {
      draft.writeTimeoutPolicy = readWriteTimeoutPolicy(node, reading) ?? draft.writeTimeoutPolicy;
    },
  ),
  ...LISTENER_KEYS,
];

const keys = new Keys<Draft>((options) => options);

export const LEAFNODE_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'leafnodes',
    'map',
    { live: 'LeafNode', aliases: ['leaf'], doc: 'Links to other servers.' },
    (draft, node, reading) => {
      if (isMap(node.value)) readEntries(LEAFNODE_BLOCK_KEYS, node.value, draft.leafnodes, reading);
      else reading.error(node.place, `Expected map to define a leafnode, got ${goType(node.value)}`);
    },
  ),
];
