/**
 * A hostile hub behind WebSocket and a real process that dials it: conversations that end at every byte, noise, frames
 * without end and bombs that inflate. The process goes on in bounded memory and with links that dial again, and takes a
 * hub that behaves. FUZZ_RUNS says how many noisy conversations there are, FUZZ_SEED replays them.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { deflateRawSync, constants } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { startHostileWebHub, webFrame, webHeader } from '../helpers/hostile-web-hub.ts';
import { isAbsent, petiole, type RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { HUB_INFO } from '../helpers/scripted-hub.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 300);
/** Links that dial at the same time. */
const TOGETHER = 48;
const STAY_MS = 20;
/** Less than any flood brings; payloads that the collector has not come to are most of it. */
const MEMORY_GROWTH_MIB_MAX = 96;

const WHOLE = 0x82;
const [FIRST, LAST] = [0x02, 0x80];
const [COMPRESSED, PING, CLOSE] = [0xc2, 0x89, 0x88];

function text(content: string): Buffer {
  return Buffer.from(content, 'latin1');
}

function deflated(content: Buffer): Buffer {
  const bytes = deflateRawSync(content, { finishFlush: constants.Z_SYNC_FLUSH });
  return bytes.subarray(0, -4);
}

const OPEN = text(`INFO ${JSON.stringify(HUB_INFO)}\r\n`);
const JOINED = text(`INFO ${JSON.stringify({ ...HUB_INFO, connect_info: true, remote_account: 'A' })}\r\n`);
const HANDSHAKE = Buffer.concat([webFrame(WHOLE, OPEN), webFrame(WHOLE, JOINED)]);

/** One of everything. */
const CONVERSATION = Buffer.concat([
  HANDSHAKE,
  webFrame(WHOLE, text('LS+ a.>\r\nLMSG b 2\r\nhi\r\n')),
  webFrame(FIRST, text('LMSG b ')),
  webFrame(PING, text('x')),
  webFrame(LAST, text('3\r\nabc\r\n')),
  webFrame(COMPRESSED, deflated(text('LMSG b 70\r\n' + 'z'.repeat(70) + '\r\n'))),
  webFrame(WHOLE, text('LMSG b 200\r\n' + 'z'.repeat(200) + '\r\n')),
  webFrame(CLOSE, Buffer.from([0x03, 0xe8, 0x62])),
]);

async function startEdge(url: string, links: number): Promise<RunningServer> {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const remotes = Array.from({ length: links }, (_, i) => `{ url: "${url}/${i}", ws_compression: true }`);
  return serve(target, `leafnodes { reconnect: "10ms", remotes: [ ${remotes.join('\n')} ] }`);
}

/** '' if it has not. */
function whyExited(server: RunningServer): string {
  return server.exited ? server.log.slice(-2000) : '';
}

/** Sends each of the streams to one link that dials, then a handshake to each until all are open; why the process is gone. */
async function playAll(streams: readonly Buffer[]): Promise<string> {
  let next = 0;
  let opened = 0;
  const hub = await startHostileWebHub((socket, opening) => {
    const stream = streams[next++];
    if (stream === undefined) {
      opened++;
      socket.write(Buffer.concat([opening, HANDSHAKE]));
      return;
    }
    socket.write(Buffer.concat([opening, stream]));
    setTimeout(() => (next % 2 === 0 ? socket.end() : socket.resetAndDestroy()), STAY_MS);
  });
  const server = await startEdge(hub.url, TOGETHER);
  await until(() => next >= streams.length || server.exited, 'all streams to be sent', 60_000);
  await until(() => opened >= TOGETHER || server.exited, 'every link to open', 30_000);
  return whyExited(server);
}

test('a conversation that ends at any byte is dialled again', async () => {
  const streams = Array.from({ length: CONVERSATION.length }, (_, i) => CONVERSATION.subarray(0, i));
  expect(await playAll(streams)).toBe('');
}, 120_000);

const noise = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
const header = fc
  .tuple(fc.constantFrom(0x81, WHOLE, FIRST, 0x00, LAST, COMPRESSED, 0x42, PING, CLOSE, 0x8a, 0x8f, 0xf2), fc.nat(255))
  .map((bytes) => Buffer.from(bytes));
