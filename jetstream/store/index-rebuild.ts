/**
 * Makes the index of a block from its records, when its index file is gone or damaged. A damaged record is passed over:
 * the next one is found by its head.
 */

import type { Buffer } from 'node:buffer';
import { BLOCK_HEADER_BYTES } from './block-header.ts';
import { BlockIndex, SLOTS_MAX } from './block-index.ts';
import { RecordView, recordAt } from './record.ts';
import type { SubjectIndex } from './subject-index.ts';

/** The index of the records of a block, given its first bytes; records end at `blockEnd`. */
export function indexOfRecords(
  bytes: Buffer,
  firstSequence: number,
  blockEnd: number,
  subjects: SubjectIndex,
): BlockIndex {
  const index = new BlockIndex(firstSequence);
  const end = Math.min(blockEnd, bytes.length);
  const view = new RecordView(bytes);
  let at = BLOCK_HEADER_BYTES;
  while (at < end) {
    const length = recordAt(bytes, at, end);
    if (length === 0) {
      at++;
      continue;
    }
    view.set(bytes, at);
    if (view.sequence > index.lastSequence && view.sequence - firstSequence < SLOTS_MAX) {
      const subject = subjects.intern(bytes, view.subjectStart, view.subjectEnd);
      index.add(view.sequence, at, subject, view.payloadStart > view.subjectEnd);
    }
    at += length;
  }
  return index;
}
