/**
 * The way to what speaks WebSocket, whose code is loaded when a remote dials the first hub that does: most links are
 * plain, and a start should not wait for it.
 */

import type { Io, Socket } from '../server/io/io.ts';
import type { WebSocket } from './websocket/web-socket.ts';

export type MakeWebSocket = (socket: Socket, io: Io) => WebSocket;

export class WebSocketRoom {
  private make: MakeWebSocket | null = null;

  /** Calls `ready` when sockets can be made, at once if they can already, or `failed` with the reason. */
  enter(ready: (make: MakeWebSocket) => void, failed: (text: string) => void): void {
    if (this.make !== null) {
      ready(this.make);
      return;
    }
    import('./websocket/web-socket.ts').then(
      (room) => {
        this.make = (socket, io) => new room.WebSocket(socket, io);
        ready(this.make);
      },
      (error: unknown) => failed(`websocket can't be loaded: ${String(error)}`),
    );
  }
}
