/**
 * `host:port` as nats-server takes it: the port may be named alone, an IPv6 address stands in brackets, and -1 asks for
 * any free port.
 */

export interface HostPort {
  readonly host: string;
  readonly port: string;
}

/** Splits at the port's colon; null unless there is exactly one that can be it. */
export function splitHostPort(text: string): HostPort | null {
  const bracketed = /^\[([^[\]]*)\]:([^:[\]]*)$/.exec(text);
  const [, host, port] = bracketed ?? /^([^:[\]]*):([^:[\]]*)$/.exec(text) ?? [];
  return host === undefined || port === undefined ? null : { host, port };
}

/** A decimal integer with an optional sign, as Go's Atoi takes it; null if it is none. */
export function parseDecimal(text: string): number | null {
  if (!/^[-+]?\d+$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}
