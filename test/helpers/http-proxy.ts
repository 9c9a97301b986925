/**
 * An HTTP proxy on 127.0.0.1 that knows CONNECT and nothing else: it joins who asks to whom they ask for, or answers what
 * the test tells it to.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

const OPENED = 'HTTP/1.1 200 Connection established\r\n\r\n';

export class HttpProxy {
  /** The heads of the requests, as they came. */
  readonly requests: string[] = [];
  /** Said instead of joining anybody; '' says nothing at all. */
  answer: string | Uint8Array | null = null;
  /** Says `answer` byte by byte. */
  drips = false;
  /** Ends the connection behind `answer`. */
  hangsUp = false;
  /** Said before the first bytes of the target, in the same write. */
  opening: string = OPENED;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** `tls`: it is spoken to over TLS, and shows this. */
  constructor(tls: TlsOptions | null) {
    const accept = (near: Socket): void => void this.#accept(near);
    this.#server = tls === null ? createServer(accept) : createTlsServer(tls, accept);
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Drops every connection there is. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.drop();
    await closed;
  }

  async #accept(near: Socket): Promise<void> {
    this.#keep(near);
    let head = '';
    while (!head.includes('\r\n\r\n')) {
      const [bytes] = (await once(near, 'data')) as [Buffer];
      head += bytes.toString('latin1');
    }
    this.requests.push(head);
    if (this.answer !== null) {
      await this.#say(near, Buffer.from(this.answer));
      if (this.hangsUp) near.end();
      return;
    }
    const [, host = '', port = ''] = /^CONNECT (\S+):(\d+) HTTP\/1\.1\r\n/.exec(head) ?? [];
    this.#join(near, connect({ host, port: Number(port) }));
  }

  async #say(near: Socket, bytes: Buffer): Promise<void> {
    near.setNoDelay(true);
    const length = this.drips ? 1 : bytes.length;
    for (let at = 0; at < bytes.length && !near.destroyed; at += length) {
      near.write(bytes.subarray(at, at + length));
      await setImmediate();
    }
  }

  #join(near: Socket, far: Socket): void {
    this.#keep(far);
    let opening = this.opening;
    far.on('data', (bytes) => {
      near.write(Buffer.concat([Buffer.from(opening), bytes]));
      opening = '';
    });
    far.on('connect', () => {
      // A target that waits for the first word has nothing that could come along.
      setTimeout(() => {
        if (opening !== '') near.write(opening);
        opening = '';
      }, 50);
    });
    near.on('data', (bytes) => far.write(bytes));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // 'close' follows.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

/** Starts a proxy; it is closed when the test has ended. */
export async function startHttpProxy(tls: TlsOptions | null = null): Promise<HttpProxy> {
  const proxy = new HttpProxy(tls);
  await proxy.listen();
  onTestFinished(() => proxy.close());
  return proxy;
}
