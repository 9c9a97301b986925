/**
 * TCP of the host. Connections that come in are taken from the listening handle before the runtime wraps them
 * (`real-handle-socket.ts`); where its internals are not as expected, they are used as it wraps them
 * (`real-runtime-socket.ts`). Those that are dialled stay wrapped and are written to past that
 * (`real-dialled-socket.ts`). All ways are tested.
 */

import net from 'node:net';
import type { Address, ListenHandler, Listener, Network, SecuringNetwork, Socket, SocketHandler } from './io.ts';
import type { UndecidedListenHandler } from './io.ts';
import { openAccepted } from './real-handle-socket.ts';
import { dial } from './real-dialled-socket.ts';
import { RealTlsContext } from './real-encrypting-socket.ts';
import { serveHttp, serveHttps } from './real-http.ts';
import { type ListenOutcome, RealListener } from './real-listener.ts';
import { listenOnPath } from './real-path-listener.ts';
import { openWrapped } from './real-runtime-socket.ts';
import { openUndecided } from './real-tls-socket.ts';
import { isUsableHandle, type ListeningServer, streamBinding, systemError } from './real-tcp-handle.ts';

export class RealNetwork implements Network {
  private readonly takesHandles: boolean;

  /** `takesHandles` false: as where the runtime's internals have changed. */
  constructor({ takesHandles }: { takesHandles: boolean } = { takesHandles: true }) {
    this.takesHandles = takesHandles && streamBinding !== null;
  }

  listen(address: Address, handler: ListenHandler): Listener {
    const server = net.createServer({ noDelay: true, allowHalfOpen: true });
    server.on('connection', (socket) => openWrapped(socket, handler));
    return this.open(server, address, handler, handler, () => true);
  }

  connect(address: Address, handler: SocketHandler): Socket {
    return dial(address, handler, this.takesHandles);
  }

  readonly serveHttp: Network['serveHttp'] = serveHttp;
  readonly listenOnPath: NonNullable<Network['listenOnPath']> = listenOnPath;

  readonly tls: SecuringNetwork = {
    context: (settings) => new RealTlsContext(settings),
    listen: (address, handler) => this.listenUndecided(address, handler),
    serveHttps,
  };

  /** The listening server leaves each connection paused, so that nothing is read before it is decided what it is. */
  private listenUndecided(address: Address, handler: UndecidedListenHandler): Listener {
    const server = net.createServer({ noDelay: true, allowHalfOpen: true, pauseOnConnect: true });
    server.on('connection', (socket) => openUndecided(socket, handler));
    const { inClear } = handler;
    if (inClear === undefined) return new RealListener(server, address, handler);
    return this.open(server, address, handler, inClear, () => inClear.isOn());
  }

  /** Takes those connections that `takes` stands for before the server wraps them. */
  private open(
    server: net.Server,
    address: Address,
    outcome: ListenOutcome,
    listen: Accepting,
    takes: () => boolean,
  ): Listener {
    return new RealListener(server, address, {
      listening: (bound) => {
        if (this.takesHandles) takeConnections(server, outcome, listen, takes);
        outcome.listening(bound);
      },
      failed: (error) => outcome.failed(error),
    });
  }
}

type Accepting = Pick<ListenHandler, 'accepted'>;

function takeConnections(
  server: ListeningServer,
  outcome: ListenOutcome,
  listen: Accepting,
  takes: () => boolean,
): void {
  const listening = server._handle;
  if (!isUsableHandle(listening)) return;
  const wrap = listening.onconnection;
  listening.onconnection = (status, handle) => {
    if (handle === undefined) outcome.failed(systemError('accept', status));
    else if (takes()) openAccepted(handle, listen);
    else wrap?.call(listening, status, handle);
  };
}
