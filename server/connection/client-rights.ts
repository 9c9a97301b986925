/** What one client may do by its permissions, and by the requests it received (`allow_responses`). */

import type { Permissions } from '../account/permissions.ts';
import { ResponsePermits } from '../account/response-permits.ts';
import type { Clock } from '../io/io.ts';
import type { Message } from '../protocol/message.ts';
import type { Subscription } from '../subject/subscription.ts';

export class ClientRights {
  readonly permissions: Permissions;
  private readonly permits: ResponsePermits | null;

  constructor(permissions: Permissions, clock: Clock) {
    this.permissions = permissions;
    const responses = permissions.rules.responses ?? null;
    this.permits = responses === null ? null : new ResponsePermits(responses, () => clock.monotonicMs());
  }

  /** Whether every delivery has to be looked at, since it may bring the right to answer. */
  get grow(): boolean {
    return this.permits !== null;
  }

  mayPublish(subject: Buffer, start: number, end: number): boolean {
    if (this.permissions.mayPublish(subject, start, end)) return true;
    return this.permits !== null && this.permits.use(subject.toString('latin1', start, end));
  }

  /** Whether the message may be delivered; a request that may be brings the right to answer it. */
  mayDeliver(subscription: Subscription, message: Message): boolean {
    const { permissions, permits } = this;
    if (permissions.deniesDelivery(subscription, message)) return false;
    if (permits !== null && message.hasReply) {
      const { reply, replyStart, replyEnd } = message;
      if (!permissions.mayPublish(reply, replyStart, replyEnd)) permits.permit(message.replyText());
    }
    return true;
  }
}
