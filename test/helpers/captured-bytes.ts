/** All pieces of a captured state in one. */
import type { Captured } from '../../jetstream/store/captured.ts';

export function capturedBytes(captured: Captured): Buffer {
  const pieces: Buffer[] = [];
  for (const piece of captured.pieces()) pieces.push(Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  if (bytes.length !== captured.bytes) throw new Error(`${bytes.length} bytes instead of ${captured.bytes}`);
  return bytes;
}
