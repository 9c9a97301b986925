/** The limits of connections that a configuration sets. */

import type { ServerOptions } from '../config/options.ts';
import type { ConnectionLimits } from './connection-host.ts';

export function limitsOf(options: ServerOptions): ConnectionLimits {
  return {
    maxPayloadBytes: options.maxPayloadBytes,
    maxControlLineBytes: options.maxControlLineBytes,
    maxPendingBytes: options.maxPendingBytes,
    maxSubscriptions: options.maxSubscriptions,
    maxSubscriptionTokens: options.maxSubscriptionTokens,
    writeDeadlineMs: options.writeDeadlineMs,
    pingIntervalMs: options.pingIntervalMs,
    pingsOutMax: options.maxPingsOut,
    authTimeoutMs: options.authorization.timeoutMs,
    stallFastProducers: options.stallsFastProducers,
    tracedBytesMax: options.maxTracedMessageBytes,
    tracesHeadersOnly: options.traceHeaders,
  };
}
