/** What a consumer needs of the stream it consumes. */

import type { Account } from '../../server/account/account.ts';
import type { Io } from '../../server/io/io.ts';
import type { Storage } from '../store/storage.ts';
import type { MessageStore, StoreListener } from '../store/store.ts';
import type { Advisories } from '../advisories.ts';

export interface ConsumedStream {
  readonly name: string;
  readonly account: Account;
  readonly store: MessageStore;
  /** Who hears what becomes visible and what goes. */
  readonly observers: Set<StoreListener>;
  readonly host: {
    readonly io: Io;
    readonly domain: string;
    readonly storage: Storage;
    readonly advisories: Advisories;
  };
}
