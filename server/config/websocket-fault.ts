/** What the options of the WebSocket port must hold together, in nats-server's order and words. */

import { goQuote } from '../protocol/go-quote.ts';
import { allowedOriginFault } from './allowed-origin.ts';
import type { ServerOptions } from './options.ts';
import type { WebSocketOptions } from './websocket-options.ts';

/** Headers of the answer that are not up to the configuration. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'upgrade',
  'nats-no-masking',
]);

/** Why a server can't run with these options; null if it can. `userFault`: why nobody can become that user. */
export function webSocketFault(
  { websocket, authorization, accounts }: ServerOptions,
  userFault: (noAuthUser: string) => string | null,
): string | null {
  const { port, tls, allowsNonTls, noAuthUser, cookies } = websocket;
  if (port === null) return null;
  if (tls === null && !allowsNonTls) return 'websocket requires TLS configuration';
  const hasUsers = authorization.users.length > 0 || accounts.some(({ users }) => users.length > 0);
  return (
    first(websocket.allowedOrigins, allowedOriginFault) ??
    userFault(noAuthUser) ??
    (hasUsers ? authorizationFault(websocket) : null) ??
    cookieFault(cookies.jwt) ??
    first(Object.keys(websocket.headers), headerFault)
  );
}

function first(texts: readonly string[], faultOf: (text: string) => string | null): string | null {
  for (const text of texts) {
    const fault = faultOf(text);
    if (fault !== null) return fault;
  }
  return null;
}

function authorizationFault({ authorization: { username, token } }: WebSocketOptions): string | null {
  if (username !== '') return 'websocket authentication username not compatible with presence of users/nkeys';
  return token === '' ? null : 'websocket authentication token not compatible with presence of users/nkeys';
}

/** There are no operators whose JWTs could be taken. */
function cookieFault(jwtCookie: string): string | null {
  if (jwtCookie === '') return null;
  const wanted = 'trusted operators or trusted keys configuration is required';
  return `${wanted} for JWT authentication via cookie ${goQuote(jwtCookie)}`;
}

function headerFault(name: string): string | null {
  const lower = name.toLowerCase();
  if (OWN_HEADERS.has(lower)) return `websocket: invalid header ${goQuote(name)} not allowed`;
  if (!lower.startsWith('sec-websocket-')) return null;
  return `websocket: invalid header ${goQuote(name)}, "Sec-WebSocket-" prefix not allowed`;
}
