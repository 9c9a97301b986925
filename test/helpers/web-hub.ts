/**
 * A hub behind WebSocket of which the test says every word, on a library that knows the protocol by heart and refuses
 * what breaks it.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type PerMessageDeflateOptions, type WebSocket, WebSocketServer } from 'ws';
import { HUB_INFO } from './scripted-hub.ts';
import { until } from './until.ts';

/** How a message is sent. */
export interface Framing {
  readonly frames?: number;
  readonly compress?: boolean;
  readonly binary?: boolean;
}

/** One link, from the hub's side. */
export class WebHubLink {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** What the messages of the link hold, one behind the other. */
  received = '';
  /** The content of its pongs. */
  readonly pongs: string[] = [];
  /** Code and reason of its close. */
  closed: readonly [code: number, reason: string] | null = null;
  /** What the library has against it. */
  readonly faults: string[] = [];

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket;
    this.request = request;
    socket.on('message', (data: Buffer) => (this.received += data.toString('latin1')));
    socket.on('pong', (content) => this.pongs.push(content.toString('latin1')));
    socket.on('error', (error) => this.faults.push(error.message));
    socket.on('close', (code, reason) => (this.closed = [code, reason.toString()]));
  }

  /** Says it in one message, of so many frames. */
  say(text: string, { frames = 1, compress = false, binary = true }: Framing = {}): void {
    const bytes = Buffer.from(text, 'latin1');
    const length = Math.max(1, Math.ceil(bytes.length / frames));
    for (let at = 0; at < bytes.length; at += length) {
      const fin = at + length >= bytes.length;
      this.socket.send(bytes.subarray(at, at + length), { binary, compress, fin });
    }
  }

  info(fields: object = {}): string {
    return `INFO ${JSON.stringify({ ...HUB_INFO, ...fields })} \r\n`;
  }

  async heard(text: string): Promise<void> {
    await until(() => this.received.includes(text), `the link to say ${JSON.stringify(text.slice(0, 80))}`);
  }

  /** Opens the link; its loop subject has been read. */
  async open(how: Framing = {}): Promise<void> {
    this.say(this.info(), how);
    await this.heard('CONNECT ');
    this.say(this.info({ connect_info: true, remote_account: 'HUBACC' }), how);
    await this.heard('LS+ $LDS.');
  }
}

export class WebHub {
  readonly #server: WebSocketServer;
  readonly #links: WebHubLink[] = [];

  constructor(perMessageDeflate: PerMessageDeflateOptions | false) {
    this.#server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate });
    this.#server.on('connection', (socket, request) => this.#links.push(new WebHubLink(socket, request)));
  }

  async listen(): Promise<void> {
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next link that dials. */
  async accept(): Promise<WebHubLink> {
    return until(() => this.#links.shift(), 'a link to dial');
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}

/** Starts one; it listens until the test has ended. */
export async function startWebHub(perMessageDeflate: PerMessageDeflateOptions | false = false): Promise<WebHub> {
  const hub = new WebHub(perMessageDeflate);
  await hub.listen();
  onTestFinished(() => hub.close());
  return hub;
}
