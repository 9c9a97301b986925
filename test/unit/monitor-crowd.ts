/**
 * A server with connections that need no sockets: what a test sends is given to the server as if it had been read, and
 * what the server writes is taken at once. Time passes only by being looked at (`tickMs` for each look) and by `pass`,
 * and turns of the event loop end when the test ends them.
 */
import { defaultOptions } from '../../server/config/draft.ts';
import type { ServerOptions } from '../../server/config/options.ts';
import type { HttpResponse, Io, Listener, ListenHandler, Network, Socket, SocketHandler } from '../../server/io/io.ts';
import { HEADROOM_BYTES } from '../../server/io/io.ts';
import { Log } from '../../server/io/log.ts';
import { realIo } from '../../server/io/real-io.ts';
import { Monitor } from '../../server/monitor/monitor.ts';
import type { JetStreamView } from '../../server/monitor/monitor-source.ts';
import { Server } from '../../server/server.ts';

/** 2026-01-01T00:00:00Z */
const WALL_START_MS = 1_767_225_600_000;
const READ_BYTES_MAX = 60_000;

export interface CrowdOptions {
  readonly options?: Partial<ServerOptions>;
  readonly tickMs?: number;
  readonly listBytesMax?: number;
  readonly jetStreamView?: JetStreamView;
}

export type Json = Record<string, unknown>;

export class Crowd {
  readonly server: Server;
  readonly monitor: Monitor;
  readonly log: string[] = [];
  /** How many turns have ended. */
  turns = 0;
  private elapsedMs = 0;
  private wallOffsetMs = 0;
  private readonly tickMs: number;
  private readonly ends: (() => void)[] = [];
  private readonly readBuffer = Buffer.alloc(HEADROOM_BYTES * 2);
  private listening: ListenHandler | null = null;
  private nextPort = 1;

  constructor({ options, tickMs = 0, listBytesMax, jetStreamView }: CrowdOptions = {}) {
    this.tickMs = tickMs;
    const log = new Log((line) => this.log.push(line.trimEnd()), this.io().clock, 1, {
      debug: false,
      trace: false,
      time: false,
      utc: true,
    });
    this.server = new Server(this.io(), log, { ...defaultOptions(), serverName: 'crowd', ...options });
    if (jetStreamView !== undefined) Object.assign(this.server, { jetStreamView });
    this.monitor = new Monitor(this.server, listBytesMax);
  }

  /** Lets the server listen; until then nobody can connect. */
  start(): this {
    this.server.start((error) => {
      if (error !== null) throw error;
    });
    this.endTurn();
    return this;
  }

  pass(ms: number): void {
    this.elapsedMs += ms;
  }

  /** Somebody sets the clock. */
  setClockForward(ms: number): void {
    this.wallOffsetMs += ms;
  }

  /** A client that has said so; returns how to tell the server more of it. */
  client(words = '', connect: object = {}): IdleSocket {
    if (this.listening === null) throw new Error('not started');
    const socket = new IdleSocket(this.nextPort++, (bytes) => this.read(socket, bytes));
    socket.open(this.listening.accepted(socket));
    socket.say(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, ...connect })}\r\n${words}`);
    return socket;
  }

  /** Ends turns until the answer is there. */
  get(url: string): HttpResponse {
    const answer = this.ask(url);
    while (answer.response === null) if (!this.endTurn()) throw new Error(`no answer to ${url}`);
    return answer.response;
  }

  json(url: string): Json {
    return JSON.parse(bodyOf(this.get(url))) as Json;
  }

  rows(url: string): Json[] {
    return this.json(url)['connections'] as Json[];
  }

  /** Asks, and leaves it to the test to end turns. */
  ask(url: string): { response: HttpResponse | null } {
    const answer: { response: HttpResponse | null } = { response: null };
    this.monitor.answer({ url }, (response) => (answer.response = response));
    return answer;
  }

  /** What was to happen behind the turn happens; false when that was nothing. */
  endTurn(): boolean {
    const ends = this.ends.splice(0);
    this.turns++;
    for (const end of ends) end();
    return ends.length > 0;
  }

  private read(socket: IdleSocket, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += READ_BYTES_MAX) {
      const length = bytes.copy(this.readBuffer, HEADROOM_BYTES, at, at + READ_BYTES_MAX);
      socket.handler?.data(this.readBuffer, HEADROOM_BYTES, HEADROOM_BYTES + length);
    }
    this.endTurn();
  }

  private io(): Io {
    const monotonicMs = (): number => (this.elapsedMs += this.tickMs);
    const wallMs = (): number => WALL_START_MS + this.wallOffsetMs + this.elapsedMs;
    const never = { cancel: () => undefined };
    return {
      ...realIo(),
      clock: { monotonicMs, wallMs },
      timers: { after: () => never, afterTurn: (callback) => void this.ends.push(callback) },
      network: this.network(),
    };
  }

  private network(): Network {
    const listener: Listener = { close: (done) => this.ends.push(done) };
    return {
      listen: ({ host, port }, handler) => {
        this.listening = handler;
        this.ends.push(() => handler.listening({ host, port }));
        return listener;
      },
      serveHttp: () => listener,
      connect: () => {
        throw new Error('nobody to dial');
      },
    };
  }
}

/** Takes whatever is written, behind the turn. */
export class IdleSocket implements Socket {
  readonly remote: { host: string; port: number };
  readonly local = { host: '127.0.0.1', port: 4222 };
  handler: SocketHandler | null = null;
  private readonly toServer: (bytes: Buffer) => void;
  private isUntold = false;
  /** What is written is not taken any more. */
  isStuck = false;

  constructor(port: number, toServer: (bytes: Buffer) => void) {
    this.remote = { host: '10.0.0.1', port };
    this.toServer = toServer;
  }

  /** From now on there is somebody to tell, also of what was written before. */
  open(handler: SocketHandler): void {
    this.handler = handler;
    if (this.isUntold) handler.written();
  }

  /** The server reads this. */
  say(text: string): void {
    this.toServer(Buffer.from(text));
  }

  /** The client is gone. */
  hangUp(): void {
    this.handler?.closed(null);
  }

  write(): void {
    if (this.handler === null) this.isUntold = true;
    else if (!this.isStuck) this.handler.written();
  }

  end(): void {
    this.handler?.closed(null);
  }

  destroy(): void {
    this.handler?.closed(null);
  }

  resume(): void {
    // Nothing was stopped.
  }
}

export function bodyOf({ body }: HttpResponse): string {
  return Buffer.from(body as Uint8Array).toString();
}
