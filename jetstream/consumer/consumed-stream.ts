/** What a consumer needs of the stream it consumes. */

import type { Account } from '../../server/account/account.ts';
import type { Io } from '../../server/io/io.ts';
import type { Log } from '../../server/io/log.ts';
import type { Storage } from '../store/storage.ts';
import type { MessageStore, StoreListener } from '../store/store.ts';
import type { Advisories } from '../advisories.ts';
import type { SettlementListener } from './consumer-events.ts';

export interface ConsumedStream {
  readonly name: string;
  readonly account: Account;
  readonly store: MessageStore;
  readonly config: { readonly maxMsgSize: number };
  /** Who hears what becomes visible and what goes. */
  readonly observers: Set<StoreListener>;
  /** Of what is being told to be purged: whether it went because it was too old. */
  readonly isAging: boolean;
  /** Who hears what consumers have settled; `null` when the stream keeps messages whatever becomes of them. */
  readonly settlements: SettlementListener | null;
  readonly host: {
    readonly io: Io;
    readonly log: Log;
    readonly domain: string;
    readonly storage: Storage;
    readonly advisories: Advisories;
  };
  /** Calls back when what was published so far is visible, unless the disk takes its time. */
  whenVisible(done: () => void): void;
}
