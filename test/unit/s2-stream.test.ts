/** S2 streams: each form that a block and a chunk can have, what is refused and why, and how small telemetry gets. */
import { describe, expect, it } from 'vitest';
import { crc32c, masked } from '../../leafnode/s2/crc32c.ts';
import { StreamDecoder } from '../../leafnode/s2/stream-decoder.ts';
import { chunk, contentChunk, IDENTIFIER, readS2, telemetry, writeS2 } from '../helpers/s2-stream.ts';

const SNAPPY = Buffer.from('\xff\x06\x00\x00sNaPpY', 'latin1');

/** A block's length and its tags. */
function block(length: number, ...parts: (string | readonly number[])[]): Buffer {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part)));
  const varint = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >>> 7];
  return Buffer.concat([Buffer.from(varint), ...bytes]);
}

function decoded(content: string, ...parts: (string | readonly number[])[]): string {
  const { content: read, failure } = readS2([
    IDENTIFIER,
    contentChunk(Buffer.from(content, 'latin1'), block(content.length, ...parts)),
  ]);
  return failure === '' ? read.toString('latin1') : failure;
}

describe('the checksum', () => {
  it('is CRC-32C', () => {
    const check = Buffer.from('123456789');
    expect(crc32c(check, 0, check.length, 0) >>> 0).toBe(0xe3069283);
    const zeros = Buffer.alloc(32);
    expect(crc32c(zeros, 0, zeros.length, 0) >>> 0).toBe(0x8a9136aa);
  });

  it('can be taken of pieces', () => {
    const bytes = telemetry(1000);
    const whole = crc32c(bytes, 0, bytes.length, 0);
    for (const at of [0, 1, 7, 8, 9, 500, 999]) {
      expect(crc32c(bytes, at, bytes.length, crc32c(bytes, 0, at, 0))).toBe(whole);
    }
  });

  it('is the same wherever the bytes lie, and however many they are', () => {
    const bytes = telemetry(200);
    const bitwise = (from: number, to: number): number => {
      let crc = ~0;
      for (let at = from; at < to; at++) {
        crc ^= bytes[at] as number;
        for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
      }
      return ~crc;
    };
    for (let from = 0; from < 9; from++) {
      const shifted = bytes.subarray(from % 4);
      for (let to = from + 8; to < 200; to++) {
        expect(crc32c(shifted, from - (from % 4), to - (from % 4), 0)).toBe(bitwise(from, to));
      }
    }
  });

  it('is carried masked', () => {
    expect(masked(0) >>> 0).toBe(0xa282ead8);
    expect(masked(0x12345678) >>> 0).toBe((((0x12345678 >>> 15) | (0x12345678 << 17)) + 0xa282ead8) >>> 0);
  });
});

