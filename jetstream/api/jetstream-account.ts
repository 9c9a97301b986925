/** One account's part of JetStream: its streams and what its API calls came to. */

import type { Account } from '../../server/account/account.ts';
import { type AccountJetStreamOptions, UNLIMITED_JETSTREAM } from '../../server/config/account-options.ts';
import { AccountUse } from '../stream/account-room.ts';
import type { StreamEntry } from './stream-entry.ts';

export class JetStreamAccount {
  readonly account: Account;
  readonly streams: Map<string, StreamEntry> = new Map();
  readonly use: AccountUse = new AccountUse();
  apiTotal = 0;
  apiErrors = 0;

  constructor(account: Account) {
    this.account = account;
  }

  get limits(): AccountJetStreamOptions {
    return this.account.jetstream ?? UNLIMITED_JETSTREAM;
  }

  get consumerCount(): number {
    let count = 0;
    for (const { consumers } of this.streams.values()) count += consumers.size;
    return count;
  }

  /** Bytes set aside for streams with a maximum. */
  reservedBytes(storage: 'file' | 'memory'): number {
    let bytes = 0;
    for (const { stream } of this.streams.values()) {
      if (stream.config.storage === storage) bytes += Math.max(0, stream.config.maxBytes);
    }
    return bytes;
  }

  /** Bytes held by streams of one kind of storage. */
  bytes(storage: 'file' | 'memory'): number {
    let bytes = 0;
    for (const { stream } of this.streams.values()) if (stream.config.storage === storage) bytes += stream.store.bytes;
    return bytes;
  }
}
