/**
 * Stores one message after the other and waits for each, as a process of its own: what keeps the one busy that floods the
 * server does not count.
 *
 *     node bystander-entry.ts HOST PORT [CA]     with a file of certificates it speaks TLS; sends 'begun', and when it hears
 *                                                anything the milliseconds that each message took
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_MS = 5;
const STREAM = JSON.stringify({ name: 'S', subjects: ['s'], max_msgs: 100, storage: 'file' });

const [host = '', port = '', authority] = process.argv.slice(2);
let received = '';
let wake: () => void = () => undefined;

/** Waits until a line says so, and forgets what came before it. */
async function sees(text: string): Promise<void> {
  for (let at = received.indexOf(text); ; at = received.indexOf(text)) {
    if (at >= 0) {
      received = received.slice(at + text.length);
      return;
    }
    await new Promise<void>((resolve) => (wake = resolve));
  }
}

function listen(socket: Socket): Socket {
  socket.setNoDelay(true);
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    wake();
  });
  return socket;
}

async function open(): Promise<Socket> {
  const plain = connect(Number(port), host);
  if (authority === undefined) return listen(plain);
  await new Promise<void>((resolve) => void plain.once('data', () => resolve()));
  const ca = readFileSync(authority, 'utf8');
  return listen(connectTls({ socket: plain, ca, servername: 'localhost' }));
}

const socket = await open();
socket.on('close', () => process.exit(1));
socket.write('CONNECT {"verbose":false,"user":"u","pass":"p"}\r\nPING\r\n');
await sees('PONG\r\n');
socket.write(`SUB _I 1\r\nPUB $JS.API.STREAM.CREATE.S _I ${STREAM.length}\r\n${STREAM}\r\n`);
await sees('"did_create":true');
const stop = new AbortController();
process.on('message', () => stop.abort());
process.on('disconnect', () => process.exit());
process.send?.('begun');
const tookMs: number[] = [];
for (let sequence = 1; !stop.signal.aborted; sequence++) {
  const before = performance.now();
  socket.write('PUB s _I 2\r\nhi\r\n');
  await sees(`"seq":${sequence}}`);
  tookMs.push(performance.now() - before);
  await delay(BETWEEN_MS);
}
process.send?.(tookMs);
