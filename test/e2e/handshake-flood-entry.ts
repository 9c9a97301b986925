/**
 * Shakes hands again and again over many connections at a time and closes each when that is done, as a process of its own.
 *
 *     node handshake-flood-entry.ts HOST PORT CONNECTIONS SECONDS     sends how many there were
 */
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

const MS_PER_SECOND = 1_000;
const [host = '', port = '', connections = '', seconds = ''] = process.argv.slice(2);
const endMs = performance.now() + Number(seconds) * MS_PER_SECOND;

/** Connects and shakes hands; whether that succeeded. */
function shakeHands(): Promise<boolean> {
  return new Promise((resolve) => {
    const plain = connect(Number(port), host);
    plain.on('error', () => resolve(false));
    plain.on('close', () => resolve(false));
    plain.once('data', () => {
      const encrypted = connectTls({ socket: plain, rejectUnauthorized: false });
      encrypted.on('error', () => resolve(false));
      encrypted.on('secureConnect', () => {
        resolve(true);
        encrypted.destroy();
      });
    });
  });
}

async function goOn(): Promise<number> {
  let count = 0;
  while (performance.now() < endMs) if (await shakeHands()) count++;
  return count;
}

const counts = await Promise.all(Array.from({ length: Number(connections) }, goOn));
process.send?.(counts.reduce((sum, each) => sum + each, 0));
process.exit();
