/** The part of /varz about the port on which WebSocket is spoken: what is configured of it. */

import { durationNs } from '../config/duration.ts';
import type { MonitorSource } from './monitor-source.ts';
import { validUntil } from './server-certificate.ts';

/** What is not set is left out. */
export function webSocketPart({ options, webSocketDoor }: MonitorSource): object {
  const { websocket } = options;
  const { host, advertise, noAuthUser, cookies, handshakeTimeoutMs, authorization, tls, allowedOrigins } = websocket;
  const pinnedKeys = tls?.pinnedKeys ?? [];
  return {
    host: host || undefined,
    port: webSocketDoor?.address?.port ?? (websocket.port || undefined),
    advertise: advertise || undefined,
    no_auth_user: noAuthUser || undefined,
    jwt_cookie: cookies.jwt || undefined,
    handshake_timeout: handshakeTimeoutMs === 0 ? undefined : durationNs(handshakeTimeoutMs),
    auth_timeout: authorization.timeoutMs / 1000 || undefined,
    no_tls: websocket.allowsNonTls || undefined,
    tls_map: tls?.mapsUsers === true || undefined,
    tls_pinned_certs: pinnedKeys.length === 0 ? undefined : pinnedKeys,
    same_origin: websocket.isSameOrigin || undefined,
    allowed_origins: allowedOrigins.length === 0 ? undefined : allowedOrigins,
    compression: websocket.compresses || undefined,
    tls_cert_not_after: validUntil(tls),
  };
}
