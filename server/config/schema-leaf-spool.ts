/** `spool` of a leaf remote, which nats-server does not have: core messages that are kept while the link is down. */

import { goQuote } from '../protocol/go-quote.ts';
import { goValue } from './go-text.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Reading } from './reading.ts';
import { readSubjects } from './schema-permissions.ts';
import { SPOOL_BYTES_DEFAULT, type SpoolOptions, type WhenFull } from './spool-options.ts';
import { isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

interface SpoolBlock {
  subjects: string[];
  /** Whether any are given, be they right or not. */
  namesSubjects: boolean;
  maxBytes: number;
  maxAgeMs: number;
  whenFull: WhenFull;
}

const EMPTY_BLOCK: SpoolBlock = {
  subjects: [],
  namesSubjects: false,
  maxBytes: SPOOL_BYTES_DEFAULT,
  maxAgeMs: 0,
  whenFull: 'drop_oldest',
};

const block = new Keys<SpoolBlock>(null);
const FIXED = { restart: 'LeafNode' };
/** As for any stream. */
const AGE_MS_MIN = 100;

const SPOOL_KEYS: readonly Key<SpoolBlock>[] = [
  block.custom('subjects', 'subjects', { ...FIXED, doc: 'Which messages are kept.' }, (draft, node, reading) => {
    draft.subjects = readSubjects(node, reading, false);
    draft.namesSubjects = !Array.isArray(node.value) || node.value.length > 0;
  }),
  block.custom(
    'max_bytes',
    'size',
    { ...FIXED, default: '64MB', doc: 'How much is kept on disk.' },
    (draft, node, reading) => {
      const bytes = reading.integer(node);
      if (bytes !== null && bytes <= 0)
        reading.error(node.place, `max_bytes of a spool has to be positive, got ${bytes}`);
      else if (bytes !== null) draft.maxBytes = bytes;
    },
  ),
  block.custom(
    'max_age',
    'duration',
    { ...FIXED, default: '0', doc: 'For how long; 0 for any time.' },
    (draft, node, reading, name) => {
      const ms = reading.duration(node, name);
      if (ms !== null && ms !== 0 && ms < AGE_MS_MIN) {
        reading.error(node.place, `max_age of a spool has to be 0, or ${AGE_MS_MIN}ms or more`);
      } else if (ms !== null) draft.maxAgeMs = ms;
    },
  ),
  block.custom(
    'when_full',
    'drop_oldest or refuse',
    { ...FIXED, default: 'drop_oldest', doc: 'What goes when there is no room: what was kept first, or what comes.' },
    (draft, node, reading) => {
      const text = reading.string(node);
      if (text === 'drop_oldest' || text === 'refuse') draft.whenFull = text;
      else if (text !== null) {
        reading.error(node.place, `when_full has to be "drop_oldest" or "refuse", got ${goQuote(text)}`);
      }
    },
  ),
];

/** The spool; null, with an error, if there is a mistake in it. */
export function readSpool(node: ConfigNode, reading: Reading): SpoolOptions | null {
  if (!isMap(node.value)) {
    reading.error(node.place, `Expected spool to be a map/struct, got ${goValue(node.value)}`);
    return null;
  }
  const read: SpoolBlock = { ...EMPTY_BLOCK };
  readEntries(SPOOL_KEYS, node.value, read, reading, (name) => `Unknown field ${goQuote(name)} parsing spool`);
  const { namesSubjects, ...spool } = read;
  if (!namesSubjects) {
    reading.error(node.place, 'spool needs subjects: which messages to keep while the link is down');
  }
  return spool.subjects.length === 0 ? null : spool;
}
