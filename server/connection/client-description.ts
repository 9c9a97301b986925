/** What the log says of a client besides its address and number, in the words of nats-server. */

import type { ConnectOptions } from '../protocol/connect-options.ts';
import { goQuote } from '../protocol/go-quote.ts';

/**
 * ` - "v1.53.1:go:NATS CLI" - "$G/user:joe"`: the client's version, language and name, and account and user; what the
 * client did not say is left out. `user` is who it turned out to be.
 */
export function describeClient(options: Readonly<ConnectOptions>, user: string, account: string): string {
  const { version, lang, name } = options;
  const program = [version === '' ? '' : `v${version}`, lang, name].filter((part) => part !== '').join(':');
  const who = userLabel(options, user);
  return `${program === '' ? '' : ` - ${goQuote(program)}`}${who === '' ? '' : ` - ${goQuote(`${account}/${who}`)}`}`;
}

function userLabel(options: Readonly<ConnectOptions>, user: string): string {
  if (options.nkey !== '') return `nkey:${options.nkey}`;
  if (options.user !== '') return `user:${options.user}`;
  if (user !== '') return `user:${user}`;
  return options.authToken === '' ? '' : 'token';
}

/** Who it says it is, for lines about what was taken from it: `User "joe"`. */
export function authUser({ nkey, user, authToken }: Readonly<ConnectOptions>): string {
  if (nkey !== '') return `Nkey ${goQuote(nkey)}`;
  if (user !== '') return `User ${goQuote(user)}`;
  return authToken === '' ? 'User "N/A"' : 'Token "[REDACTED]"';
}
