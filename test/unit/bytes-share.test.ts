/** What streams hold together, of which each tells its own part. */
import { describe, expect, it } from 'vitest';
import { BytesShare } from '../../jetstream/stream/bytes-share.ts';

describe('bytes that streams share', () => {
  it('are the sum of what each holds now, however often it tells', () => {
    const total = { bytes: 0 };
    const [first, second] = [new BytesShare(total), new BytesShare(total)];
    first.set(300);
    second.set(50);
    first.set(300);
    expect(total.bytes).toBe(350);
    first.set(120);
    expect(total.bytes).toBe(170);
  });

  it('are free again when a stream goes, without what the others hold', () => {
    const total = { bytes: 1000 };
    const [stream, other] = [new BytesShare(total), new BytesShare(total)];
    other.set(40);
    stream.set(300);
    stream.set(0);
    expect(total.bytes).toBe(1040);
    stream.set(0);
    expect(total.bytes).toBe(1040);
  });
});