const lengths = fc.constantFrom('', '\0\0', '\xff\xff', '\x7f'.repeat(8), '\x80'.repeat(8), '\xff'.repeat(8)).map(text);
const edited = fc.array(fc.record({ at: fc.nat(10_000), byte: fc.nat(255) }), { minLength: 1, maxLength: 6 });
const hostile = fc.oneof(
  noise,
  fc.array(fc.oneof(header, lengths, noise), { maxLength: 8 }).map((parts) => Buffer.concat([HANDSHAKE, ...parts])),
  fc.tuple(header, noise).map(([first, content]) => Buffer.concat([HANDSHAKE, webFrame(first[0] ?? 0, content)])),
  noise.map((content) => Buffer.concat([HANDSHAKE, webFrame(COMPRESSED, content)])),
  edited.map((edits) => {
    const changed = Buffer.from(CONVERSATION);
    for (const { at, byte } of edits) changed[at % changed.length] = byte;
    return changed;
  }),
);

test('noise ends nothing but the link', async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? fc.sample(fc.nat(), 1)[0]);
  const failure = await playAll(fc.sample(hostile, { numRuns: RUNS, seed })).catch(String);
  expect(failure, `FUZZ_SEED=${seed}`).toBe('');
}, 120_000);

/** Writes `piece` again and again, no faster than it is taken. */
async function pour(socket: Socket, piece: Buffer, bytes: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve));
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    if (!socket.write(piece)) {
      await Promise.race([closed, new Promise<void>((resolve) => void socket.once('drain', resolve))]);
    }
  }
}

const PAYLOAD_BYTES = 64 * 1024;
const MESSAGE = text(`LMSG b ${PAYLOAD_BYTES}\r\n${'\0'.repeat(PAYLOAD_BYTES)}\r\n`);
const MESSAGES = 2400;

/** Each sends what it has to, and nothing behind it may stay unread. */
const floods: Readonly<Record<string, (socket: Socket) => Promise<void>>> = {
  'a message that inflates to 150 MiB': async (socket) => {
    const part = deflateRawSync(MESSAGE, { finishFlush: constants.Z_SYNC_FLUSH });
    const parts = Array.from<Buffer>({ length: MESSAGES }).fill(part);
    await pour(socket, webFrame(COMPRESSED, Buffer.concat(parts).subarray(0, -4)), 1);
  },
  'a frame of 150 MiB': async (socket) => {
    socket.write(webHeader(WHOLE, MESSAGE.length * MESSAGES));
    await pour(socket, MESSAGE, MESSAGE.length * MESSAGES);
  },
  'a message of a million empty frames': async (socket) => {
    socket.write(webFrame(FIRST, text('LS+ a\r\n')));
    await pour(socket, Buffer.from('00'.repeat(64 * 1024), 'hex'), 2e6);
    socket.write(webFrame(LAST, text('LS- a\r\n')));
  },
  'a million pings, and reads none of the answers': async (socket) => {
    socket.pause();
    const pings = Array.from<Buffer>({ length: 1000 }).fill(webFrame(PING, Buffer.alloc(125)));
    await pour(socket, Buffer.concat(pings), 127e6);
    socket.resume();
  },
  'very many small messages, each compressed': async (socket) => {
    const one = webFrame(COMPRESSED, deflated(text('LMSG b 1\r\n.\r\n')));
    await pour(socket, Buffer.concat(Array.from<Buffer>({ length: 1000 }).fill(one)), 20_000 * one.length);
  },
};

function residentMib({ pid }: RunningServer, what: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

test.each(Object.keys(floods))(
  '%s: needs little memory, and the link goes on',
  async (name) => {
    const [beginning, release] = [withResolver(), withResolver()];
    let answered = false;
    const hub = await startHostileWebHub((socket, opening) => {
      socket.write(Buffer.concat([opening, HANDSHAKE]));
      void release.promise.then(async () => {
        await floods[name]?.(socket);
        socket.on('data', (bytes) => {
          if (bytes.includes(0x8a)) answered = true;
        });
        socket.write(webFrame(PING, text('are you there?')));
      });
      beginning.resolve();
    });
    const server = await startEdge(hub.url, 1);
    await beginning.promise;
    const before = residentMib(server, 'VmRSS');
    release.resolve();
    await until(() => answered || server.exited, 'an answer behind the flood', 60_000);
    expect(whyExited(server)).toBe('');
    expect(hub.links).toBe(1);
    expect(residentMib(server, 'VmHWM') - before).toBeLessThan(MEMORY_GROWTH_MIB_MAX);
  },
  90_000,
);

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, resolve };
}
