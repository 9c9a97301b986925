/**
 * What the streams of one account hold together, and whether a message fits into what the account may have. What is
 * appended counts, visible or not; a limit of -1 is none, and the limits may change with a reload.
 */

import type { Account } from '../../server/account/account.ts';
import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { MessageStore } from '../store/store.ts';
import type { StreamConfig } from './stream-config.ts';

/** Bytes that the streams of an account hold, by kind of storage. */
export type AccountUse = Record<StreamConfig['storage'], number>;

export class AccountRoom {
  private readonly account: Account;
  private readonly use: AccountUse;
  private readonly storage: StreamConfig['storage'];
  private readonly store: MessageStore;
  /** Bytes of the stream that are counted. */
  private counted = 0;

  /** `use` is shared with the account's other streams. */
  constructor(account: Account, use: AccountUse, storage: StreamConfig['storage'], store: MessageStore) {
    this.account = account;
    this.use = use;
    this.storage = storage;
    this.store = store;
  }

  /** Whether the message fits in behind `bytesBefore` that are not appended yet. Errors: 10002. */
  check(message: Message, bytesBefore: number): ApiError | null {
    const limits = this.account.jetstream;
    if (limits === null) return null;
    const bytesMax = this.storage === 'file' ? limits.fileBytes : limits.memoryBytes;
    if (bytesMax < 0) return null;
    const bytes = this.use[this.storage] + bytesBefore + this.store.countedBytes(message);
    return bytes > bytesMax ? ApiErrors.accountResourcesExceeded : null;
  }

  /** The stream holds more, or less. */
  count(): void {
    this.countAs(this.store.appendedBytes);
  }

  /** The stream is gone. */
  leave(): void {
    this.countAs(0);
  }

  private countAs(bytes: number): void {
    this.use[this.storage] += bytes - this.counted;
    this.counted = bytes;
  }
}
