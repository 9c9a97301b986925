/**
 * Hostile clients at the WebSocket port of a real process, before they have asked, before they have logged in and after:
 * what they say ends at every byte, is noise, floods the port or inflates to gigabytes. The process goes on in bounded
 * memory and takes a client that behaves. FUZZ_RUNS says how many noisy conversations there are, FUZZ_SEED replays them.
 */
/* oxlint-disable vitest/expect-expect -- the clients assert */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { isAbsent, petiole, type RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { enter, frame, knock, request } from '../helpers/web-client.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 300);
/** Connections at the same time. */
const TOGETHER = 48;
const STAY_MS = 20;
/** Less than any flood brings; payloads that the collector has not come to are most of it. */
const MEMORY_GROWTH_MIB_MAX = 96;
const COMPRESS = 0x40;

const CONNECT = 'CONNECT {"verbose":false,"user":"u","pass":"p"}\r\n';
const REQUEST = request({ headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate' } });

function deflated(content: Buffer | string): Buffer {
  const bytes = deflateRawSync(content, { finishFlush: constants.Z_SYNC_FLUSH });
  return bytes.subarray(0, bytes.length - 4);
}

/** One of everything. */
const CONVERSATION = Buffer.concat([
  frame(CONNECT),
  frame('SUB a 1\r\nPUB a 2\r\nhi\r\n'),
  frame('PUB a ', { final: false }),
  frame('x', { code: 9 }),
  frame('3\r\nabc\r\n', { code: 0 }),
  frame(deflated(`PUB a 70\r\n${'z'.repeat(70)}\r\n`), { reserved: COMPRESS }),
  frame(`PUB a 200\r\n${'z'.repeat(200)}\r\n`),
  frame(Buffer.from([0x03, 0xe8, 0x62]), { code: 8 }),
]);

async function startPort(): Promise<RunningServer> {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const block = 'websocket { listen: "127.0.0.1:-1", no_tls: true, compression: true }';
  return serve(
    target,
    `authorization { user: u, password: p, timeout: 60 }\nleafnodes { listen: "127.0.0.1:-1" }\n${block}`,
  );
}

/** Says it all, once it was taken if `asked`, stays for a moment and goes. */
async function play(port: number, asked: boolean, said: Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve));
  socket.on('error', () => undefined);
  if (asked) {
    socket.write(REQUEST);
    await Promise.race([closed, new Promise<void>((resolve) => void socket.once('data', () => resolve()))]);
  }
  socket.resume();
  socket.write(said);
  const leaving = setTimeout(() => (said.length % 2 === 0 ? socket.end() : socket.resetAndDestroy()), STAY_MS);
  await closed;
  clearTimeout(leaving);
}

async function playAll(server: RunningServer, asked: boolean, streams: readonly Buffer[]): Promise<void> {
  const { port } = await server.listening('websocket');
  for (let at = 0; at < streams.length; at += TOGETHER) {
    await Promise.all(streams.slice(at, at + TOGETHER).map((stream) => play(port, asked, stream)));
  }
}

/** Whoever behaves is served; why not otherwise. */
async function serves(server: RunningServer): Promise<void> {
  expect(server.exited ? server.log.slice(-2_000) : '').toBe('');
  const client = await enter(await server.listening('websocket'));
  client.say(`${CONNECT}SUB b 1\r\nPUB b 2\r\nok\r\n`);
  await client.expect('MSG b 1 2\r\nok\r\n');
}

function residentMib({ pid }: RunningServer, what: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('what ends at any byte', () => {
  test.each([
    ['a request', false, Buffer.from(REQUEST)],
    ['a conversation', true, CONVERSATION],
  ])('%s', async (_, asked, whole) => {
    const server = await startPort();
    await playAll(
      server,
      asked,
      Array.from({ length: whole.length }, (_none, i) => whole.subarray(0, i)),
    );
    await serves(server);
  });
});

const noise = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
const codes = fc.record({
  code: fc.constantFrom(0, 1, 2, 3, 8, 9, 10, 15),
  final: fc.boolean(),
  reserved: fc.constantFrom(0, 0, 0, COMPRESS, 0x20, 0x10),
  masked: fc.constantFrom(true, true, true, false),
});
const lengths = fc.option(fc.constantFrom(0, 125, 126, 65_535, 65_536, 2 ** 31, 2 ** 40), { nil: undefined });
const framed = fc.tuple(noise, codes, lengths).map(([content, parts, length]) => {
  return frame(content, length === undefined ? parts : { ...parts, length });
});
const edited = (whole: Buffer): fc.Arbitrary<Buffer> =>
  fc.array(fc.record({ at: fc.nat(10_000), byte: fc.nat(255) }), { minLength: 1, maxLength: 6 }).map((edits) => {
    const changed = Buffer.from(whole);
    for (const { at, byte } of edits) changed[at % changed.length] = byte;
    return changed;
  });
const parts = fc.array(fc.oneof(framed, noise), { maxLength: 8 }).map((each) => Buffer.concat(each));

describe('noise', () => {
  test.each<[string, boolean, fc.Arbitrary<Buffer>]>([
    ['in place of a request', false, fc.oneof(noise, edited(Buffer.from(REQUEST)))],
    ['before a login', true, fc.oneof(noise, parts, edited(CONVERSATION))],
    ['behind a login', true, parts.map((each) => Buffer.concat([frame(CONNECT), each]))],
  ])('%s', async (_, asked, hostile) => {
    const seed = Number(process.env['FUZZ_SEED'] ?? fc.sample(fc.nat(), 1)[0]);
    const server = await startPort();
    const failure = await playAll(server, asked, fc.sample(hostile, { numRuns: RUNS, seed }))
      .then(() => serves(server))
      .then(() => '', String);
    expect(failure, `FUZZ_SEED=${seed}`).toBe('');
  });
});

/** Writes `piece` again and again, no faster than it is taken, until so much was written or nobody takes it. */
async function pour(socket: Socket, piece: Buffer, bytes: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve));
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    if (!socket.write(piece)) {
      await Promise.race([closed, new Promise<void>((resolve) => void socket.once('drain', resolve))]);
    }
  }
}