describe('a block', () => {
  it.each<[string, string, (string | readonly number[])[]]>([
    ['a short literal', 'abc', [[2 << 2], 'abc']],
    ['a literal with one byte of length', 'x'.repeat(100), [[60 << 2, 99], 'x'.repeat(100)]],
    ['a literal with two bytes of length', 'x'.repeat(300), [[61 << 2, 299 & 0xff, 299 >>> 8], 'x'.repeat(300)]],
    ['a literal with three bytes of length', 'x'.repeat(300), [[62 << 2, 299 & 0xff, 299 >>> 8, 0], 'x'.repeat(300)]],
    ['a literal with four bytes of length', 'x'.repeat(300), [[63 << 2, 43, 1, 0, 0], 'x'.repeat(300)]],
    ['a copy with one byte of offset', 'abcdabcd', [[3 << 2], 'abcd', [1, 4]]],
    ['a copy with two bytes of offset', 'abcdabc', [[3 << 2], 'abcd', [(2 << 2) | 2, 4, 0]]],
    ['a copy with four bytes of offset', 'abcda', [[3 << 2], 'abcd', [3, 4, 0, 0, 0]]],
    ['a copy that overlaps itself', 'ab'.repeat(33), [[1 << 2], 'ab', [(63 << 2) | 2, 2, 0]]],
    ['a repeat', 'abcdabcdXabcd', [[3 << 2], 'abcd', [1, 4], [0], 'X', [(3 << 2) | 2, 5, 0]]],
    ['a short repeat', 'abcdeabcdeabcd', [[4 << 2], 'abcde', [(1 << 2) | 1, 5], [1, 0]]],
    ['a repeat with one byte of length', 'a'.repeat(25), [[0], 'a', [1, 1], [(5 << 2) | 1, 0, 12]]],
    ['a repeat with two bytes of length', 'a'.repeat(270), [[0], 'a', [1, 1], [(6 << 2) | 1, 0, 5, 0]]],
    ['a repeat with three bytes of length', 'a'.repeat(5 + 65_541), [[0], 'a', [1, 1], [(7 << 2) | 1, 0, 1, 0, 0]]],
  ])('with %s', (_, content, parts) => {
    const length = content.length;
    const varint = [(length & 0x7f) | 0x80, ((length >>> 7) & 0x7f) | 0x80, length >>> 14];
    const bytes = Buffer.concat([Buffer.from(varint), block(0, ...parts).subarray(1)]);
    expect(readS2([IDENTIFIER, contentChunk(Buffer.from(content, 'latin1'), bytes)])).toEqual({
      content: Buffer.from(content, 'latin1'),
      failure: '',
    });
  });

  it.each<[string, (string | readonly number[])[]]>([
    ['a literal longer than the block', [[9 << 2], 'abc']],
    ['a literal longer than the content', [[4 << 2], 'abcde']],
    ['a literal whose length is cut', [[61 << 2, 1]]],
    ['a copy from before the content', [[0], 'a', [(1 << 2) | 2, 2, 0]]],
    ['a copy of offset 0', [[0], 'a', [(1 << 2) | 2, 0, 0]]],
    ['a repeat of nothing', [[1, 0]]],
    ['a copy beyond the content', [[0], 'a', [(7 << 2) | 2, 1, 0]]],
    ['a copy that is cut', [[0], 'a', [(1 << 2) | 2, 1]]],
    ['a long copy that is cut', [[0], 'a', [3, 1, 0, 0]]],
    ['a repeat that is cut', [[0], 'a', [(5 << 2) | 1, 0]]],
    ['less content than it announced', [[1 << 2], 'ab']],
    ['no content at all', []],
  ])('is refused with %s', (_, parts) => {
    expect(decoded('abc', ...parts)).toBe('a block that is corrupt');
  });

  it('is refused without a length that can be', () => {
    const read = (bytes: number[]): string =>
      readS2([IDENTIFIER, contentChunk(Buffer.alloc(0), Buffer.from(bytes))]).failure;
    expect(read([])).toBe('a block without length');
    expect(read([0x80, 0x80])).toBe('a block without length');
    expect(read([0xff, 0xff, 0xff, 0xff, 0xff, 1])).toBe('a block without length');
    expect(read([0xff, 0xff, 0xff, 0x7f])).toBe('a block of 268435455 bytes');
  });
});

