/** What a stream and its consumers need of the server they belong to. */

import type { Io } from '../../server/io/io.ts';
import type { Log } from '../../server/io/log.ts';
import type { NoticePace } from '../../server/io/notice-pace.ts';
import type { Storage } from '../store/storage.ts';
import type { Advisories } from '../advisories.ts';
import type { BatchUse } from './batch-table.ts';
import type { BytesTotal } from './bytes-share.ts';

/** Bytes that all streams of one kind of storage hold together. */
export interface StorageUse extends BytesTotal {
  /** What they may hold; a reload may raise it. */
  bytesMax: number;
}

export interface StreamHost {
  readonly io: Io;
  readonly log: Log;
  readonly serverName: string;
  /** Empty: none. */
  readonly domain: string;
  /** `null` while there is nothing on disk: only memory streams. */
  readonly storage: Storage;
  readonly fileUse: StorageUse;
  readonly memoryUse: StorageUse;
  /** How often the log hears that a stream's kind of storage holds too much. */
  readonly resourceNotices: NoticePace;
  readonly advisories: Advisories;
  readonly batchUse: BatchUse;
  /** Bytes that a client may have unsent. */
  readonly maxPendingBytes: number;
  readonly maxBufferedBytes: number;
  readonly maxBufferedMessages: number;
}
