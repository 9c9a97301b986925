/** What waits to be sent: in which order and in how many writes it leaves, and that its memory comes back. */
import { describe, expect, it } from 'vitest';
import { ChunkPool } from '../../server/connection/chunk-pool.ts';
import { OutboundQueue, type QueueOwner } from '../../server/connection/outbound-queue.ts';
import { Outbound } from '../../server/connection/outbound.ts';
import type { Io, Socket } from '../../server/io/io.ts';
import type { Producer } from '../../server/ports.ts';
import { patterned } from './network-recorder.ts';

const TOGETHER = 8;
const CHUNK_BYTES = 65_536;

/** Timers that run when they are told to, and a clock that stands still. */
class Turn {
  private readonly ends: (() => void)[] = [];

  get io(): Io {
    const io = {
      clock: { monotonicMs: () => 1000, wallMs: () => 1000 },
      timers: {
        afterTurn: (callback: () => void) => this.ends.push(callback),
        after: () => ({ cancel: () => undefined }),
      },
    };
    return io as unknown as Io;
  }

  end(): void {
    for (const callback of this.ends.splice(0)) callback();
  }
}

class Owner implements QueueOwner {
  readonly maxPendingBytes = 1 << 26;
  readonly taken: Buffer[] = [];
  readonly writes: number[] = [];
  readonly events: string[] = [];
  takesAtOnce = true;
  depth = 0;
  depthMax = 0;
  queue: OutboundQueue | null = null;
  /** Called within a write that is taken at once. */
  onTaken: (() => void) | null = null;

  get socket(): Socket {
    return { write: (pieces: readonly Uint8Array[]) => this.write(pieces) } as unknown as Socket;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.taken);
  }

  write(pieces: readonly Uint8Array[]): void {
    this.depth++;
    this.depthMax = Math.max(this.depthMax, this.depth);
    this.writes.push(pieces.length);
    this.taken.push(Buffer.concat(pieces));
    if (this.takesAtOnce) {
      this.queue?.written();
      this.onTaken?.();
    }
    this.depth--;
  }

  writeStarts(): void {
    this.events.push('starts');
  }

  writeWaits(): void {
    this.events.push('waits');
  }

  writeDone(): void {
    this.events.push('done');
  }

  pendingExceeded(): void {
    this.events.push('exceeded');
    this.queue?.stop();
  }

  holdsBegan(): void {
    this.events.push('holds');
  }
}

class Fixture {
  readonly turn = new Turn();
  readonly outbound = new Outbound(this.turn.io, Number.MAX_SAFE_INTEGER);
  readonly owner = new Owner();
  readonly queue: OutboundQueue;

  constructor(options: { isWriting: boolean } = { isWriting: false }) {
    Object.assign(this.outbound, { pool: new ChunkPool() });
    this.queue = new OutboundQueue(this.outbound, this.owner, options.isWriting);
    this.owner.queue = this.queue;
  }

  send(bytes: Buffer): void {
    this.queue.append(bytes, 0, bytes.length);
  }

  get left(): number[] {
    return [this.queue.pendingBytes, this.outbound.unsentBytes];
  }
}

