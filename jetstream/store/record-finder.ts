/**
 * Finds records in the commit log that are damaged where they are read from. It reads the log from its beginning, a window
 * at a time and between other work: that is rare, and what it finds is a message saved.
 */

import { Buffer } from 'node:buffer';
import type { Io } from '../../server/io/io.ts';
import { runSliced } from '../../server/io/slicer.ts';
import type { CommitLog } from './commit-log.ts';
import { holdsRecord } from './frame.ts';
import { get48 } from './integers.ts';
import { type FrameVisitor, type ReadLog, readFrames } from './log-reader.ts';
import { SEQUENCE_AT } from './record.ts';
import type { FindRecords } from './store-files.ts';

export class RecordFinder {
  private readonly io: Io;
  private readonly log: CommitLog;

  constructor(io: Io, log: CommitLog) {
    this.io = io;
    this.log = log;
  }

  /** Copies of those of the stream's records that are in the log, by sequence, and whether all of it could be read. */
  readonly find: FindRecords = (stream, sequences, done) => {
    const { segments, durableLsn } = this.log;
    const found = new Map<number, Buffer>();
    const visitor: FrameVisitor = {
      frame: (kind, asset, buffer, start, end) => {
        if (!holdsRecord(kind) || asset !== stream) return;
        const sequence = get48(buffer, start + SEQUENCE_AT);
        if (sequences.has(sequence)) found.set(sequence, Buffer.from(buffer.subarray(start, end)));
      },
    };
    const view: ReadLog = {
      nextLsn: segments.used[0]?.header.baseLsn ?? durableLsn,
      used: segments.used.slice(),
      unused: [],
      nextSlot: 0,
      endLsn: durableLsn,
      damagedBytes: 0,
      movedAside: [],
      lastBatchLsn: 0,
      missingSuccessor: 0,
      mayResume: false,
    };
    runSliced(this.io, readFrames(view, visitor, true), () => {
      const isWhole = view.damagedBytes === 0 && view.nextLsn >= durableLsn;
      this.io.timers.afterTurn(() => done(found, isWhole));
    });
  };
}