describe('a stream', () => {
  const hello = contentChunk(Buffer.from('hello'), null);

  it('holds what is to be skipped, and says again what it is', () => {
    const skipped = [0x80, 0x99, 0xfd, 0xfe].map((type) => chunk(type, Buffer.alloc(type)));
    const stream = Buffer.concat([
      IDENTIFIER,
      ...skipped,
      hello,
      chunk(0xfe, Buffer.alloc(0)),
      IDENTIFIER,
      hello,
      SNAPPY,
      hello,
    ]);
    expect(readS2([stream])).toEqual({ content: Buffer.from('hellohellohello'), failure: '' });
    for (let at = 1; at < stream.length; at++) {
      expect(readS2([stream.subarray(0, at), stream.subarray(at)]).content.toString('latin1')).toBe('hellohellohello');
    }
    expect(readS2(Array.from(stream, (byte) => Buffer.from([byte]))).content.toString('latin1')).toBe(
      'hellohellohello',
    );
  });

  it.each<[string, Buffer[], string]>([
    ['no identifier', [hello], 'it does not begin with an identifier but with a chunk of type 1'],
    [
      'padding before its identifier',
      [chunk(0xfe, Buffer.alloc(1))],
      'it does not begin with an identifier but with a chunk of type 254',
    ],
    ['another name', [chunk(0xff, Buffer.from('S3sTwO'))], 'an unknown identifier'],
    ['a name of another length', [chunk(0xff, Buffer.from('S2sTw'))], 'an identifier of 5 bytes'],
    ['a reserved type', [IDENTIFIER, chunk(0x7f, Buffer.alloc(4))], 'a chunk of the reserved type 127'],
    ['a chunk without checksum', [IDENTIFIER, chunk(1, Buffer.alloc(3))], 'a chunk of 3 bytes without checksum'],
    ['a chunk that is too long', [IDENTIFIER, Buffer.from([0, 0xff, 0xff, 0xff])], 'a chunk of 16777215 bytes'],
    ['a wrong checksum', [IDENTIFIER, chunk(1, Buffer.from('abcdhello'))], 'content whose checksum is wrong'],
    ['a block that Snappy does not know', [SNAPPY, contentChunk(Buffer.alloc(65_537), null)], 'a block of 65537 bytes'],
  ])('is given up at %s', (_, pieces, failure) => {
    expect(readS2([Buffer.concat([...pieces, IDENTIFIER, hello])])).toEqual({ content: Buffer.alloc(0), failure });
  });

  it('ends when nobody wants more of it', () => {
    const stream = writeS2([[Buffer.from('first')], [Buffer.from('second')]], false);
    const contents: string[] = [];
    const content = (buffer: Buffer, start: number, end: number): boolean => {
      contents.push(buffer.toString('latin1', start, end));
      return false;
    };
    const decoder = new StreamDecoder({ content }, 0);
    const at = decoder.read(stream, 0, stream.length, 1000);
    expect(contents).toEqual(['first']);
    expect(decoder.isStopped).toBe(true);
    // It can be gone on with.
    decoder.read(stream, at, stream.length, 1000);
    expect(contents).toEqual(['first', 'second']);
  });

  it('is left when enough of its content has been handed on', () => {
    const stream = writeS2([[Buffer.from('first')], [Buffer.from('second')], [Buffer.from('third')]], false);
    const contents: string[] = [];
    const content = (buffer: Buffer, start: number, end: number): boolean => {
      contents.push(buffer.toString('latin1', start, end));
      return true;
    };
    const decoder = new StreamDecoder({ content }, 0);
    const at = decoder.read(stream, 0, stream.length, 6);
    expect(contents).toEqual(['first', 'second']);
    expect(decoder.read(stream, at, stream.length, 6)).toBe(stream.length);
    expect(contents).toEqual(['first', 'second', 'third']);
  });
});

describe('what is written', () => {
  it('says once what it is', () => {
    const stream = writeS2([[Buffer.from('PING\r\n')], [Buffer.from('PONG\r\n')]], true);
    expect(stream.indexOf('S2sTwO')).toBe(4);
    expect(stream.lastIndexOf('S2sTwO')).toBe(4);
    expect(readS2([stream]).content.toString('latin1')).toBe('PING\r\nPONG\r\n');
  });

  it('holds everything of a write, so that nobody waits for more', () => {
    const first = writeS2([[telemetry(1000)]], true);
    expect(readS2([first]).content).toEqual(telemetry(1000));
  });

  // Sizes that nats-server's s2_fast comes to with these bytes: 1,326, 15,422 and 230,416; a tenth more is allowed.
  it.each([
    [4096, 1458],
    [65_536, 16_964],
    [1_048_576, 253_457],
  ])('is small: %i bytes of telemetry become at most %i', (bytes, most) => {
    expect(writeS2([[telemetry(bytes)]], true).length).toBeLessThanOrEqual(most);
  });

  // Sizes that nats-server's s2_best comes to with these bytes.
  it.each([
    [300, 244],
    [4096, 1234],
    [16_384, 4063],
    [65_536, 13_930],
  ])('is smaller with more effort: %i bytes of telemetry become at most %i', (bytes, most) => {
    const stream = writeS2([[telemetry(bytes)]], true, 'thorough');
    expect(stream.length).toBeLessThanOrEqual(most);
    expect(readS2([stream]).content).toEqual(telemetry(bytes));
  });

  it('is made with less effort where it is so much that a turn would be too long', () => {
    expect(writeS2([[telemetry(65_537)]], true, 'thorough')).toEqual(writeS2([[telemetry(65_537)]], true, 'fast'));
  });

  it('is hardly larger than what cannot be compressed', () => {
    let state = 7;
    const noise = Buffer.from(
      Array.from({ length: 5000 }, () => (state = Math.imul(state, 48_271) ^ (state >>> 9)) & 0xff),
    );
    for (const effort of ['fast', 'thorough'] as const) {
      expect(writeS2([[noise]], true, effort).length).toBe(noise.length + 18);
    }
  });

  it('comes to a thousandth where everything is equal', () => {
    expect(writeS2([[Buffer.alloc(1_000_000, 'a')]], true).length).toBeLessThan(1000);
  });
});
