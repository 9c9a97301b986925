/**
 * What an account may have of JetStream, and whether a stream or a consumer more fits in: nats-server's checks. -1 is no
 * limit. The default account has none of its own; what the server itself has to give is checked for every account.
 */

import type { AccountJetStreamOptions } from '../../server/config/account-options.ts';
import type { JetStreamLimits } from '../../server/config/options.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { StreamConfig } from '../stream/stream-config.ts';
import type { Stream } from '../stream/stream.ts';
import type { ApiContext } from './api-handler.ts';
import type { JetStreamAccount } from './jetstream-account.ts';
import type { StreamEntry } from './stream-entry.ts';

/** The limits as account info shows them. */
export function accountLimitsJson(limits: AccountJetStreamOptions): object {
  return {
    max_memory: limits.memoryBytes,
    max_storage: limits.fileBytes,
    max_streams: limits.streams,
    max_consumers: limits.consumers,
    max_ack_pending: limits.ackPending,
    memory_max_stream_bytes: limits.memoryStreamBytes,
    storage_max_stream_bytes: limits.fileStreamBytes,
    max_bytes_required: limits.isMaxBytesRequired,
  };
}

/** Whether the account may have one more stream by this name. Errors: 10027. */
export function checkStreamCount({ limits, streams }: JetStreamAccount, name: string): ApiError | null {
  const others = streams.size - (streams.has(name) ? 1 : 0);
  return limits.streams > 0 && others >= limits.streams ? ApiErrors.maximumStreamsLimit : null;
}

/** Whether what the stream sets aside is to be had. `current`: the stream as it is. Errors: 10026, 10028, 10047. */
export function checkStreamRoom(
  { jetstream, owner }: ApiContext,
  config: StreamConfig,
  current: Stream | null,
): ApiError | null {
  const { limits } = owner;
  if (config.maxConsumers > 0 && limits.consumers > 0 && config.maxConsumers > limits.consumers) {
    return ApiErrors.maximumConsumersLimit;
  }
  const isFile = config.storage === 'file';
  if (isFile && current === null && !canStore(jetstream)) return ApiErrors.storageResourcesExceeded;
  const before = current === null ? 0 : Math.max(0, current.config.maxBytes);
  const others = owner.reservedBytes(config.storage) - before;
  const wanted = others + reserved(config, current);
  const mayHave = isFile ? limits.fileBytes : limits.memoryBytes;
  const isThere = isFile ? jetstream.fileUse.bytesMax : jetstream.memoryUse.bytesMax;
  if ((mayHave < 0 || wanted <= mayHave) && wanted <= isThere) return null;
  return isFile ? ApiErrors.storageResourcesExceeded : ApiErrors.memoryResourcesExceeded;
}

/** Whether something new can be written down: not while the disk takes nothing. */
export function canStore({ storage }: ApiContext['jetstream']): boolean {
  return storage.log.acceptsMessages && storage.files.writeError === null;
}

/** A new stream without a maximum needs a byte at least; one that is there keeps what it has. */
function reserved({ maxBytes }: StreamConfig, current: Stream | null): number {
  if (maxBytes > 0) return maxBytes;
  return current === null ? 1 : 0;
}

/** What consumers may have by the server's configuration and the account's limits. */
export function consumerLimits({ jetstream, owner }: ApiContext): JetStreamLimits {
  const { limits } = jetstream.options;
  const { ackPending } = owner.limits;
  const isLess = ackPending > 0 && (limits.maxAckPending === 0 || ackPending < limits.maxAckPending);
  return isLess ? { ...limits, maxAckPending: ackPending } : limits;
}

/** How many consumers the stream may have. */
export function consumersMax({ jetstream, owner }: ApiContext, { stream }: StreamEntry): number {
  const { consumers } = owner.limits;
  let max = stream.config.maxConsumers;
  if (max <= 0 || (consumers > 0 && consumers < max)) max = consumers;
  if (max <= 0) max = jetstream.options.limits.defaultMaxConsumers;
  return max > 0 ? max : Number.POSITIVE_INFINITY;
}
