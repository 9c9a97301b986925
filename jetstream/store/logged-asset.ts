/** A stream or consumer, as far as the commit log, its recovery and its checkpoints deal with it. */

import type { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import type { LogParticipant } from './commit-log.ts';

export interface LoggedAsset extends LogParticipant {
  readonly number: number;
  /** Frames below this position are reflected in the checkpoint on the device. */
  readonly checkpointLsn: number;
  /** A frame of the asset, read from the log at start; `lsn` is the position behind it. */
  applyFrame(kind: number, buffer: Buffer, start: number, end: number, lsn: number): void;
  /** Hands what it holds back for the end of the turn to the log. */
  flush(): void;
  /** Writes a checkpoint of the present durable state. */
  checkpoint(done: Done): void;
}
