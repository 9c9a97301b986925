/**
 * A block is copied to a new file that takes its name, since its file is not to be trusted with what was not synced before.
 *
 *     file ─► copy ─► what is kept in memory, what is damaged or doubtful from the log ─► new file, durable ─► its name
 *
 * Doubtful is what was never synced and is not kept in memory: where a write was lost, the file may hold another message
 * with the same sequence, which a former process wrote and never acknowledged.
 *
 * While something is missing that may only not have been readable for a moment, the file stays and is read again, up to
 * ATTEMPTS_MAX times: what it holds is gone once its name leads elsewhere.
 */

import type { Buffer } from 'node:buffer';
import type { Done, IoError } from '../../server/io/io.ts';
import { copyReadable } from './block-copy.ts';
import { type BlockHeader, encodeBlockHeader } from './block-header.ts';
import type { KeptPieces } from './kept-pieces.ts';
import type { Opened } from './reopened-file.ts';
import type { StoreFiles } from './store-files.ts';

const ATTEMPTS_MAX = 12;
const RETRY_MS = 500;

/** Whether what stands in `[start, end)` of a block is what was written there. */
export type IsSure = (start: number, end: number) => boolean;

/**
 * Makes a block's bytes whole that were read back from a file; calls back with the number of records that are damaged or
 * doubtful still.
 */
export type Mend = (bytes: Buffer, isSure: IsSure, done: (unsettled: number) => void) => void;

export interface MovedBlock {
  readonly path: string;
  readonly isWriting: boolean;
  readonly isDropped: boolean;
  /** The file holds everything below this offset. */
  readonly writtenEnd: number;
  /** Everything below this offset was on the device before the file was distrusted. */
  readonly syncedEnd: number;
  withFile(then: Opened): void;
  /** The new file holds everything below `end`, durably and under its name, or there is none because of the error. */
  moved(end: number, error: IoError | null): void;
}

export class BlockMove {
  private readonly files: StoreFiles;
  private readonly block: MovedBlock;
  private readonly header: BlockHeader;
  private readonly kept: KeptPieces;
  private readonly mend: Mend;
  private waiting: Done[] | null = null;
  private attempts = 0;

  constructor(files: StoreFiles, block: MovedBlock, header: BlockHeader, kept: KeptPieces, mend: Mend) {
    this.files = files;
    this.block = block;
    this.header = header;
    this.kept = kept;
    this.mend = mend;
  }

  /** Nothing is to be written to the old file. */
  get isUnderway(): boolean {
    return this.waiting !== null;
  }

  start(done: Done): void {
    if (this.waiting !== null) this.waiting.push(done);
    else {
      this.waiting = [done];
      this.attempts = 0;
      this.goOn();
    }
  }

  /** Begins to copy unless something is being written to the old file, which has to be in the copy. */
  goOn(): void {
    const { block } = this;
    if (block.isWriting) return;
    if (block.isDropped) {
      this.finish(block.writtenEnd, null);
      return;
    }
    const end = block.writtenEnd;
    block.withFile((openError, file) => {
      if (file === null) this.finish(end, openError);
      else copyReadable(file, end, (copy) => this.replaceWith(copy));
    });
  }

  private replaceWith(copy: Buffer): void {
    encodeBlockHeader(this.header).copy(copy);
    this.kept.copyTo(copy);
    const isSure: IsSure = (start, end) => end <= this.block.syncedEnd || this.kept.holds(start, end);
    this.mend(copy, isSure, (missing) => {
      if (missing > 0 && this.files.isClosing) this.finish(copy.length, damaged(this.block.path, missing));
      else if (missing > 0 && this.attempts < ATTEMPTS_MAX) this.retry();
      else this.files.replaceFile(this.block.path, copy, (error) => this.finish(copy.length, error));
    });
  }

  private retry(): void {
    this.attempts++;
    this.files.timers.after(RETRY_MS, () => this.goOn());
  }

  private finish(end: number, error: IoError | null): void {
    const waiting = this.waiting ?? [];
    this.waiting = null;
    this.block.moved(end, error);
    for (const done of waiting) done(error);
  }
}

function damaged(path: string, records: number): IoError {
  return Object.assign(new Error(`${records} records of '${path}' can't be read`), { code: 'EIO' });
}
