/**
 * What the streams of one account hold together, and whether a message fits into what the account may have. What is
 * appended counts, visible or not; a limit of -1 is none, and the limits may change with a reload.
 */

import type { Account } from '../../server/account/account.ts';
import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { MessageStore } from '../store/store.ts';
import { BytesShare, type BytesTotal } from './bytes-share.ts';
import type { StreamConfig } from './stream-config.ts';

/** Bytes that the streams of an account hold, by kind of storage. */
export type AccountUse = Readonly<Record<StreamConfig['storage'], BytesTotal>>;

export class AccountRoom {
  private readonly account: Account;
  private readonly use: BytesTotal;
  private readonly storage: StreamConfig['storage'];
  private readonly store: MessageStore;
  private readonly share: BytesShare;

  /** `use` is shared with the account's other streams. */
  constructor(account: Account, use: AccountUse, storage: StreamConfig['storage'], store: MessageStore) {
    this.account = account;
    this.use = use[storage];
    this.storage = storage;
    this.store = store;
    this.share = new BytesShare(this.use);
  }

  /** Whether the message fits in behind `bytesBefore` that are not appended yet. Errors: 10002. */
  check(message: Message, bytesBefore: number): ApiError | null {
    const limits = this.account.jetstream;
    if (limits === null) return null;
    const bytesMax = this.storage === 'file' ? limits.fileBytes : limits.memoryBytes;
    if (bytesMax < 0) return null;
    const bytes = this.use.bytes + bytesBefore + this.store.countedBytes(message);
    return bytes > bytesMax ? ApiErrors.accountResourcesExceeded : null;
  }

  /** The stream holds more, or less. */
  count(): void {
    this.share.set(this.store.appendedBytes);
  }

  /** The stream is gone. */
  leave(): void {
    this.share.set(0);
  }
}
