/**
 * A listening server of the host, from the request to listen until it is closed.
 *
 * As nats-server does, one that listens on all IPv4 addresses (0.0.0.0) listens on those of IPv6 too where the host has
 * any, and says 0.0.0.0 nevertheless. Closing gives the port back at once and waits for no connection, also when it
 * comes before listening has begun. A port that no host has is a failure like any other, heard of in a later turn.
 */

import type net from 'node:net';
import type { Address, IoError, Listener } from './io.ts';

const BACKLOG = 4096;
const ALL_IPV4 = '0.0.0.0';
const ALL = '::';

/** What the system says where it has no IPv6. */
const WITHOUT_IPV6: readonly (string | undefined)[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'];

export interface ListenOutcome {
  listening(address: Address): void;
  failed(error: IoError): void;
}

export class RealListener implements Listener {
  private readonly server: net.Server;
  private readonly address: Address;
  private readonly outcome: ListenOutcome;
  private isClosed = false;

  constructor(server: net.Server, address: Address, outcome: ListenOutcome) {
    this.server = server;
    this.address = address;
    this.outcome = outcome;
    server.on('error', (error: IoError) => this.failed(error));
    server.on('listening', () => this.listening());
    this.listen(address.host === ALL_IPV4 ? ALL : address.host);
  }

  close(done: () => void): void {
    this.isClosed = true;
    this.server.close();
    setImmediate(done);
  }

  private listen(host: string): void {
    try {
      this.server.listen({ host, port: this.address.port, backlog: BACKLOG });
    } catch (error) {
      // The runtime throws where a port is out of range; whoever listens has no listener to close yet.
      setImmediate(() => this.failed(error as IoError));
    }
  }

  private listening(): void {
    if (this.isClosed) {
      this.server.close();
      return;
    }
    const bound = this.server.address() as net.AddressInfo;
    const { host } = this.address;
    this.outcome.listening({ host: host === ALL_IPV4 ? host : bound.address, port: bound.port });
  }

  private failed(error: IoError): void {
    if (this.isClosed) return;
    const triedIpv6 = this.address.host === ALL_IPV4 && !this.server.listening && hasAddress(error, ALL);
    if (triedIpv6 && WITHOUT_IPV6.includes(error.code)) this.listen(ALL_IPV4);
    else this.outcome.failed(error);
  }
}

/** Whether the error is about this address: those of listening name theirs. */
function hasAddress(error: IoError, address: string): boolean {
  return (error as { address?: unknown }).address === address;
}
