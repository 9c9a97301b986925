/** The network of a simulated process, with a count of what the process has open: what it forgot to close shows in it. */
import type {
  Address,
  HttpHandler,
  IoError,
  ListenHandler,
  Listener,
  Network,
  Socket,
  SocketHandler,
} from '../../server/io/io.ts';

export class CountedNetwork implements Network {
  /** Sockets and listeners. */
  open = 0;
  private readonly network: Network;

  constructor(network: Network) {
    this.network = network;
  }

  listen(address: Address, handler: ListenHandler): Listener {
    return this.counted(
      this.network.listen(address, {
        listening: (bound) => handler.listening(bound),
        accepted: (socket) => this.watched(handler.accepted(socket)),
        failed: (error) => handler.failed(error),
      }),
    );
  }

  serveHttp(address: Address, handler: HttpHandler): Listener {
    return this.counted(this.network.serveHttp(address, handler));
  }

  connect(address: Address, handler: SocketHandler): Socket {
    return this.network.connect(address, this.watched(handler));
  }

  private counted(listener: Listener): Listener {
    this.open++;
    return {
      close: (done) => {
        this.open--;
        listener.close(done);
      },
    };
  }

  private watched(handler: SocketHandler): SocketHandler {
    this.open++;
    return {
      connected: () => handler.connected(),
      data: (buffer, start, end) => handler.data(buffer, start, end),
      written: () => handler.written(),
      ended: () => handler.ended(),
      closed: (error: IoError | null) => {
        this.open--;
        handler.closed(error);
      },
    };
  }
}
