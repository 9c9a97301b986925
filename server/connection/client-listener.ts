/**
 * The port that clients connect to. It is open or failed once `open` has said which; what goes wrong with single
 * connections after that is logged, and stops nothing.
 */

import type { Address, Io, IoError, Listener, Socket, SocketHandler } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import { AcceptFailures } from './accept-failures.ts';
import { hostPort } from './listen-failure.ts';

export class ClientListener {
  private readonly io: Io;
  private readonly log: Log;
  private readonly accept: (socket: Socket) => SocketHandler;
  private listener: Listener | null = null;

  /** `accept` makes the owner of each connection. */
  constructor(io: Io, log: Log, accept: (socket: Socket) => SocketHandler) {
    this.io = io;
    this.log = log;
    this.accept = accept;
  }

  /** Listens; `done` gets the port, or why there is none. */
  open({ host, port }: Address, done: (port: number, error: IoError | null) => void): void {
    const failures = new AcceptFailures(this.log, this.io.clock);
    let isOpen = false;
    this.listener = this.io.network.listen(
      { host, port },
      {
        listening: (bound) => {
          isOpen = true;
          this.log.notice(`Listening for client connections on ${hostPort({ host, port: bound.port })}`);
          done(bound.port, null);
        },
        accepted: this.accept,
        failed: (error) => {
          if (isOpen) failures.note(error);
          else done(port, error);
        },
      },
    );
  }

  /** Takes no new connections; those that are there live on. */
  close(): void {
    this.listener?.close(() => undefined);
  }
}
