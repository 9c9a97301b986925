/**
 * One attempt to reach a hub: it ends with a socket that stands, or with a text that says why not, within the time
 * allowed. What the socket has to tell afterwards goes to the connection that was made of it.
 *
 * The texts are those of nats-server, which are the Go runtime's: tools look for them.
 */

import type { Address, Io, IoError, Socket, SocketHandler, Timer } from '../server/io/io.ts';

export interface DialOutcome {
  /** The socket stands; the answer hears everything about it. */
  reached(socket: Socket): SocketHandler;
  failed(text: string): void;
}

export class Dial implements SocketHandler {
  private readonly address: Address;
  private readonly outcome: DialOutcome;
  private readonly socket: Socket;
  private readonly timer: Timer;
  private handler: SocketHandler | null = null;
  private isOver = false;

  constructor(io: Io, address: Address, timeoutMs: number, outcome: DialOutcome) {
    this.address = address;
    this.outcome = outcome;
    this.socket = io.network.connect(address, this);
    this.timer = io.timers.after(timeoutMs, () => this.fail(`dial tcp ${hostPort(address)}: i/o timeout`));
  }

  /** Gives up without a word. */
  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer.cancel();
    this.socket.destroy();
  }

  connected(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer.cancel();
    this.handler = this.outcome.reached(this.socket);
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    return this.handler !== null && this.handler.data(buffer, start, end);
  }

  written(): void {
    this.handler?.written();
  }

  ended(): void {
    this.handler?.ended();
  }

  closed(error: IoError | null): void {
    if (this.handler !== null) this.handler.closed(error);
    else this.fail(textOf(error, this.address));
  }

  private fail(text: string): void {
    if (this.isOver) return;
    this.cancel();
    this.outcome.failed(text);
  }
}

/** `host:port`, IPv6 in brackets. */
export function hostPort({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const CONNECT_TEXTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connect: connection refused'],
  ['ECONNRESET', 'connect: connection reset by peer'],
  ['EHOSTUNREACH', 'connect: no route to host'],
  ['ENETUNREACH', 'connect: network is unreachable'],
  ['EADDRNOTAVAIL', "connect: can't assign requested address"],
  ['ETIMEDOUT', 'i/o timeout'],
]);

const LOOK_UP_TEXTS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'server misbehaving'],
]);

function textOf(error: IoError | null, address: Address): string {
  if (error === null) return `dial tcp ${hostPort(address)}: closed`;
  const code = error.code ?? '';
  const lookUp = LOOK_UP_TEXTS.get(code);
  if (lookUp !== undefined) return `lookup for host "${address.host}": lookup ${address.host}: ${lookUp}`;
  return `dial tcp ${hostPort(address)}: ${CONNECT_TEXTS.get(code) ?? error.message}`;
}
