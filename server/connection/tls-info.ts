/** What INFO tells clients of TLS: that it is required, or to be had, and whether they have to show a certificate. */

import type { TransportOptions } from '../config/transport-options.ts';
import type { ServerInfo } from '../protocol/server-info.ts';

export function tlsInfo({ tls, allowsNonTls }: TransportOptions): Partial<ServerInfo> {
  if (tls === null) return {};
  return {
    ...(allowsNonTls ? { tls_available: true } : { tls_required: true }),
    ...(tls.verifiesClients ? { tls_verify: true } : {}),
  };
}

/** For a connection that is never encrypted. */
export function withoutTls(info: ServerInfo): ServerInfo {
  const { tls_required: _required, tls_verify: _verify, tls_available: _available, ...rest } = info;
  return rest;
}
