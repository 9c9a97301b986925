/**
 * `host:port` as nats-server takes it: the port may be named alone, an IPv6 address stands in brackets, and -1 asks for
 * any free port. What is wrong with one is told in Go's words, which nats-server puts into its own.
 */

import { goQuote } from '../protocol/go-quote.ts';

export interface HostPort {
  readonly host: string;
  readonly port: string;
}

const MISSING_PORT = 'missing port in address';
const TOO_MANY_COLONS = 'too many colons in address';

/** Splits at the port's colon; or says why that can't be done. */
export function splitHostPort(text: string): HostPort | string {
  const fault = faultOf(text);
  if (fault !== null) return `address ${text}: ${fault}`;
  const colon = text.lastIndexOf(':');
  const host = text.startsWith('[') ? text.slice(1, colon - 1) : text.slice(0, colon);
  return { host, port: text.slice(colon + 1) };
}

function faultOf(text: string): string | null {
  const colon = text.lastIndexOf(':');
  if (colon < 0) return MISSING_PORT;
  const isBracketed = text.startsWith('[');
  const closing = text.indexOf(']');
  if (isBracketed) {
    if (closing < 0) return "missing ']' in address";
    if (closing + 1 !== colon) return text[closing + 1] === ':' ? TOO_MANY_COLONS : MISSING_PORT;
  } else if (text.indexOf(':') !== colon) return TOO_MANY_COLONS;
  if (text.includes('[', isBracketed ? 1 : 0)) return "unexpected '[' in address";
  return text.includes(']', isBracketed ? colon : 0) ? "unexpected ']' in address" : null;
}

/** A decimal integer with an optional sign, as Go's Atoi takes it; null if it is none. */
export function parseDecimal(text: string): number | null {
  if (!/^[-+]?\d+$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/**
 * The address that others are told as the `advertise` of a listener says, whose own port is told where that names none
 * or any; or why it is no address. Which ports there are is not asked.
 */
export function advertisedAddress(advertise: string, ownPort: number): { host: string; port: number } | string {
  let split = splitHostPort(advertise);
  if (typeof split === 'string' && split.endsWith(MISSING_PORT)) split = splitHostPort(`${advertise}:${ownPort}`);
  if (typeof split === 'string') return split;
  const text = split.port.trim();
  const port = parseDecimal(text);
  if (port === null) {
    const reason = /^[-+]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
    return `strconv.Atoi: parsing ${goQuote(text)}: ${reason}`;
  }
  return { host: split.host.trim(), port: port === 0 || port === -1 ? ownPort : port };
}
