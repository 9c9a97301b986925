/** What a store has written since its start, for monitoring: small devices wear out by it. */

export interface StorageStatistics {
  /** Bytes of header blocks and payloads that streams were given. */
  readonly bytesGiven: number;
  /** Bytes written to the log; to blocks, indexes, checkpoints and catalogs; and of these anew to give space back. */
  readonly logBytesWritten: number;
  readonly fileBytesWritten: number;
  readonly compactedBytesWritten: number;
}
