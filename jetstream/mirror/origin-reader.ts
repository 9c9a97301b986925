/** Who takes what an origin's consumer delivers: a mirror, or one of the sources of a stream. */

import type { Message } from '../../server/protocol/message.ts';
import type { ApiError } from '../errors.ts';
import type { StreamSource } from '../stream/stream-config-parts.ts';
import type { OriginPlace } from './origin-place.ts';
import type { OriginConsumerInfo, OriginStart } from './origin-request.ts';

export interface OriginReader {
  readonly source: StreamSource;
  /** The account's and stream's own part of the consumer's name: the same each time, another for each reader. */
  readonly consumerName: string;
  /** Between the deliver prefix and the rest of a deliver subject. */
  readonly deliverToken: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** What has come so far of the origin; empty: unknown. */
  readonly identity: string;
  /** The sequence of the last message that was taken, or that need not come. */
  readonly position: number;
  /** Where the next consumer has to begin. */
  start(): OriginStart;
  /** The origin has another identity than the one that was asked for. */
  recreated(): void;
  /** The consumer is there. An error: it is not one to be fed by. */
  opened(info: OriginConsumerInfo): ApiError | null;
  /** Looks whether the origin can be what has come so far, which may take a while; `amiss` hears why not. */
  verify(amiss: (error: ApiError) => void): void;
  /** Takes the next message; an error: it has to come again later. */
  take(message: Message, place: OriginPlace): ApiError | null;
  /** Calls back when everything taken so far is durable. */
  whenDurable(done: () => void): void;
}
