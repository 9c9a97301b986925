/** Where a syslog server is, as `remote_syslog` says: `udp://host:port`, `tcp://host:port`, `unix:///path`. */

import type { SyslogAddress } from '../io/syslog-sink.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { parseDecimal, splitHostPort } from './host-port.ts';

/** The address, or why it is none. */
export function syslogAddress(url: string): SyslogAddress | string {
  const [, network = '', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/.exec(url) ?? [];
  if (network === 'unix') return { network, host: rest, port: 0 };
  if (network !== 'udp' && network !== 'tcp') return `error invalid network type: ${goQuote(network)}`;
  const parts = splitHostPort(rest.replace(/\/.*/, ''));
  const port = typeof parts === 'string' ? null : parseDecimal(parts.port);
  if (typeof parts === 'string' || port === null || port <= 0 || port > 65_535) {
    return `error connecting to syslog: ${goQuote(`dial ${network}: address ${rest}: missing port in address`)}`;
  }
  return { network, host: parts.host === '' ? 'localhost' : parts.host, port };
}
