/**
 * A bare connection, for loads that the nats CLI has no command for: text goes out as it is given, messages come in one
 * by one, PINGs are answered. It reads just enough of the protocol for that, and keeps up with a few 100,000 messages a
 * second.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const LINE_END = Buffer.from('\r\n');
const REQUEST_MS_MAX = 60_000;
/** Where requests of this connection hear their answers; nothing else is in flight meanwhile. */
const INBOX = '_INBOX.bench';
const INBOX_SID = 'inbox';

/** What the API answers, as far as somebody here looks at it. */
export interface ApiAnswer {
  readonly state?: { readonly messages: number; readonly last_seq: number };
}

export class WireConnection {
  /** Called with each message: its headers, if it has any, and its payload. */
  onMessage: (payload: Buffer) => void = () => undefined;
  /** When set, what arrives is counted and not read: for loads so large that reading would be what is measured. */
  onBytes: ((count: number) => void) | null = null;
  readonly #socket: Socket;
  #unread: Buffer = Buffer.alloc(0);
  /** Of the message whose payload is not here yet; -1: a line is next. */
  #payloadBytes = -1;
  readonly #failed: AbortController = new AbortController();
  readonly #fences: PromiseWithResolvers<void>[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#read(bytes));
    const ended = (error?: Error): void => this.#fail(error ?? new Error('the server closed the connection'));
    socket.on('error', ended);
    socket.on('close', () => ended());
  }

  /** Connects and resolves when the server has taken CONNECT and answered a PING behind it. */
  static async open(port: number): Promise<WireConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const connection = new WireConnection(socket);
    connection.send('CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\n');
    await connection.fence();
    return connection;
  }

  send(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  /** As `send`, and resolves when the socket can take more. */
  async sendPaced(text: string): Promise<void> {
    if (!this.#socket.write(text, 'latin1')) await once(this.#socket, 'drain', { signal: this.#failed.signal });
  }

  /** Resolves when the server has dealt with all that was sent. */
  fence(): Promise<void> {
    const fence = Promise.withResolvers<void>();
    if (this.#failed.signal.aborted) fence.reject(this.#failed.signal.reason);
    else this.#fences.push(fence);
    this.send('PING\r\n');
    return fence.promise;
  }

  /**
   * Resolves when so many messages have come from now on; `each` hears each of them. Fails when that takes longer than
   * `msMax`, when `each` throws, or with the connection.
   */
  receive(count: number, msMax: number, each: (payload: Buffer) => void = () => undefined): Promise<void> {
    const all = Promise.withResolvers<void>();
    let received = 0;
    this.onMessage = (payload) => {
      try {
        each(payload);
      } catch (error) {
        all.reject(error);
      }
      if (++received === count) all.resolve();
    };
    const timer = setTimeout(() => all.reject(new Error(`${received} of ${count} messages came`)), msMax);
    const failed = (): void => all.reject(this.#failed.signal.reason);
    this.#failed.signal.addEventListener('abort', failed, { once: true });
    return all.promise.finally(() => {
      clearTimeout(timer);
      this.#failed.signal.removeEventListener('abort', failed);
      this.onMessage = () => undefined;
    });
  }

  /** Asks the JetStream API and waits for the answer. Fails if that is an error. */
  async request(subject: string, body: unknown): Promise<ApiAnswer> {
    const text = JSON.stringify(body);
    let answer = '';
    const answered = this.receive(1, REQUEST_MS_MAX, (payload) => (answer = payload.toString()));
    this.send(`SUB ${INBOX} ${INBOX_SID}\r\nUNSUB ${INBOX_SID} 1\r\n`);
    this.send(`PUB ${subject} ${INBOX} ${text.length}\r\n${text}\r\n`);
    await answered;
    const parsed = JSON.parse(answer) as ApiAnswer & { error?: { description: string } };
    if (parsed.error !== undefined) throw new Error(`${subject}: ${parsed.error.description}`);
    return parsed;
  }

  close(): void {
    this.#fail(new Error('the connection was closed'));
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#failed.abort(error);
    for (const fence of this.#fences.splice(0)) fence.reject(error);
  }

  #read(bytes: Buffer): void {
    if (this.onBytes !== null) {
      this.onBytes(bytes.length);
      return;
    }
    const all = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    let at = 0;
    for (;;) {
      const next = this.#payloadBytes < 0 ? this.#readLine(all, at) : this.#readPayload(all, at);
      if (next < 0) break;
      at = next;
    }
    this.#unread = all.subarray(at);
  }

  /** Where the next line or payload begins; -1 if this line is not whole. */
  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LINE_END, at);
    if (end < 0) return -1;
    const line = bytes.toString('latin1', at, end);
    if (line.startsWith('MSG ') || line.startsWith('HMSG ')) {
      this.#payloadBytes = Number(line.slice(line.lastIndexOf(' ') + 1));
    } else if (line === 'PING') {
      this.send('PONG\r\n');
    } else if (line === 'PONG') {
      this.#fences.shift()?.resolve();
    } else if (line.startsWith('-ERR')) {
      this.#fail(new Error(`the server said ${line}`));
    }
    return end + LINE_END.length;
  }

  #readPayload(bytes: Buffer, at: number): number {
    const end = at + this.#payloadBytes;
    if (bytes.length < end + LINE_END.length) return -1;
    this.#payloadBytes = -1;
    this.onMessage(bytes.subarray(at, end));
    return end + LINE_END.length;
  }
}
