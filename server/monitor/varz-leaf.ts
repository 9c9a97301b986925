/** The part of /varz about leaf links: what is configured. */

import type { LeafRemoteOptions, ServerOptions } from '../config/options.ts';
import { bytesAsText } from './byte-text.ts';

export function leafPart({ leafnodes }: ServerOptions): object {
  const { remotes } = leafnodes;
  return { remotes: remotes.length === 0 ? undefined : remotes.map(remoteOf) };
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
