/**
 * What answers requests to JetStream in each account: its API, or the answer that it has none. A reload changes which of
 * them it is.
 */

import type { Account } from '../../server/account/account.ts';
import { refuseJetStream } from './account-without-jetstream.ts';
import { ApiDispatcher } from './api-dispatcher.ts';
import type { JetStreamAccount } from './jetstream-account.ts';
import type { JetStream } from './jetstream.ts';

type Close = () => void;

export class ApiDoors {
  private readonly jetstream: JetStream;
  private readonly doors = new Map<Account, { readonly answers: boolean; readonly close: Close }>();

  constructor(jetstream: JetStream) {
    this.jetstream = jetstream;
  }

  /** The account has JetStream from now on. */
  open(owner: JetStreamAccount): void {
    this.close(owner.account);
    const dispatcher = new ApiDispatcher(this.jetstream, owner);
    dispatcher.start();
    this.doors.set(owner.account, { answers: true, close: () => dispatcher.stop() });
  }

  /** The account has none from now on, and whoever asks is told so. */
  refuse(account: Account): void {
    if (this.doors.get(account)?.answers === false) return;
    this.close(account);
    this.doors.set(account, { answers: false, close: refuseJetStream(account) });
  }

  /** Nobody is answered in the account any more. */
  close(account: Account): void {
    this.doors.get(account)?.close();
    this.doors.delete(account);
  }

  closeAll(): void {
    for (const account of this.doors.keys()) this.close(account);
  }
}
