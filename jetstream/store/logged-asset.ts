/** A stream or consumer, as far as the commit log, its recovery and its checkpoints deal with it. */

import type { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import type { LogParticipant } from './batch.ts';

export interface LoggedAsset extends LogParticipant {
  readonly number: number;
  /** A change of its configuration is told that its checkpoint reflects already; Storage's own note. */
  isAhead: boolean;
  /** A frame of the asset that its checkpoint lacks, read from the log at start. */
  applyFrame(kind: number, buffer: Buffer, start: number, end: number): void;
  /** The disk takes no more: gives up what is not needed. */
  makeRoom?(): void;
  /** The log is read to its end. */
  recovered(): void;
  /** Hands what it holds back to the log; calls back when that is done, or can't be because the store is closing. */
  flush(done: () => void): void;
  /** Writes a checkpoint of the present durable state and notes it in `coverage`. */
  checkpoint(done: Done): void;
}
