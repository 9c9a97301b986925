/**
 * Makes the index of a block from its records, when its index file is gone or damaged. A damaged record is passed over: the next one is found by its head.
 */

import { Buffer } from 'node:buffer';
import type { Disk } from '../../server/io/io.ts';
import { BLOCK_HEADER_BYTES } from './block-header.ts';
import { BlockIndex } from './block-index.ts';
import { RecordView, recordAt } from './record.ts';
import type { SubjectIndex } from './subject-index.ts';

/** The index of the records of a block, given its first `end` bytes. */
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
    if (view.sequence >= firstSequence && view.sequence > index.lastSequence) {
      const subject = subjects.intern(bytes, view.subjectStart, view.subjectEnd);
      index.add(view.sequence, at, subject, view.payloadStart > view.subjectEnd);
    }
    at += length;
  }
  return index;
}

/** `bytes` of the file from `offset` on, or `null` when it is not there or shorter. */
export function readRangeNow(disk: Disk, path: string, offset: number, bytes: number): Buffer | null {
  const status = disk.statusNow(path);
  if (status === null || status.bytes < offset + bytes) return null;
  const out = Buffer.allocUnsafeSlow(bytes);
  const file = disk.openNow(path, 'read');
  const read = file.readNow(out, 0, bytes, offset);
  file.closeNow();
  return read === bytes ? out : null;
}
