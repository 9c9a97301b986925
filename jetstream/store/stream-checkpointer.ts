/**
 * Writes a stream's checkpoints: captures the state, brings the blocks it names to the device, writes the older of the
 * two checkpoint files, and then removes the files of blocks that no checkpoint names any more.
 */

import type { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import { syncAll } from './block-files.ts';
import type { FileStore } from './file-store.ts';
import { inOrder } from './steps.ts';
import { encodeCheckpoint } from './stream-checkpoint.ts';
import { CHECKPOINT_SLOTS, checkpointPath } from './stream-recovery.ts';

export class StreamCheckpointer {
  private readonly store: FileStore;
  private slot: number;
  /** Both files exist under their names on the device. */
  private written = 0;
  /** Frames of the stream below this position are in the last checkpoint. */
  lsn: number;

  constructor(store: FileStore, lsn: number, slot: number) {
    this.store = store;
    this.lsn = lsn;
    this.slot = slot;
  }

  /** Writes a checkpoint of the present visible state; `extra` is the stream's own part of it. */
  run(extra: Buffer, done: Done): void {
    const { store } = this;
    const { blockFiles } = store;
    const { files, directory } = blockFiles;
    const discarded = blockFiles.takeDiscarded();
    const checkpoint = store.capture(extra);
    const last = store.lastVisibleBlock;
    const slot = (this.slot + 1) % CHECKPOINT_SLOTS;
    inOrder(
      [
        (next) => syncAll(last === undefined ? [] : [last], next),
        (next) => blockFiles.settle(next),
        (next) => files.writeFile(checkpointPath(directory, slot), encodeCheckpoint(checkpoint), next),
        (next) => this.syncName(next),
      ],
      (error) => {
        if (error === null) {
          this.slot = slot;
          this.lsn = checkpoint.head.lsn;
          blockFiles.removeFiles(discarded);
        } else blockFiles.returnDiscarded(discarded);
        done(error);
      },
    );
  }

  /** The first write of each file makes its name durable. */
  private syncName(done: Done): void {
    const { files, directory } = this.store.blockFiles;
    if (this.written >= CHECKPOINT_SLOTS) {
      done(null);
      return;
    }
    this.written++;
    files.disk.syncDirectory(directory, done);
  }
}
