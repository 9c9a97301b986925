/**
 * The one client of a consumer that gets its messages while it keeps asking (`priority_policy: pinned_client`). It is
 * known by an id, which it learns from its messages (`Nats-Pin-Id`) and puts into its next requests.
 *
 *     nobody ──a request without id is served──► pinned ──no request with the id for priority_timeout──► nobody
 *                                                   └─────────────── CONSUMER.UNPIN ───────────────────┘
 *
 * A consumer has one, whatever number of groups it has, and forgets it when it stops.
 *
 * Source: ADR-42.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { eventId } from '../../server/protocol/event-id.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';

/** Who hears that a client was pinned, or is not any more. */
export interface PinEvents {
  pinned(group: string, id: string): void;
  unpinned(group: string, reason: 'admin' | 'timeout'): void;
}

/** Whose turn a request is. */
export type PinnedTurn = 'takes' | 'waits' | 'refused';

interface PinHost {
  readonly io: Io;
  readonly config: () => ConsumerConfig;
  readonly events: PinEvents;
  /** Others may have their turn. */
  readonly onUnpinned: () => void;
}

export class PinnedClient {
  /** Empty: nobody is pinned. */
  id = '';
  /** Wall milliseconds since when. */
  sinceMs = 0;
  private readonly host: PinHost;
  private timer: Timer | null = null;

  constructor(host: PinHost) {
    this.host = host;
  }

  /** Whether a request with this id, empty for none, is served now. */
  turn(id: string): PinnedTurn {
    if (id === this.id) return 'takes';
    if (id !== '') return 'refused';
    return this.id === '' ? 'takes' : 'waits';
  }

  /** Pins whoever is served; its id from now on. */
  pin(group: string): string {
    const { io, events } = this.host;
    this.id = eventId(io.random);
    this.sinceMs = io.clock.wallMs();
    this.renew(group);
    events.pinned(group, this.id);
    return this.id;
  }

  /** The pinned client asks: it stays for another while. */
  renew(group: string): void {
    const { io, config } = this.host;
    this.timer?.cancel();
    this.timer = io.timers.after(millisecondsOf(config().priorityTimeoutNs), () => this.release(group, 'timeout'));
  }

  /** Lets the client go, if there is one. */
  release(group: string, reason: 'admin' | 'timeout'): void {
    this.clear();
    this.host.events.unpinned(group, reason);
    this.host.onUnpinned();
  }

  /** The same without a word. */
  clear(): void {
    this.id = '';
    this.sinceMs = 0;
    this.timer?.cancel();
    this.timer = null;
  }
}
