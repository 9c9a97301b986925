/**
 * One attempt to reach a hub: it ends with a socket that stands, or with a text that says why not, within the time
 * allowed. What the socket has to tell afterwards goes to the connection that was made of it.
 *
 *     dialling ──connected───────────────────────────────────────────────────► reached
 *         └─────to the proxy──► [TLS] ──► CONNECT sent ──200, the hub is there──┘
 *
 * A proxy has as much time for its answer as there was for the connection to it. What comes behind the answer, in the
 * same read too, is the hub's.
 *
 * The texts are those of nats-server, which are the Go runtime's: tools look for them.
 */

import { Buffer } from 'node:buffer';
import type { LeafProxyOptions } from '../server/config/options.ts';
import type { Address, Io, IoError, Socket, SocketHandler, Timer, TlsContext } from '../server/io/io.ts';
import { HttpResponse } from './http-response.ts';
import { dialledContext, handshakeText } from './remote-encryption.ts';

export interface DialOutcome {
  /** The socket stands; the answer hears everything about it. */
  reached(socket: Socket): SocketHandler;
  failed(text: string): void;
}

export interface Route {
  readonly hub: Address;
  /** null: the hub is dialled directly. */
  readonly proxy: LeafProxyOptions | null;
}

const OK = 200;
const TLS_TIMEOUT_MS = 2000;
const TIMED_OUT = { code: 'ETIMEDOUT', message: 'i/o timeout' };

export class Dial implements SocketHandler {
  private readonly io: Io;
  private readonly route: Route;
  private readonly timeoutMs: number;
  private readonly outcome: DialOutcome;
  private readonly socket: Socket;
  private timer: Timer;
  private handler: SocketHandler | null = null;
  /** What the proxy answers; null while it has not been asked. */
  private answer: HttpResponse | null = null;
  private isOver = false;
  /** What was written while the socket was handed over has been taken, before there was anybody to tell. */
  private isUntold = false;

  /** `timeoutMs` is for a hub that is dialled directly; a proxy may have its own. */
  constructor(io: Io, route: Route, timeoutMs: number, outcome: DialOutcome) {
    this.io = io;
    this.route = route;
    this.outcome = outcome;
    this.timeoutMs = route.proxy?.timeoutMs || timeoutMs;
    this.socket = io.network.connect(this.target, this);
    this.timer = this.startTimer();
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
    const { proxy, hub } = this.route;
    if (proxy === null) this.reach();
    else if (proxy.isEncrypted) this.shakeHands(hub, proxy);
    else this.ask(hub, proxy);
  }

  private shakeHands(hub: Address, proxy: LeafProxyOptions): void {
    const { socket } = this;
    const { host, tls } = proxy;
    const fail = (text: string): void => this.fail(`proxy TLS handshake failed: ${text}`);
    let context: TlsContext | null;
    try {
      context = dialledContext(this.io, tls);
    } catch (error) {
      fail(`the settings cannot be used: ${(error as Error).message}`);
      return;
    }
    if (context === null || socket.encrypt === undefined) {
      fail('this network has no TLS');
      return;
    }
    this.timer.cancel();
    this.timer = this.io.timers.after(tls?.timeoutMs ?? TLS_TIMEOUT_MS, () => fail('i/o timeout'));
    socket.encrypt(context, { host, isVerified: tls?.isInsecure !== true }, (error) => {
      if (this.isOver) return;
      const failure = handshakeText(error, socket.tls ?? null, host);
      if (failure === null) this.ask(hub, proxy);
      else fail(failure);
    });
  }

  private ask(hub: Address, proxy: LeafProxyOptions): void {
    this.timer.cancel();
    this.timer = this.startTimer();
    this.answer = new HttpResponse();
    this.socket.write([Buffer.from(connectRequest(hub, proxy), 'utf8')]);
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    const { answer } = this;
    if (this.handler !== null) return this.handler.data(buffer, start, end);
    if (answer === null || this.isOver) return false;
    const at = answer.read(buffer, start, end);
    if (answer.failure !== '') this.fail(`failed to read proxy response: ${answer.failure}`);
    else if (!answer.isComplete) return true;
    else if (answer.status !== OK) this.fail(`proxy CONNECT failed: ${answer.statusText}`);
    else {
      const handler = this.reach();
      return at === end || handler.data(buffer, at, end);
    }
    return false;
  }

  written(): void {
    if (this.handler !== null) this.handler.written();
    else this.isUntold = this.isOver;
  }

  ended(): void {
    if (this.handler !== null) this.handler.ended();
    else this.fail(this.answer === null ? this.textOf(null) : 'failed to read proxy response: unexpected EOF');
  }

  closed(error: IoError | null): void {
    if (this.handler !== null) this.handler.closed(error);
    else this.fail(this.textOf(error));
  }

  /** What is dialled. */
  private get target(): Address {
    const { proxy, hub } = this.route;
    return proxy === null ? hub : { host: proxy.host, port: proxy.port };
  }

  private reach(): SocketHandler {
    this.isOver = true;
    this.timer.cancel();
    const handler = this.outcome.reached(this.socket);
    this.handler = handler;
    if (this.isUntold) handler.written();
    return handler;
  }

  private startTimer(): Timer {
    return this.io.timers.after(this.timeoutMs, () => this.fail(this.textOf(TIMED_OUT)));
  }

  private fail(text: string): void {
    if (this.isOver) return;
    this.cancel();
    this.outcome.failed(text);
  }

  private textOf(error: Pick<IoError, 'code' | 'message'> | null): string {
    if (this.answer !== null) {
      const why = error === null ? 'unexpected EOF' : (READ_TEXTS.get(error.code ?? '') ?? error.message);
      return `failed to read proxy response: ${why}`;
    }
    const text = dialText(error, this.target);
    return this.route.proxy === null ? text : `failed to connect to proxy: ${text}`;
  }
}

function connectRequest(hub: Address, { username, password }: LeafProxyOptions): string {
  const login = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  const authorization = username === '' ? '' : `Proxy-Authorization: Basic ${login}\r\n`;
  const target = hostPort(hub);
  return `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nUser-Agent: petiole\r\n${authorization}\r\n`;
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

const READ_TEXTS: ReadonlyMap<string, string> = new Map([
  ['ECONNRESET', 'read: connection reset by peer'],
  ['EPIPE', 'write: broken pipe'],
  ['ETIMEDOUT', 'i/o timeout'],
]);

const LOOK_UP_TEXTS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'server misbehaving'],
]);

function dialText(error: Pick<IoError, 'code' | 'message'> | null, address: Address): string {
  if (error === null) return `dial tcp ${hostPort(address)}: closed`;
  const code = error.code ?? '';
  const lookUp = LOOK_UP_TEXTS.get(code);
  if (lookUp !== undefined) return `lookup for host "${address.host}": lookup ${address.host}: ${lookUp}`;
  return `dial tcp ${hostPort(address)}: ${CONNECT_TEXTS.get(code) ?? error.message}`;
}
