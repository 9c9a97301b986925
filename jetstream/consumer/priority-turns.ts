/**
 * Which of the requests that wait has its turn, where a consumer has a priority policy:
 *
 *     overflow        a request may wait until enough messages are pending, or unacknowledged; others are served meanwhile
 *     pinned_client   one client gets everything (`pinned-client.ts`)
 *     prioritized     requests are sorted; the first has its turn
 *
 * Source: ADR-42; nats-server's nextWaiting.
 */

import type { DeliveryHost } from './delivery.ts';
import type { PinnedClient, PinnedTurn } from './pinned-client.ts';
import type { PullRequest } from './pull-request.ts';

export class PriorityTurns {
  private readonly host: DeliveryHost;
  private readonly pin: PinnedClient;

  constructor(host: DeliveryHost, pin: PinnedClient) {
    this.host = host;
    this.pin = pin;
  }

  /** Requests wait in the order of their priority, and not only of their arrival. */
  get isSorted(): boolean {
    return this.host.config.priorityPolicy === 'prioritized';
  }

  /** What becomes of the request, for which there is a message. */
  turn(request: PullRequest): PinnedTurn {
    const { priorityPolicy } = this.host.config;
    if (priorityPolicy === 'pinned_client') return this.pin.turn(request.pinId);
    return priorityPolicy === 'overflow' && !this.overflows(request) ? 'waits' : 'takes';
  }

  /** The request gets a message. */
  serving(request: PullRequest): void {
    const { pin, host } = this;
    if (host.config.priorityPolicy !== 'pinned_client' || pin.id !== '' || request.group === '') return;
    request.pinId = pin.pin(request.group);
  }

  private overflows({ minPending, minAckPending }: PullRequest): boolean {
    if (minPending <= 0 && minAckPending <= 0) return true;
    const { numPending, available, state } = this.host;
    // A message that is delivered again counts as if it were new.
    const pending = available > numPending ? numPending + 1 : numPending;
    const isPending = minPending > 0 && minPending <= pending;
    return isPending || (minAckPending > 0 && minAckPending <= state.pending.size);
  }
}