const BOMB = deflated(Buffer.alloc(200 * 1024 * 1024));
const MIB = 1024 * 1024;

/** What one client does; `login` comes first where that is said. */
const FLOODS: Readonly<Record<string, { readonly login: boolean; readonly flood: (socket: Socket) => Promise<void> }>> =
  {
    'a bomb before a login': {
      login: false,
      flood: (socket) => pour(socket, frame(Buffer.concat([deflated('CONNECT {'), BOMB]), { reserved: COMPRESS }), 1),
    },
    'a bomb': {
      login: true,
      flood: (socket) => pour(socket, frame(Buffer.concat([deflated('PUB a 9\r\n'), BOMB]), { reserved: COMPRESS }), 1),
    },
    'a line without an end before a login': {
      login: false,
      flood: async (socket) => {
        socket.write(frame('CONNECT {"user":"', { length: 2 ** 40 }));
        await pour(socket, Buffer.alloc(MIB), 100 * MIB);
      },
    },
    'a payload that is too large': {
      login: true,
      flood: async (socket) => {
        socket.write(frame('PUB a 200000000\r\n', { length: 2 ** 40 }));
        await pour(socket, Buffer.alloc(MIB), 100 * MIB);
      },
    },
    'pings of which nobody reads the answers': {
      login: true,
      flood: async (socket) => {
        socket.pause();
        const pings = Array.from<Buffer>({ length: 1000 }).fill(frame(Buffer.alloc(125), { code: 9 }));
        await pour(socket, Buffer.concat(pings), 60 * MIB);
        socket.destroy();
      },
    },
    'empty frames before a login': {
      login: false,
      flood: async (socket) => {
        socket.write(frame('CONN', { final: false }));
        const empty = Array.from<Buffer>({ length: 10_000 }).fill(frame('', { code: 0, final: false }));
        await pour(socket, Buffer.concat(empty), 6 * MIB);
        socket.destroy();
      },
    },
  };

describe('floods', () => {
  test.each(Object.entries(FLOODS))('%s: needs little memory', async (_, { login, flood }) => {
    const server = await startPort();
    await serves(server);
    const before = residentMib(server, 'VmRSS');
    const client = await enter(await server.listening('websocket'), {
      headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate' },
    });
    if (login) client.say(CONNECT);
    await flood(client.socket);
    await until(() => client.hasEnded, 'the end of who floods', 30_000);
    await serves(server);
    expect(residentMib(server, 'VmHWM') - before).toBeLessThan(MEMORY_GROWTH_MIB_MAX);
  });

  test('of requests that never come in full: needs little memory, and others are served', async () => {
    const server = await startPort();
    await serves(server);
    const before = residentMib(server, 'VmRSS');
    const address = await server.listening('websocket');
    const piece = `${REQUEST.slice(0, -2)}X: ${'y'.repeat(30_000)}`;
    for (let i = 0; i < 600; i++) (await knock(address)).send(piece);
    await serves(server);
    expect(residentMib(server, 'VmHWM') - before).toBeLessThan(MEMORY_GROWTH_MIB_MAX);
  });
});
