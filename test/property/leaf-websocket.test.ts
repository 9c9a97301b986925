/** What a socket that speaks WebSocket sends, whenever the system takes its writes and whatever the other end says between. */
import { setImmediate } from 'node:timers/promises';
import { constants, inflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Socket, SocketHandler } from '../../server/io/io.ts';
import { realIo } from '../../server/io/real-io.ts';
import { FramedSocket } from '../../server/websocket/framed-socket.ts';
import { webFrame } from '../helpers/hostile-web-hub.ts';

/** More than all parts of all writes. */
const TURNS_MAX = 200_000;
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);

/** A system that takes a write when the test says, or at once. */
class StagedSocket implements Socket {
  readonly remote = { host: 'h', port: 1 };
  readonly local = { host: 'h', port: 2 };
  sent = Buffer.alloc(0);
  isWriting = false;
  takesAtOnce = false;
  ends = 0;
  handler: SocketHandler | null = null;

  write(pieces: readonly Uint8Array[]): void {
    if (this.isWriting || this.ends > 0) throw new Error('a write too many');
    this.sent = Buffer.concat([this.sent, ...pieces]);
    this.isWriting = true;
    if (this.takesAtOnce) this.take();
  }

  /** The system has taken what is in flight. */
  take(): void {
    if (!this.isWriting) return;
    this.isWriting = false;
    this.handler?.written();
  }

  resume(): void {}

  end(): void {
    if (this.isWriting) throw new Error('ended in the midst of a write');
    this.ends++;
  }

  destroy(): void {}
}

class OpenSocket extends FramedSocket {
  constructor(socket: Socket, deflates: boolean, masks: boolean) {
    super(socket, realIo());
    this.open({ deflates, masks, expectsMasks: false });
  }
}

interface Frame {
  readonly first: number;
  readonly content: Buffer;
}

/** The frames that the bytes are, unmasked and inflated. */
function framesOf(bytes: Buffer, isMasked: boolean): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length;) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    let length = second & 0x7f;
    at += 2;
    if (length === 126) [length, at] = [bytes.readUInt16BE(at), at + 2];
    else if (length === 127) [length, at] = [Number(bytes.readBigUInt64BE(at)), at + 8];
    if (second >= 0x80 !== isMasked) throw new Error('the mask is wrong');
    const key = isMasked ? bytes.subarray(at, at + 4) : Buffer.alloc(4);
    at += isMasked ? 4 : 0;
    const content = Buffer.from(bytes.subarray(at, at + length)).map((byte, i) => byte ^ (key[i & 3] ?? 0));
    at += length;
    frames.push({ first: first & 0xbf, content: (first & 0x40) === 0 ? Buffer.from(content) : inflate(content) });
  }
  return frames;
}

function inflate(content: Uint8Array): Buffer {
  return inflateRawSync(Buffer.concat([content, TAIL]), { finishFlush: constants.Z_SYNC_FLUSH });
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.nat(90_000), { minLength: 1, maxLength: 4 }).map((write) => ({ write })) },
  { weight: 2, arbitrary: fc.string({ maxLength: 125, unit: 'binary-ascii' }).map((ping) => ({ ping })) },
  { weight: 4, arbitrary: fc.constant({ take: true }) },
  { weight: 1, arbitrary: fc.boolean().map((takesAtOnce) => ({ takesAtOnce })) },
  { weight: 1, arbitrary: fc.constant({ turn: true }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const settings = fc.record({
  deflates: fc.boolean(),
  masks: fc.boolean(),
  limit: fc.constantFrom(1000, 5000, 1_000_000),
});

class Run {
  readonly staged = new StagedSocket();
  readonly socket: OpenSocket;
  written = Buffer.alloc(0);
  readonly pings: string[] = [];
  private isWaiting = false;
  private next = 0;

  constructor({ deflates, masks, limit }: { deflates: boolean; masks: boolean; limit: number }) {
    this.socket = new OpenSocket(this.staged, deflates, masks);
    this.socket.limitMessages(limit);
    this.staged.handler = this.socket;
    const ignore = (): void => undefined;
    this.socket.attach({
      connected: ignore,
      data: () => true,
      written: () => (this.isWaiting = false),
      ended: ignore,
      closed: ignore,
    });
  }

  async play(one: Step): Promise<void> {
    if ('write' in one && !this.isWaiting) {
      const pieces = one.write.map((length) => Buffer.alloc(length, `${this.next++},`));
      this.written = Buffer.concat([this.written, ...pieces]);
      this.isWaiting = true;
      this.socket.write(pieces);
    }
    if ('ping' in one) {
      this.pings.push(one.ping);
      const frame = webFrame(0x89, Buffer.from(one.ping, 'latin1'));
      this.socket.data(frame, 0, frame.length);
    }
    if ('take' in one) this.staged.take();
    if ('takesAtOnce' in one) this.staged.takesAtOnce = one.takesAtOnce;
    if ('turn' in one) await setImmediate();
  }

  /** Ends it, and lets everything go out. */
  async finish(): Promise<void> {
    this.socket.end();
    for (let turn = 0; turn < TURNS_MAX && this.staged.ends === 0; turn++) {
      this.staged.take();
      await setImmediate();
    }
    this.socket.destroy();
  }
}

describe('a socket that speaks WebSocket', () => {
  it('sends everything once and in order, answers the last ping, and says good-bye', async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(step, { maxLength: 40 }), async (how, steps) => {
        const run = new Run(how);
        for (const one of steps) await run.play(one);
        await run.finish();
        const frames = framesOf(run.staged.sent, how.masks);
        const content = frames.filter(({ first }) => first === 0x82).map((frame) => frame.content);
        expect(Buffer.concat(content).equals(run.written)).toBe(true);
        const longest = Math.max(0, ...content.map(({ length }) => length));
        expect(longest).toBeLessThanOrEqual(how.deflates ? how.limit : run.written.length);
        const pongs = frames.filter(({ first }) => first === 0x8a).map((frame) => frame.content.toString('latin1'));
        expect(pongs.at(-1)).toBe(run.pings.at(-1));
        expect(pongs.length).toBeLessThanOrEqual(run.pings.length);
        expect(frames.at(-1)).toEqual({ first: 0x88, content: Buffer.from([0x03, 0xe8]) });
        expect(frames.filter(({ first }) => first === 0x88)).toHaveLength(1);
        expect(run.staged.ends).toBe(1);
      }),
      { numRuns: 150 },
    );
  });
});
