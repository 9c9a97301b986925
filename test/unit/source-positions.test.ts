/** Up to where a stream has got of its sources: what is noted is durable with the message that it belongs to. */
import { describe, expect, it } from 'vitest';
import { SourcePositions } from '../../jetstream/stream/source-positions.ts';

function restored(encoded: Buffer): SourcePositions {
  const positions = new SourcePositions();
  positions.decode(encoded);
  return positions;
}

describe('positions', () => {
  it('are known at once, and durable when the message is visible', () => {
    const positions = new SourcePositions();
    positions.note(1, 'A > >', 10, 'x');
    positions.note(2, 'B > >', 20, 'y');
    positions.note(3, 'A > >', 11, 'x');
    expect(positions.of('A > >')).toMatchObject({ sequence: 11, identity: 'x' });
    expect(positions.durableOf('A > >')).toBeNull();
    positions.stored(2);
    expect(positions.durableOf('A > >')).toEqual({ sequence: 10, identity: 'x' });
    expect(positions.durableOf('B > >')).toEqual({ sequence: 20, identity: 'y' });
    positions.stored(3);
    expect(positions.durableOf('A > >')).toEqual({ sequence: 11, identity: 'x' });
  });

  it('in a checkpoint are those of the messages that it reflects', () => {
    const positions = new SourcePositions();
    positions.note(1, 'A > >', 10, 'x');
    positions.note(2, 'A > >', 11, 'x');
    const { sequence, identity } = restored(positions.encode(1)).of('A > >') ?? {};
    expect([sequence, identity]).toEqual([10, 'x']);
    expect(new SourcePositions().encode(5)).toHaveLength(0);
  });

  it('of sources that are left are forgotten, also where they are not durable yet', () => {
    const positions = new SourcePositions();
    positions.note(1, 'A > >', 10, '');
    positions.note(2, 'B > >', 20, '');
    positions.stored(1);
    positions.keepOnly(['C > >']);
    positions.stored(2);
    expect([positions.of('A > >'), positions.of('B > >')]).toEqual([null, null]);
    expect(positions.encode(2)).toHaveLength(0);
  });

  it('of a source that was made anew stay durable until the first message of the new one is', () => {
    const positions = new SourcePositions();
    positions.restore('A > >', 10, 'old');
    positions.forget('A > >');
    expect(positions.of('A > >')).toBeNull();
    expect(positions.durableOf('A > >')).toEqual({ sequence: 10, identity: 'old' });
    positions.note(5, 'A > >', 1, 'new');
    positions.stored(5);
    expect(positions.durableOf('A > >')).toEqual({ sequence: 1, identity: 'new' });
  });

  it('keep no notes of what is visible', () => {
    const positions = new SourcePositions();
    for (let by = 1; by <= 100_000; by++) {
      positions.note(by, 'A > >', by, '');
      if (by % 100 === 0) positions.stored(by);
    }
    expect(JSON.stringify(positions)).not.toContain('99800');
  });
});
