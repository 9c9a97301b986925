/**
 * Keys of the `jetstream` block that petiole does not have yet: encryption, and what concerns clusters.
 */

import { absent, absentRows } from './key.ts';
import type { AbsentKey } from './key.ts';

export const ABSENT_JETSTREAM_KEYS: readonly AbsentKey[] = [
  ...absentRows(
    { restart: 'JetStreamKey' },
    { 'encryption_key|key|ek': ['string', 'Key with which what is stored is encrypted.', ''] },
  ),
  ...absentRows(
    { restart: 'JetStreamOldKey' },
    { 'prev_encryption_key|prev_key|prev_ek': ['string', 'Key with which it was encrypted before.', ''] },
  ),
  ...absentRows(
    { restart: 'JetStreamCipher' },
    { cipher: ['string', 'Cipher of the encryption, chachapoly or aes.', 'chachapoly', 'chacha'] },
  ),
  absent('tpm', 'map', {
    acceptsEmpty: true,
    restart: 'JetStreamTpm',
    doc: 'Keeps the key in a trusted platform module.',
    keys: absentRows(
      { restart: 'JetStreamTpm' },
      {
        keys_file: ['string', 'File of the sealed keys.', ''],
        encryption_password: ['string', 'Password of the key.', ''],
        srk_password: ['string', "Password of the module's root key.", ''],
        pcr: ['integer', 'Register that the key is bound to.', 0n],
        cipher: ['string', 'Cipher of the encryption, chachapoly or aes.', 'chachapoly', 'chacha'],
      },
    ),
  }),
  ...absentRows(
    { restart: 'JetStreamExtHint' },
    { extension_hint: ['string', 'Whether other clusters extend this JetStream: will_extend or no_extend.', ''] },
  ),
  ...absentRows({ restart: 'JetStreamUniqueTag' }, { unique_tag: ['string', 'Replicas differ in this tag.', ''] }),
  ...absentRows(
    { restart: 'JetStreamMaxCatchup' },
    { max_outstanding_catchup: ['size', 'Bytes in flight to replicas that catch up.', 67_108_864n, 0n] },
  ),
  ...absentRows(
    { live: 'JetStreamMetaCompact' },
    {
      meta_compact: ['integer', 'Entries after which the log of assignments is compacted.', 0n],
      meta_compact_size: ['size', 'Bytes after which the log of assignments is compacted.', 0n],
      meta_compact_sync: ['boolean', 'Compacts the log of assignments before going on.', false],
    },
  ),
  ...absentRows(
    { restart: 'JetStreamConcurrentIOs' },
    { max_concurrent_io: ['integer', 'How many disk operations run at once, 4 to 8192.', 4_096n] },
  ),
];
