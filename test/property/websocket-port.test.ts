/**
 * What comes to the WebSocket port means the same however it is cut: requests, and masked frames with what lies between
 * them.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ControlCode, OpCode } from '../../server/websocket/frame.ts';
import { FrameDecoder, type FrameSink } from '../../server/websocket/frame-decoder.ts';
import { RequestHead } from '../../server/websocket/request-head.ts';
import { frame, request } from '../helpers/web-client.ts';

/** Where something is cut into pieces. */
const cuts = fc.array(fc.nat(), { maxLength: 12 });

function pieces(whole: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...at.map((each) => each % (whole.length + 1)), whole.length])].sort((a, b) => a - b);
  return places.slice(1).map((end, i) => whole.subarray(places[i], end));
}

/** Each piece at some place of a buffer with something around it, as what was read is. */
function feed(
  whole: Buffer,
  at: readonly number[],
  read: (buffer: Buffer, start: number, end: number) => number,
): void {
  for (const [i, piece] of pieces(whole, at).entries()) {
    const start = 1 + (i % 7);
    const buffer = Buffer.alloc(start + piece.length + 5, 0xdd);
    piece.copy(buffer, start);
    for (let from = start; from < start + piece.length;) from = read(buffer, from, start + piece.length);
    buffer.fill(0xdd);
  }
}

interface Message {
  readonly content: Buffer;
  readonly frames: number;
  readonly text: boolean;
  /** Sent in the middle of it. */
  readonly ping: Buffer | null;
}

function framesOf({ content, frames, text, ping }: Message): Buffer {
  const length = Math.max(1, Math.ceil(content.length / frames));
  const all: Buffer[] = [];
  for (let at = 0; at === 0 || at < content.length; at += length) {
    const final = at + length >= content.length;
    all.push(frame(content.subarray(at, at + length), { code: at === 0 ? (text ? 1 : 2) : 0, final }));
    if (ping !== null) all.push(frame(ping, { code: OpCode.ping }));
  }
  return Buffer.concat(all);
}

class Heard implements FrameSink {
  readonly messages: Buffer[] = [];
  readonly pings: string[] = [];
  private parts: Buffer[] = [];

  content(buffer: Buffer, start: number, end: number, _isCompressed: boolean, isLast: boolean): boolean {
    this.parts.push(Buffer.from(buffer.subarray(start, end)));
    if (!isLast) return true;
    this.messages.push(Buffer.concat(this.parts));
    this.parts = [];
    return true;
  }

  control(code: ControlCode, content: Buffer): boolean {
    if (code === OpCode.ping) this.pings.push(content.toString('latin1'));
    return true;
  }
}

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((each) => Buffer.from(each));
const message: fc.Arbitrary<Message> = fc.record({
  content: fc.oneof(bytes(40), bytes(400), fc.constant(Buffer.alloc(70_000, 'x'))),
  frames: fc.integer({ min: 1, max: 5 }),
  text: fc.boolean(),
  ping: fc.option(bytes(125)),
});

describe('masked frames', () => {
  test('give what was put into them, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), cuts, (messages, at) => {
        const heard = new Heard();
        const decoder = new FrameDecoder(heard);
        decoder.expectsMasks = true;
        const stream = Buffer.concat(messages.map(framesOf));
        feed(stream, at, (buffer, start, end) => decoder.read(buffer, start, end));
        expect(decoder.failure).toBe('');
        expect(heard.messages.map(String)).toEqual(messages.map(({ content }) => String(content)));
        const pings = messages.flatMap((each) => {
          const count = Math.max(
            1,
            Math.ceil(each.content.length / Math.max(1, Math.ceil(each.content.length / each.frames))),
          );
          return each.ping === null ? [] : Array.from<string>({ length: count }).fill(each.ping.toString('latin1'));
        });
        expect(heard.pings).toEqual(pings);
      }),
    );
  });
});

describe('a request', () => {
  const value = fc
    .string({ unit: fc.constantFrom('a', 'b', ',', ';', '=', ' ', '"', '\t'), maxLength: 30 })
    .map((text) => text.trim());
  const headers = fc.dictionary(fc.stringMatching(/^X-[a-z]{1,8}$/), value, { maxKeys: 5 });

  test('says the same wherever it is cut, and leaves what follows', () => {
    fc.assert(
      fc.property(headers, cuts, bytes(20), (extra, at, behind) => {
        const text = Buffer.from(request({ path: '/a?b', headers: extra }), 'latin1');
        const head = new RequestHead();
        let taken = 0;
        feed(Buffer.concat([text, behind]), at, (buffer, start, end) => {
          if (head.isComplete) return end;
          const next = head.read(buffer, start, end);
          taken += next - start;
          return next;
        });
        expect([head.fault, head.isComplete, taken, head.keptBytes]).toEqual([null, true, text.length, 0]);
        expect([head.method, head.target, head.first('host')]).toEqual(['GET', '/a?b', '127.0.0.1']);
        const said = Object.entries(extra).filter(([, each]) => each !== '');
        expect(said.map(([name]) => head.first(name.toLowerCase()))).toEqual(said.map(([, each]) => each));
      }),
    );
  });

  test('that does not end is given up', () => {
    const head = new RequestHead();
    const piece = Buffer.from(`${request().slice(0, -2)}X: ${'y'.repeat(5_000)}`, 'latin1');
    let read = 0;
    while (head.fault === null && read < 100_000) {
      head.read(piece, 0, piece.length);
      read += piece.length;
    }
    expect(head.fault).toBe('431 Request Header Fields Too Large');
    expect(head.keptBytes).toBe(0);
    expect(read).toBeLessThan(50_000);
  });
});