describe('the outbound queue', () => {
  it('sends once a turn what came in it', () => {
    const { queue, owner, turn, ...rest } = new Fixture();
    const bytes = patterned(100);
    for (let i = 0; i < 100; i++) queue.append(bytes, i, i + 1);
    expect(owner.writes).toEqual([]);
    turn.end();
    expect(owner.writes).toEqual([1]);
    expect(owner.bytes.equals(bytes)).toBe(true);
    expect(queue.pendingBytes + rest.outbound.unsentBytes).toBe(0);
    expect(owner.events).toEqual(['starts']);
  });

  it('goes on while the socket takes everything at once, without a call inside a call', () => {
    const fixture = new Fixture();
    const { owner, turn } = fixture;
    owner.takesAtOnce = false;
    fixture.send(patterned(1));
    turn.end();
    const bytes = patterned(100 * CHUNK_BYTES);
    fixture.send(bytes);
    turn.end();
    expect(owner.writes).toEqual([1]);
    owner.takesAtOnce = true;
    fixture.queue.written();
    expect(owner.depthMax).toBe(1);
    expect(Math.max(...owner.writes)).toBe(TOGETHER);
    expect(owner.bytes.subarray(1).equals(bytes)).toBe(true);
    expect(fixture.left).toEqual([0, 0]);
    expect(owner.events.filter((each) => each === 'waits')).toHaveLength(1);
  });

  it('loses nothing that is written when a chunk was taken in the middle of a message', () => {
    const fixture = new Fixture();
    const { owner, turn, queue } = fixture;
    // Until its chunks are large, and are sent as soon as they are full.
    fixture.send(patterned(3 * CHUNK_BYTES));
    turn.end();
    const before = owner.bytes.length;
    owner.onTaken = () => {
      owner.onTaken = null;
      fixture.send(Buffer.from('in between'));
    };
    while (owner.onTaken !== null) {
      expect(queue.reserve(100)).toBe(true);
      queue.buffer.fill('m', queue.position, queue.position + 100);
      queue.position += 100;
    }
    turn.end();
    const sent = owner.bytes.subarray(before).toString('latin1');
    expect(sent.replaceAll('m', '')).toBe('in between');
    expect(sent.replace('in between', '').length % 100).toBe(0);
    expect(fixture.left).toEqual([0, 0]);
  });

  it('has one write in flight, and fills the open chunk meanwhile', () => {
    const fixture = new Fixture();
    const { owner, turn, queue } = fixture;
    owner.takesAtOnce = false;
    const bytes = patterned(300);
    for (let i = 0; i < 3; i++) {
      fixture.send(bytes.subarray(i * 100, (i + 1) * 100));
      turn.end();
    }
    expect(owner.events).toEqual(['starts', 'waits']);
    expect(queue.pendingBytes).toBe(300);
    queue.written();
    expect(owner.events).toEqual(['starts', 'waits', 'done', 'starts', 'waits']);
    expect(owner.bytes.equals(bytes)).toBe(true);
    queue.written();
    expect(fixture.left).toEqual([0, 0]);
  });

  it('waits for a write that its owner began', () => {
    const fixture = new Fixture({ isWriting: true });
    const { owner, turn, queue } = fixture;
    fixture.send(patterned(10));
    turn.end();
    expect(owner.writes).toEqual([]);
    queue.written();
    expect(owner.bytes.equals(patterned(10))).toBe(true);
    expect(fixture.left).toEqual([0, 0]);
  });

  it('gives back what waits when it is stopped, and what is in flight when the socket is gone', () => {
    const fixture = new Fixture();
    const { owner, turn, queue } = fixture;
    owner.takesAtOnce = false;
    fixture.send(patterned(10 * CHUNK_BYTES));
    turn.end();
    fixture.send(patterned(50));
    const inFlight = owner.bytes.length;
    expect(inFlight).toBeGreaterThan(0);
    queue.stop();
    expect(fixture.left).toEqual([inFlight, inFlight]);
    fixture.send(patterned(50));
    turn.end();
    queue.discard();
    expect(fixture.left).toEqual([0, 0]);
    expect(owner.writes).toHaveLength(1);
  });

  it('tells its owner of too much, and takes no more then', () => {
    const fixture = new Fixture();
    const { owner } = fixture;
    Object.assign(owner, { maxPendingBytes: 3 * CHUNK_BYTES, takesAtOnce: false });
    fixture.send(patterned(40 * CHUNK_BYTES));
    fixture.turn.end();
    expect(owner.events.filter((each) => each === 'exceeded')).toHaveLength(1);
    fixture.queue.discard();
    expect(fixture.left).toEqual([0, 0]);
  });

  it('lets the producers that it held go on a few at a time, the first ones first, while little waits', () => {
    const { queue, turn } = new Fixture();
    const resumed: number[] = [];
    const held = Array.from({ length: 40 }, (_, i): Producer => {
      return { holdCount: 0, resumeReading: () => resumed.push(i), stall: () => undefined };
    });
    for (const producer of held) {
      queue.hold(producer);
      queue.hold(producer);
    }
    const counts: number[] = [];
    queue.written();
    for (let turns = 0; turns < 4; turns++) {
      counts.push(resumed.length);
      turn.end();
    }
    expect(counts).toEqual([16, 32, 40, 40]);
    expect(resumed).toEqual(held.map((_, i) => i));
    expect(held.every(({ holdCount }) => holdCount === 0)).toBe(true);
  });
});
