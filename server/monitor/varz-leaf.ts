/** The part of /varz about leaf links: what is configured of their listener and of remotes. */

import type { LeafListenerOptions } from '../config/leaf-listener-options.ts';
import type { LeafRemoteOptions } from '../config/options.ts';
import { bytesAsText } from './byte-text.ts';
import type { MonitorSource } from './monitor-source.ts';
import { validUntil } from './server-certificate.ts';

/** Of a TLS that is not configured. */
const TLS_TIMEOUT_SECONDS = 2;

export function leafPart({ options, leafNodes }: MonitorSource): object {
  const { remotes, listener } = options.leafnodes;
  const shown = { remotes: remotes.length === 0 ? undefined : remotes.map(remoteOf) };
  if (listener.port === null) return shown;
  return {
    ...listenerMembers(listener, leafNodes.listener?.address?.port ?? listener.port),
    ...shown,
    tls_cert_not_after: validUntil(listener.tls),
  };
}

/** `port`: the one that was found, where any free one is configured. */
function listenerMembers({ host, authorization, tls }: LeafListenerOptions, port: number): object {
  return {
    host,
    port,
    auth_timeout: authorization.timeoutMs / 1000,
    tls_timeout: tls === null ? TLS_TIMEOUT_SECONDS : tls.timeoutMs / 1000,
    tls_required: tls === null ? undefined : true,
    tls_verify: tls?.verifiesClients === true ? true : undefined,
  };
}

function remoteOf({ account, urls, tls, denyExports, denyImports }: LeafRemoteOptions): object {
  const deny = { exports: subjects(denyExports), imports: subjects(denyImports) };
  const denies = deny.exports !== undefined || deny.imports !== undefined;
  return {
    local_account: account,
    tls_timeout: tls === null ? undefined : tls.timeoutMs / 1000,
    urls: urls.map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)),
    deny: denies ? deny : undefined,
  };
}

function subjects(list: readonly string[]): string[] | undefined {
  return list.length === 0 ? undefined : list.map(bytesAsText);
}
