/**
 * Very many connections of clients that never authenticate. Each sends the beginning of something, byte by byte if it is
 * to drip, and counts what becomes of it.
 */
import { connect, type Socket } from 'node:net';
import type { ServerAddress } from '../helpers/wire-client.ts';
import { until } from '../helpers/until.ts';

const TOGETHER = 200;
const DRIP_MS = 1000;
const WITHIN_MS = 60_000;

export interface FloodCounts {
  /** How many were ever greeted. */
  readonly greeted: number;
  readonly open: number;
  readonly closed: number;
}

export class Flood {
  private readonly address: ServerAddress;
  private readonly sockets: Socket[] = [];
  private readonly drips: NodeJS.Timeout[] = [];
  /** How many connections heard each line beginning with -ERR. */
  readonly errors: Map<string, number> = new Map();
  private greeted = 0;
  private closed = 0;

  constructor(address: ServerAddress) {
    this.address = address;
  }

  get counts(): FloodCounts {
    return { greeted: this.greeted, open: this.sockets.length - this.closed, closed: this.closed };
  }

  /** Opens connections that each send `text` as soon as they have been greeted. */
  async open(count: number, text: string): Promise<void> {
    const before = this.greeted;
    for (let opened = 0; opened < count; opened += TOGETHER) {
      const batch = Math.min(TOGETHER, count - opened);
      this.dial(batch, text);
      await until(() => this.greeted === before + opened + batch, 'the INFO for each connection', WITHIN_MS);
    }
  }

  /** As `open`, without waiting: some may not be served. */
  dial(count: number, text: string): void {
    for (let i = 0; i < count; i++) this.dialOne(text);
  }

  /** The connections from number `first` on send `text`, a byte a second. */
  drip(first: number, text: string): void {
    let at = 0;
    const drip = (): void => {
      const byte = text[at++];
      if (byte === undefined) return;
      for (let i = first; i < this.sockets.length; i++) {
        const socket = this.sockets[i] as Socket;
        if (!socket.destroyed) socket.write(byte);
      }
    };
    this.drips.push(setInterval(drip, DRIP_MS));
  }

  close(): void {
    for (const each of this.drips) clearInterval(each);
    for (const each of this.sockets) each.destroy();
  }

  private dialOne(text: string): void {
    const { host, port } = this.address;
    const socket = connect({ host, port, noDelay: true });
    let received = '';
    this.sockets.push(socket);
    socket.on('data', (bytes) => {
      const isFirst = received === '';
      received += bytes.toString('latin1');
      if (isFirst) {
        this.greeted++;
        if (text !== '') socket.write(text);
      }
    });
    // Whatever becomes of a connection, it is closed in the end.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.closed++;
      const [error] = /-ERR [^\r]*/.exec(received) ?? ['closed without a word'];
      this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
    });
  }
}
