/** `leafnodes`: links between servers. What is about accepting them stands in `schema-leaf-listener.ts`. */

import type { Draft, LeafnodeDraft } from './draft.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import { LEAF_LISTENER_KEYS } from './schema-leaf-listener.ts';
import { readRemotes } from './schema-leaf-remotes.ts';
import { readWriteTimeoutPolicy, shownPolicy } from './schema-limits.ts';
import { goType, isMap } from './tree.ts';

const block = new Keys<LeafnodeDraft>((options) => options.leafnodes);

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
  ...LEAF_LISTENER_KEYS,
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
