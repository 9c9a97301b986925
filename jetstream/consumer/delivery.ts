/**
 * How a consumer's messages reach those who get them: by requests that wait (pull), or to one subject (push).
 *
 *     pump ──take──► taken: to `destination` ──delivered──►        nobody, later: the pump sleeps until `wake`
 *       │            congested: the pump comes back in a moment
 *       └──review──► the pump found no more to deliver, or may deliver no more, or nobody takes more
 *
 * One turn of the pump is a row of `take`, each followed by `delivered` when it was `taken`, and a `review` at its end.
 * Nothing here may allocate for each message.
 */

import type { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import type { Io } from '../../server/io/io.ts';
import type { Sink } from '../../server/ports.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import type { ConsumerState } from './consumer-state.ts';
import type { PinEvents, PinnedClient } from './pinned-client.ts';

/**
 * `taken`: it goes to `destination`. `nobody`: nobody takes it now. `congested`: its receiver has much unsent, ask again
 * soon. `later`: the delivery calls `wake` when its time has come.
 */
export type Take = 'taken' | 'nobody' | 'congested' | 'later';

export interface Delivery {
  /** Whether somebody would take a message now; cheap, asked before messages are looked for. */
  readonly isReady: boolean;
  /** Whether somebody listens or waits, so that the consumer is not inactive. */
  readonly isInUse: boolean;
  /** Whether the receivers of a push consumer are there; `null` for a pull consumer. */
  readonly isBound: boolean | null;
  /** Requests that wait; those that are over end when this is asked. */
  readonly numWaiting: number;
  /** Where the message taken last goes. */
  readonly destination: Buffer;
  /** The queue groups of which one member gets it; `null`: everybody who listens to `destination`. */
  readonly queueGroups: readonly string[] | null;
  /** The client that gets everything, where there can be one. */
  readonly pin: PinnedClient | null;
  /** What is put on messages as the id of the pinned client; `null`: nothing. */
  readonly pinId: string | null;
  /** Begins to serve: subscriptions, timers. */
  start(): void;
  /** The configuration changed; it is in force already. */
  update(config: ConsumerConfig): void;
  /** Asks who takes a message of `bytes` (subject, acknowledgement subject, headers and payload). */
  take(bytes: number, nowMs: number): Take;
  /** The message taken last was handed over. */
  delivered(): void;
  /** The pump rests; `atEnd`: because there is nothing more to deliver at present. */
  review(atEnd: boolean): void;
  /** Somebody asks for messages: a pull request in the body. */
  request(reply: Buffer, body: string): void;
  /** Serves nobody any more; those who wait are told `status`, if that is not `null`. */
  stop(status: string | null): void;
}

/** What a delivery needs of its consumer. */
export interface DeliveryHost {
  readonly stream: {
    readonly name: string;
    readonly account: Account;
    readonly host: { readonly io: Io };
    readonly store: { readonly lastSequence: number };
  };
  readonly name: string;
  readonly config: ConsumerConfig;
  readonly state: ConsumerState;
  /** Messages that could be delivered now or soon: new ones and those to be delivered again. */
  readonly available: number;
  /** Of these, the new ones. */
  readonly numPending: number;
  readonly advisories: PinEvents;
  readonly isStopped: boolean;
  /** Gives all messages to the subject to `sink`, until the consumer stops. */
  subscribe(sink: Sink, subject: string): void;
  /** There may be somebody to deliver to. */
  wake(): void;
  /** Somebody uses the consumer. */
  used(): void;
  /** The pump rests and nothing is being read: a timer may review. */
  readonly isResting: boolean;
}
