/**
 * The network as one process sees it: it listens and dials as its machine, and everything it has open goes with it.
 * HTTP is whole requests and responses without sockets: what is tested with it is what the server answers.
 */

import type { Address, HttpHandler, IoError, ListenHandler, Listener, Network, Socket, SocketHandler } from '../io.ts';
import type { EventOwner } from './event-queue.ts';
import type { NetworkNode, SimulatedNetwork } from './simulated-network.ts';
import { SystemError } from './system-error.ts';

const ALL_ADDRESSES: readonly string[] = ['0.0.0.0', '::', ''];

/** A port that is listened on, and by whom. */
export interface Door {
  readonly node: NetworkNode;
  readonly owner: EventOwner;
  readonly host: string;
  readonly isOpenToAll: boolean;
  port: number;
  /** One of the two: who takes connections, who takes HTTP requests. */
  readonly stream: ListenHandler | null;
  readonly http: HttpHandler | null;
}

export class NetworkInterface implements Network {
  private readonly network: SimulatedNetwork;
  private readonly node: NetworkNode;
  private readonly owner: EventOwner;

  constructor(network: SimulatedNetwork, node: NetworkNode, owner: EventOwner) {
    this.network = network;
    this.node = node;
    this.owner = owner;
  }

  listen(address: Address, handler: ListenHandler): Listener {
    return this.openDoor(address, handler, { stream: handler, http: null });
  }

  serveHttp(address: Address, handler: HttpHandler): Listener {
    return this.openDoor(address, handler, { stream: null, http: handler });
  }

  connect(address: Address, handler: SocketHandler): Socket {
    return this.network.connect(this.node, this.owner, address, handler);
  }

  private openDoor(
    { host, port }: Address,
    handler: { listening(address: Address): void; failed(error: IoError): void },
    kind: Pick<Door, 'stream' | 'http'>,
  ): Listener {
    const { network, node, owner } = this;
    const { scheduler } = network;
    const isOpenToAll = ALL_ADDRESSES.includes(host);
    const door: Door = { node, owner, host, isOpenToAll, port, ...kind };
    let isClosed = false;
    scheduler.after(0, owner, 'listen', () => {
      if (isClosed) return;
      const code = network.openDoor(door);
      if (code === null) handler.listening({ host, port: door.port });
      else handler.failed(new SystemError(code, `listen ${host}:${door.port}`));
    });
    return {
      close: (done) => {
        isClosed = true;
        network.closeDoor(door);
        scheduler.after(0, owner, 'listener closed', done);
      },
    };
  }
}
