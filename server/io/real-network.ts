/**
 * TCP of the host. Connections that come in are taken from the listening handle before the runtime wraps them
 * (`real-handle-socket.ts`); where its internals are not as expected, they are used as it wraps them
 * (`real-runtime-socket.ts`), and so are those that are dialled. All ways are tested.
 */

import net from 'node:net';
import type { Address, ListenHandler, Listener, Network, SecuringNetwork, Socket, SocketHandler } from './io.ts';
import { openAccepted } from './real-handle-socket.ts';
import { dial } from './real-dialled-socket.ts';
import { RealTlsContext } from './real-encrypting-socket.ts';
import { serveHttp, serveHttps } from './real-http.ts';
import { RealListener } from './real-listener.ts';
import { listenOnPath } from './real-path-listener.ts';
import { openWrapped } from './real-runtime-socket.ts';
import { listenUndecided } from './real-tls-socket.ts';
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
    return new RealListener(server, address, {
      listening: (bound) => {
        if (this.takesHandles) takeConnections(server, handler);
        handler.listening(bound);
      },
      failed: (error) => handler.failed(error),
    });
  }

  connect(address: Address, handler: SocketHandler): Socket {
    return dial(address, handler);
  }

  readonly serveHttp: Network['serveHttp'] = serveHttp;
  readonly listenOnPath: NonNullable<Network['listenOnPath']> = listenOnPath;

  readonly tls: SecuringNetwork = {
    context: (settings) => new RealTlsContext(settings),
    listen: listenUndecided,
    serveHttps,
  };
}

/** Takes the listening handle's connections before `net.Server` wraps them. */
function takeConnections(server: ListeningServer, handler: ListenHandler): void {
  const listening = server._handle;
  if (!isUsableHandle(listening)) return;
  listening.onconnection = (status, handle) => {
    if (handle === undefined) handler.failed(systemError('accept', status));
    else openAccepted(handle, handler);
  };
}
