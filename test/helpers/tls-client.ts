/** A client that speaks TLS: what the server says in clear first, the handshake, and then lines. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { CertificateFiles, TestAuthority } from './certificates.ts';
import { until } from './until.ts';
import type { ServerAddress } from './wire-client.ts';

export interface TlsClientOptions {
  readonly authority: TestAuthority;
  readonly certificate?: CertificateFiles;
  /** Shakes hands before the server says anything. */
  readonly isFirst?: boolean;
}

export class TlsClient {
  /** What came in clear, and what came encrypted. */
  clear = '';
  received = '';
  isClosed = false;
  socket: TLSSocket | null = null;

  send(text: string): void {
    this.socket?.write(text);
  }

  async sees(text: string | RegExp): Promise<void> {
    const has = (): boolean => (typeof text === 'string' ? this.received.includes(text) : text.test(this.received));
    await until(() => has() || this.isClosed, `${String(text)} to come`);
    if (!has()) throw new Error(`closed after ${JSON.stringify(this.received)}`);
  }
}

/** Connects and shakes hands; whether that succeeds shows in what comes. The socket goes with the test. */
export async function dialTls(address: ServerAddress, options: TlsClientOptions): Promise<TlsClient> {
  const client = new TlsClient();
  const plain = connectPlain(address.port, address.host);
  onTestFinished(() => void plain.destroy());
  plain.on('error', () => (client.isClosed = true));
  plain.on('close', () => (client.isClosed = true));
  if (options.isFirst !== true) await readInfo(plain, client);
  const { certificate } = options;
  const socket = connectTls({
    socket: plain,
    ca: options.authority.certificate,
    servername: 'localhost',
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
  });
  client.socket = socket;
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => (client.received += text));
  socket.on('error', () => (client.isClosed = true));
  socket.on('close', () => (client.isClosed = true));
  return client;
}

async function readInfo(plain: Socket, client: TlsClient): Promise<void> {
  const take = (bytes: Buffer): void => {
    client.clear += bytes.toString();
  };
  plain.on('data', take);
  await until(() => client.clear.includes('\r\n') || client.isClosed, 'INFO');
  plain.off('data', take);
  plain.pause();
}
