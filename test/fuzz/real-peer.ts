/** A peer on a real port that sends given pieces one after another, in clear or encrypted, and hangs up or is silent. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { ServerAddress } from '../helpers/wire-client.ts';
import type { PeerScript } from './hostile-peer.ts';

const PIECE_PAUSE_MS_MAX = 5;
/** Whoever stays hangs up after this. */
const STAY_MS = 50;
const WITHIN_MS = 1_000;

/** Plays the script; resolves when the connection is gone, whoever ended it. */
export async function attack(address: ServerAddress, script: PeerScript, isEncrypted: boolean): Promise<void> {
  const plain = connect(address.port, address.host);
  const gone = closed(plain);
  const deadline = setTimeout(() => plain.destroy(), WITHIN_MS);
  try {
    const socket = isEncrypted ? await encrypted(plain) : plain;
    if (script.reads) socket.resume();
    for (const piece of script.pieces) {
      if (socket.destroyed) break;
      socket.write(piece);
      await delay(Math.min(PIECE_PAUSE_MS_MAX, script.pauseMs));
    }
    if (script.ending === 'stay') await delay(STAY_MS);
    if (script.ending === 'end') {
      socket.resume();
      socket.end();
    } else plain.destroy();
    await gone;
  } finally {
    clearTimeout(deadline);
    plain.destroy();
  }
}

/** Shakes hands behind the server's INFO; a connection that ends before is as good as one that ends later. */
async function encrypted(plain: Socket): Promise<Socket> {
  await Promise.race([once(plain, 'data'), closed(plain)]);
  plain.pause();
  const socket = connectTls({ socket: plain, rejectUnauthorized: false });
  socket.on('error', () => plain.destroy());
  await Promise.race([once(socket, 'secureConnect').catch(() => undefined), closed(plain)]);
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    // Whatever becomes of a connection, it is closed in the end.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => resolve());
  });
}

/** The first bytes that a client sends to shake hands. */
export async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1' });
  client.on('error', () => client.destroy());
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return hello;
}
