/** What a store in files gets from the storage it is part of, and from the one who owns it. */

import type { Buffer } from 'node:buffer';
import type { Captured } from './captured.ts';
import type { CommitLog } from './commit-log.ts';
import type { LoggedPast } from './logged-past.ts';
import type { RecordView } from './record.ts';
import type { StoreFiles } from './store-files.ts';

export interface FileStoreContext<Store> {
  readonly files: StoreFiles;
  readonly log: CommitLog;
  /** Hears when blocks of a store have become thin. */
  readonly compactor: { note(store: Store): void };
  /** What the log tells of the asset; asked while it is brought back. */
  readonly past: LoggedPast;
}

/** What the owner of a store keeps with it: saved in its checkpoints, made anew from replayed messages. */
export interface StoreExtension {
  /** The owner's part of a checkpoint that reflects messages up to `lastSequence`, as it is now. */
  capture(lastSequence: number): Captured;
  /** Takes it over, in pieces: yields between them. */
  decode(encoded: Buffer): Generator<void>;
  /** A message was replayed from the log. Of a large one only subject and headers are there. */
  replayed(record: RecordView): void;
}
