/** A peer on a simulated network that sends given pieces one after another, reads or does not, and hangs up at the end. */
import type { Address, Io, Socket, SocketHandler } from '../../server/io/io.ts';

export interface PeerScript {
  readonly pieces: readonly Buffer[];
  /** Between two pieces. */
  readonly pauseMs: number;
  /** What the server sends stays where it is. */
  readonly reads: boolean;
  /** At the end: `end` after the last byte, `destroy` at once, `stay` silently. */
  readonly ending: 'end' | 'destroy' | 'stay';
}

export class HostilePeer implements SocketHandler {
  isClosed = false;
  isDone = false;
  private readonly io: Io;
  private readonly script: PeerScript;
  private readonly socket: Socket;
  private sent = 0;

  constructor(io: Io, address: Address, script: PeerScript) {
    this.io = io;
    this.script = script;
    this.socket = io.network.connect(address, this);
  }

  hangUp(): void {
    this.socket.destroy();
  }

  connected(): void {
    this.sendNext();
  }

  data(): boolean {
    return this.script.reads;
  }

  written(): void {
    this.io.timers.after(this.script.pauseMs, () => this.sendNext());
  }

  ended(): void {
    this.socket.end();
  }

  closed(): void {
    this.isClosed = true;
    this.isDone = true;
  }

  private sendNext(): void {
    if (this.isClosed) return;
    const piece = this.script.pieces[this.sent++];
    if (piece !== undefined) {
      this.socket.write([piece]);
      return;
    }
    this.isDone = true;
    if (this.script.ending === 'end') this.socket.end();
    else if (this.script.ending === 'destroy') this.socket.destroy();
  }
}
