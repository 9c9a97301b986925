/**
 * A hub that agrees to speak WebSocket and then sends each link that dials the bytes that the test says. `webFrame` makes
 * those that are frames.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** What a link that dialled is sent; `opening` is the answer that agrees. */
export type Treatment = (socket: Socket, opening: Buffer) => void;

export class HostileWebHub {
  /** Links that have dialled. */
  links = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(treatment: Treatment) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      // The link closes as it likes.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
      let head = '';
      const read = (bytes: Buffer): void => {
        head += bytes.toString('latin1');
        const [, key] = /Sec-WebSocket-Key: (\S+)\r\n(?:.*\r\n)*\r\n/.exec(head) ?? [];
        if (key === undefined) return;
        socket.off('data', read);
        socket.resume();
        this.links++;
        treatment(socket, agreement(key, head.includes('permessage-deflate')));
      };
      socket.on('data', read);
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

function agreement(key: string, deflates: boolean): Buffer {
  const accept = createHash('sha1').update(key).update(MAGIC).digest('base64');
  const extension = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  lines.push(`Sec-WebSocket-Accept: ${accept}`);
  if (deflates) lines.push(`Sec-WebSocket-Extensions: ${extension}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** A frame; `first` is its first byte: 0x82 a whole message, 0xc2 a compressed one, 0x89 a ping. */
export function webFrame(first: number, content: Uint8Array): Buffer {
  return Buffer.concat([webHeader(first, content.length), content]);
}

/** The header of a frame with so many bytes of content. */
export function webHeader(first: number, length: number): Buffer {
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  header[0] = first;
  header[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (header.length === 4) header.writeUInt16BE(length, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}

/** Starts one; it listens until the test has ended. */
export async function startHostileWebHub(treatment: Treatment): Promise<HostileWebHub> {
  const hub = new HostileWebHub(treatment);
  await hub.listen();
  onTestFinished(() => hub.close());
  return hub;
}
