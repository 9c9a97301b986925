/**
 * What the streams of one account hold together, and whether a message fits into what the account may have. What is
 * appended counts, visible or not; a limit of -1 is none, and the limits may change with a reload. That one does not fit
 * is said in the log too, once in NOTICE_INTERVAL_MS for all streams of the account and kind of storage.
 */

import type { Account } from '../../server/account/account.ts';
import { NoticePace } from '../../server/io/notice-pace.ts';
import { goQuote } from '../../server/protocol/go-quote.ts';
import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { MessageStore } from '../store/store.ts';
import { BytesShare, type BytesTotal } from './bytes-share.ts';
import type { StreamConfig } from './stream-config.ts';
import type { StreamHost } from './stream-host.ts';

const NOTICE_INTERVAL_MS = 1000;

/** What the streams of an account hold in one kind of storage. */
class StorageTotal implements BytesTotal {
  bytes = 0;
  readonly notices: NoticePace = new NoticePace(NOTICE_INTERVAL_MS);
  readonly batchNotices: NoticePace = new NoticePace(NOTICE_INTERVAL_MS);
}

/** Bytes that the streams of an account hold, by kind of storage. */
export class AccountUse {
  readonly file: StorageTotal = new StorageTotal();
  readonly memory: StorageTotal = new StorageTotal();
}

export class AccountRoom {
  private readonly host: Pick<StreamHost, 'io' | 'log'>;
  private readonly account: Account;
  private readonly use: StorageTotal;
  private readonly storage: StreamConfig['storage'];
  private readonly store: MessageStore;
  private readonly share: BytesShare;

  /** `use` is shared with the account's other streams. */
  constructor(
    host: Pick<StreamHost, 'io' | 'log'>,
    account: Account,
    use: AccountUse,
    storage: StreamConfig['storage'],
    store: MessageStore,
  ) {
    this.host = host;
    this.account = account;
    this.use = use[storage];
    this.storage = storage;
    this.store = store;
    this.share = new BytesShare(this.use);
  }

  /** Whether the message fits in. Errors: 10002. */
  check(message: Message): ApiError | null {
    if (this.isRoomFor(message, 0)) return null;
    const { storage, account, use } = this;
    this.warn(use.notices, `JetStream ${storage} resource limits exceeded for account: ${goQuote(account.name)}`);
    return ApiErrors.accountResourcesExceeded;
  }

  /** Whether the message of a batch fits in, behind `bytesBefore` that are not appended yet. Errors: 10002. */
  checkInBatch(message: Message, bytesBefore: number): ApiError | null {
    if (this.isRoomFor(message, bytesBefore)) return null;
    const { errCode, description } = ApiErrors.accountResourcesExceeded;
    const error = `${description} (${errCode})`;
    this.warn(this.use.batchNotices, `JetStream account limits exceeded for '${this.account.name}': ${error}`);
    return ApiErrors.accountResourcesExceeded;
  }

  /** The stream holds more, or less. */
  count(): void {
    this.share.set(this.store.appendedBytes);
  }

  /** The stream is gone. */
  leave(): void {
    this.share.set(0);
  }

  private isRoomFor(message: Message, bytesBefore: number): boolean {
    const limits = this.account.jetstream;
    if (limits === null) return true;
    const bytesMax = this.storage === 'file' ? limits.fileBytes : limits.memoryBytes;
    if (bytesMax < 0) return true;
    return this.use.bytes + bytesBefore + this.store.countedBytes(message) <= bytesMax;
  }

  private warn(pace: NoticePace, text: string): void {
    if (pace.isDue(this.host.io.clock.monotonicMs())) this.host.log.warn(text);
  }
}
