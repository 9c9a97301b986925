/** The API in an account that has no JetStream, on a server that does: every request is told so. */

import type { Account } from '../../server/account/account.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import type { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { ApiErrors } from '../errors.ts';
import { ApiRequest } from './api-request.ts';
import { refuseAny } from './level-refusals.ts';

/** Tells everybody in the account who asks for JetStream that there is none, until what it returns is called. */
export function refuseJetStream(account: Account): () => void {
  const subscription = new Subscription(new AccountWithoutJetStream(account), '$JS.API.>', '', '');
  account.subscribe(subscription);
  return () => account.unsubscribe(subscription);
}

class AccountWithoutJetStream implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  /** The other end of a link may have JetStream. */
  readonly servesOwnClients = true;
  private readonly account: Account;

  constructor(account: Account) {
    this.account = account;
  }

  deliver(_subscription: Subscription, message: Message): boolean {
    const request = new ApiRequest(this.account, message.subjectText(), message);
    const [first, second, third] = request.tokens;
    if (first === 'DIRECT' || (first === 'CONSUMER' && second === 'MSG' && third === 'NEXT')) return false;
    refuseAny(request, ApiErrors.notEnabledForAccount);
    return true;
  }
}
