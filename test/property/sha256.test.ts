/** The digest that petiole makes itself, against that of the runtime. */
import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../server/protocol/sha256.ts';

function ofRuntime(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('SHA-256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('of "%s" is that of the standard', (text, expected) => {
    expect(sha256(Buffer.from(text)).toString('hex')).toBe(expected);
  });

  it('is that of the runtime at each length around the ends of blocks', () => {
    for (let length = 0; length <= 260; length++) {
      const bytes = Buffer.alloc(length, 0xa5);
      expect(sha256(bytes).toString('hex')).toBe(ofRuntime(bytes));
    }
  });

  it('is that of the runtime for any bytes, and one digest leaves nothing to the next', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 1000 }), { minLength: 1, maxLength: 3 }), (texts) => {
        for (const bytes of texts) expect(sha256(bytes).toString('hex')).toBe(ofRuntime(bytes));
      }),
    );
  });

  it('is that of the runtime for as many bytes as a large file has', () => {
    const bytes = Buffer.from(Array.from({ length: 70_001 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));
    expect(sha256(bytes).toString('hex')).toBe(ofRuntime(bytes));
  });
});
