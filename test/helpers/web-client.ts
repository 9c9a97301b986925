/**
 * A client of a WebSocket port of which the test says every byte: it asks for WebSocket as it is told to, sends frames right
 * or wrong, and keeps what comes back taken apart.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { inflateRawSync, constants } from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { ServerAddress } from './wire-client.ts';
import { until } from './until.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
/** What the key of above is answered by. */
export const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
export const DEFLATE = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';

const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);

export interface Ask {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM of who vouches for the server; then TLS is spoken. */
  readonly authority?: string;
  readonly certificate?: { readonly certificate: string; readonly key: string };
}

export interface FrameParts {
  readonly code?: number;
  readonly final?: boolean;
  /** RSV1, RSV2 and RSV3. */
  readonly reserved?: number;
  readonly masked?: boolean;
  /** Instead of the length that it has. */
  readonly length?: number;
}

/** The bytes of a frame with this content. */
export function frame(content: Buffer | string, parts: FrameParts = {}): Buffer {
  const { code = 2, final = true, reserved = 0, masked = true } = parts;
  const bytes = Buffer.from(content as string, 'latin1');
  const length = parts.length ?? bytes.length;
  const head = [(final ? 0x80 : 0) | reserved | code];
  const mask = masked ? 0x80 : 0;
  if (length < 126) head.push(mask | length);
  else if (length < 65_536) head.push(mask | 126, length >> 8, length & 0xff);
  else {
    const long = Buffer.alloc(8);
    long.writeBigUInt64BE(BigInt(length));
    head.push(mask | 127, ...long);
  }
  if (!masked) return Buffer.concat([Buffer.from(head), bytes]);
  return Buffer.concat([Buffer.from(head), MASK, bytes.map((byte, at) => byte ^ (MASK[at & 3] as number))]);
}

export function closing(status: number, reason = ''): Buffer {
  const content = Buffer.from(`..${reason}`, 'utf8');
  content.writeUInt16BE(status);
  return content;
}

export class WebClient {
  readonly socket: Socket;
  /** The head of the answer, and all of it if there are no frames behind it. */
  answer = '';
  /** Content of messages. */
  received = '';
  /** First bytes of frames of content. */
  readonly heads: number[] = [];
  readonly pongs: string[] = [];
  /** Content of the close frame. */
  close: Buffer | null = null;
  hasEnded = false;
  private unread: Buffer = Buffer.alloc(0);
  private compressed: Buffer[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.unread = Buffer.concat([this.unread, bytes]);
      this.take();
    });
    // A reset is one of the ways in which a server closes.
    socket.on('error', () => (this.hasEnded = true));
    socket.on('end', () => (this.hasEnded = true));
    socket.on('close', () => (this.hasEnded = true));
  }

  get status(): number {
    return Number(/^HTTP\/1\.\d (\d+)/.exec(this.answer)?.[1] ?? 0);
  }

  get closeStatus(): number | null {
    return this.close === null || this.close.length < 2 ? null : this.close.readUInt16BE(0);
  }

  send(...frames: (Buffer | string)[]): void {
    for (const each of frames) this.socket.write(each);
  }

  /** As one message. */
  say(text: string): void {
    this.send(frame(text));
  }

  async expect(text: string): Promise<void> {
    await until(() => this.received.includes(text), `the server to say ${JSON.stringify(text.slice(0, 80))}`);
  }

  async ends(): Promise<void> {
    await until(() => this.hasEnded, 'the server to close');
  }

  private take(): void {
    if (!this.answer.includes('\r\n\r\n')) {
      const end = this.unread.indexOf('\r\n\r\n');
      if (end === -1) return;
      this.answer = this.unread.toString('latin1', 0, end + 4);
      this.unread = this.unread.subarray(end + 4);
    }
    if (this.status === 101) while (this.takeFrame());
    else {
      this.answer += this.unread.toString('latin1');
      this.unread = Buffer.alloc(0);
    }
  }

  private takeFrame(): boolean {
    const { unread } = this;
    if (unread.length < 2) return false;
    const [first, second] = [unread[0] as number, unread[1] as number];
    const code = second & 0x7f;
    const head = code === 126 ? 4 : code === 127 ? 10 : 2;
    if (unread.length < head) return false;
    const length = code === 126 ? unread.readUInt16BE(2) : code === 127 ? Number(unread.readBigUInt64BE(2)) : code;
    if ((second & 0x80) !== 0) throw new Error('a server must not mask');
    if (unread.length < head + length) return false;
    this.unread = unread.subarray(head + length);
    this.takeContent(first, unread.subarray(head, head + length));
    return true;
  }

  private takeContent(first: number, content: Buffer): void {
    const code = first & 0x0f;
    if (code === 8) this.close = content;
    else if (code === 10) this.pongs.push(content.toString('latin1'));
    else {
      this.heads.push(first);
      if ((first & 0x40) !== 0 || this.compressed.length > 0) this.takeCompressed(first, content);
      else this.received += content.toString('latin1');
    }
  }

  private takeCompressed(first: number, content: Buffer): void {
    this.compressed.push(content);
    if ((first & 0x80) === 0) return;
    const whole = Buffer.concat([...this.compressed, TAIL]);
    this.compressed = [];
    this.received += inflateRawSync(whole, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
  }
}

/** The request, right but for what `headers` say; '' leaves one out. */
export function request({ path = '/', headers = {} }: Ask = {}): string {
  const all = {
    Host: '127.0.0.1',
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Version': '13',
    ...headers,
  };
  const lines = Object.entries(all).filter(([, value]) => value !== '');
  return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** Connects, and says nothing yet. Ends with the test. */
export async function knock({ host, port }: ServerAddress, { authority, certificate }: Ask = {}): Promise<WebClient> {
  const tls = authority === undefined ? null : { ca: authority, cert: certificate?.certificate, key: certificate?.key };
  const socket = tls === null ? connect({ host, port }) : connectTls({ host, port, servername: 'localhost', ...tls });
  await new Promise<void>((resolve, reject) => {
    socket.once(tls === null ? 'connect' : 'secureConnect', resolve);
    socket.once('error', reject);
  });
  const client = new WebClient(socket);
  onTestFinished(() => void socket.destroy());
  return client;
}

/** Asks, and has the answer. */
export async function ask(address: ServerAddress, how: Ask = {}): Promise<WebClient> {
  const client = await knock(address, how);
  client.send(request(how));
  await until(() => client.answer !== '', 'an answer');
  return client;
}

/** Asks, is taken, and has read INFO. */
export async function enter(address: ServerAddress, how: Ask = {}): Promise<WebClient & { readonly info: Info }> {
  const client = await ask(address, how);
  if (client.status !== 101) throw new Error(`refused: ${client.answer}`);
  await client.expect('\r\n');
  const info = JSON.parse(/^INFO (.*) \r\n/.exec(client.received)?.[1] ?? 'null') as Info;
  return Object.assign(client, { info });
}

/** What a test looks at. */
export interface Info {
  readonly host: string;
  readonly port: number;
  readonly client_ip?: string;
  readonly auth_required?: boolean;
  readonly tls_required?: boolean;
  readonly tls_available?: boolean;
  readonly nonce?: string;
  readonly compression?: string;
  readonly connect_urls?: string[];
}
