/** S2 streams in tests: chunks made by hand, whole streams read in pieces, and something worth compressing. */
import { crc32c, masked } from '../../leafnode/s2/crc32c.ts';
import { StreamDecoder } from '../../leafnode/s2/stream-decoder.ts';
import { type Effort, StreamEncoder } from '../../leafnode/s2/stream-encoder.ts';

const HEADROOM_BYTES = 64;
/** Streams are left and gone on with. */
const CONTENT_BYTES_AT_A_TIME = 1000;

export const IDENTIFIER: Buffer = Buffer.from('\xff\x06\x00\x00S2sTwO', 'latin1');

export function chunk(type: number, body: Uint8Array): Buffer {
  const header = Buffer.from([type, 0, 0, 0]);
  header.writeUIntLE(body.length, 1, 3);
  return Buffer.concat([header, body]);
}

/** A chunk with the checksum of `content`, whose body holds it as it is or as a block. */
export function contentChunk(content: Buffer, block: Uint8Array | null): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeInt32LE(masked(crc32c(content, 0, content.length, 0)));
  return chunk(block === null ? 1 : 0, Buffer.concat([checksum, block ?? content]));
}

export interface S2Content {
  readonly content: Buffer;
  /** Empty: none. */
  readonly failure: string;
}

/** Reads the pieces one after the other, each from a buffer that is overwritten afterwards. */
export function readS2(pieces: readonly Uint8Array[]): S2Content {
  const contents: Buffer[] = [];
  const decoder = new StreamDecoder(
    {
      content: (buffer, start, end) => {
        buffer.fill(0xdd, start - HEADROOM_BYTES, start);
        contents.push(Buffer.from(buffer.subarray(start, end)));
        return true;
      },
    },
    HEADROOM_BYTES,
  );
  for (const piece of pieces) {
    const read = Buffer.alloc(HEADROOM_BYTES + piece.length);
    read.set(piece, HEADROOM_BYTES);
    let at = HEADROOM_BYTES;
    while (at < read.length && !decoder.isStopped) at = decoder.read(read, at, read.length, CONTENT_BYTES_AT_A_TIME);
    if (decoder.isStopped) break;
    read.fill(0xdd);
  }
  return { content: Buffer.concat(contents), failure: decoder.failure };
}

/** One write after the other, compressed or only framed. */
export function writeS2(
  writes: readonly (readonly Uint8Array[])[],
  isCompressed: boolean,
  effort: Effort = 'fast',
): Buffer {
  const encoder = new StreamEncoder();
  const framed = writes.map((pieces) => {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const target = Buffer.alloc(encoder.framedBytesMax(length));
    const used = isCompressed
      ? encoder.compress(pieces, length, target, effort)
      : encoder.frame(pieces, length, target);
    return Buffer.concat([target.subarray(0, used), ...(isCompressed ? [] : pieces)]);
  });
  return Buffer.concat(framed);
}

/** Messages of sensors as a leaf link carries them, always the same. */
export function telemetry(bytes: number): Buffer {
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state / 0x80000000) * limit;
  };
  let text = '';
  for (let seq = 0; text.length < bytes; seq++) {
    const press = Math.floor(below(50));
    const json = JSON.stringify({
      device: `press-${press}`,
      site: 'plant-7',
      time: `2026-03-01T12:${String(seq % 60).padStart(2, '0')}:07.${String(Math.floor(below(1000))).padStart(3, '0')}Z`,
      seq,
      temperature: Number((20 + below(15)).toFixed(2)),
      pressure: Number((1000 + below(50)).toFixed(1)),
      status: below(1) < 0.9 ? 'ok' : 'warn',
      vibration: { x: Number(below(1).toFixed(4)), y: Number(below(1).toFixed(4)), z: Number(below(1).toFixed(4)) },
    });
    text += `LMSG plant.7.press.${press}.telemetry ${json.length}\r\n${json}\r\n`;
  }
  return Buffer.from(text.slice(0, bytes), 'latin1');
}
