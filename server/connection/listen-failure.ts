/** Addresses as text, and why listening on one failed, in Go's words: tools read them in the log. */

import type { Address, IoError } from '../io/io.ts';

/** `host:port`, with brackets around an IPv6 address. */
export function hostPort({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `listen tcp 127.0.0.1:4222: bind: address already in use`, `listen tcp: address 99999: invalid port` */
export function listenFailure(address: Address, error: IoError): string {
  if (error.code === 'ERR_SOCKET_BAD_PORT') return `listen tcp: address ${address.port}: invalid port`;
  return `listen tcp ${hostPort(address)}: ${reasonOf(error)}`;
}

function reasonOf(error: IoError): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'bind: address already in use';
    case 'EADDRNOTAVAIL':
      return 'bind: cannot assign requested address';
    case 'EACCES':
      return 'bind: permission denied';
    default:
      return error.message;
  }
}
