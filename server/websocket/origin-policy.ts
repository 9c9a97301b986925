/**
 * Whether the page that a browser opens a connection for is one that may. Whoever says nothing of a page is no browser,
 * and may always: it could say what it likes.
 */

import { hostOf, type Origin, parseOrigin } from '../config/allowed-origin.ts';
import type { WebSocketOptions } from '../config/websocket-options.ts';
import type { RequestHead } from './request-head.ts';

/** Why the page may not; null if it may. */
export function originFault(
  { isSameOrigin, allowedOrigins }: WebSocketOptions,
  head: RequestHead,
  isEncrypted: boolean,
): string | null {
  if (!isSameOrigin && allowedOrigins.length === 0) return null;
  const text = head.first('origin') || head.first('sec-websocket-origin');
  if (text === '') return null;
  const origin = parseOrigin(text);
  if (typeof origin === 'string') return origin;
  if (isSameOrigin && !isSame(origin, ownOrigin(head, isEncrypted))) return 'not same origin';
  if (allowedOrigins.length === 0) return null;
  return allowedOrigins.some((allowed) => isSame(origin, parseOrigin(allowed))) ? null : 'not in the allowed list';
}

/** Where the request was sent to, as the one who asks has it. */
function ownOrigin(head: RequestHead, isEncrypted: boolean): Origin {
  const scheme = isEncrypted ? 'https' : 'http';
  return { scheme, ...hostOf({ scheme, authority: head.first('host') }) };
}

function isSame(origin: Origin, other: Origin | string): boolean {
  if (typeof other === 'string') return false;
  return origin.scheme === other.scheme && origin.host === other.host && origin.port === other.port;
}
