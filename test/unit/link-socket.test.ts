/** The socket of a link that compresses: what is in flight, and what is left for later turns. */
import { describe, expect, it } from 'vitest';
import { LinkSocket } from '../../leafnode/link-socket.ts';
import { HEADROOM_BYTES, type Socket, type SocketHandler, type Timers } from '../../server/io/io.ts';
import { contentChunk, IDENTIFIER, readS2, telemetry, writeS2 } from '../helpers/s2-stream.ts';

const NOWHERE = { host: '127.0.0.1', port: 1 };

/** A socket and timers that do what the test says. */
class Below implements Socket, Timers {
  readonly remote: typeof NOWHERE = NOWHERE;
  readonly local: typeof NOWHERE = NOWHERE;
  readonly writes: Buffer[] = [];
  resumed = 0;
  private due: (() => void)[] = [];

  write(pieces: readonly Uint8Array[]): void {
    this.writes.push(Buffer.concat(pieces));
  }

  resume(): void {
    this.resumed++;
  }

  end(): void {
    throw new Error('not ended here');
  }

  destroy(): void {
    throw new Error('not destroyed here');
  }

  after(): never {
    throw new Error('nothing waits for a time');
  }

  afterTurn(callback: () => void): void {
    this.due.push(callback);
  }

  get hasTurns(): boolean {
    return this.due.length > 0;
  }

  turn(): void {
    const { due } = this;
    this.due = [];
    for (const callback of due) callback();
  }
}

class Above implements SocketHandler {
  readonly contents: Buffer[] = [];
  readsOn = true;
  written = (): void => undefined;

  connected(): void {
    throw new Error('not dialled here');
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    buffer.fill(0xdd, start - HEADROOM_BYTES, start);
    this.contents.push(Buffer.from(buffer.subarray(start, end)));
    return this.readsOn;
  }

  ended(): void {
    throw new Error('not ended here');
  }

  closed(): void {
    this.contents.push(Buffer.from('closed'));
  }

  get bytes(): number {
    return this.contents.reduce((sum, { length }) => sum + length, 0);
  }
}

function open(): { below: Below; above: Above; socket: LinkSocket; failures: string[] } {
  const [below, above, failures] = [new Below(), new Above(), [] as string[]];
  const socket = new LinkSocket(below, below);
  socket.attach(above);
  socket.decompress((failure) => failures.push(failure));
  return { below, above, socket, failures };
}

function read(socket: LinkSocket, bytes: Uint8Array): boolean {
  const buffer = Buffer.concat([Buffer.alloc(HEADROOM_BYTES), bytes]);
  const goesOn = socket.data(buffer, HEADROOM_BYTES, buffer.length);
  buffer.fill(0xdd);
  return goesOn;
}

/** A few bytes that hold 400,000. */
function large(): Buffer {
  const stream = writeS2([[Buffer.alloc(400_000, 'PONG\r\n')]], true);
  return stream.subarray(IDENTIFIER.length);
}

describe('what is read', () => {
  it('is not decoded in one turn when a few bytes hold megabytes', () => {
    const { below, above, socket, failures } = open();
    const bomb = Buffer.concat([IDENTIFIER, ...Array.from({ length: 100 }, large)]);
    expect(bomb.length).toBeLessThan(10_000);
    expect(read(socket, bomb)).toBe(false);
    for (let turns = 1; below.hasTurns; turns++) {
      expect(above.contents).toHaveLength(2 * turns);
      expect(below.resumed).toBe(0);
      below.turn();
    }
    expect(above.bytes).toBe(100 * 400_000);
    expect(below.resumed).toBe(1);
    expect(failures).toEqual([]);
    expect(read(socket, contentChunk(Buffer.from('more'), null))).toBe(true);
  });

  it('is kept when the owner stops, and comes first when it goes on', () => {
    const { below, above, socket } = open();
    above.readsOn = false;
    const [one, two] = [contentChunk(Buffer.from('one'), null), contentChunk(Buffer.from('two'), null)];
    expect(read(socket, Buffer.concat([IDENTIFIER, one, two.subarray(0, 7)]))).toBe(false);
    expect(above.contents.join(' ')).toBe('one');
    expect(below.hasTurns).toBe(false);
    above.readsOn = true;
    socket.resume();
    socket.resume();
    expect(above.contents.join(' ')).toBe('one');
    expect(below.resumed).toBe(0);
    below.turn();
    expect(below.resumed).toBe(1);
    expect(read(socket, two.subarray(7))).toBe(true);
    expect(above.contents.join(' ')).toBe('one two');
    socket.resume();
    expect(below.resumed).toBe(2);
  });

  it('is forgotten when the socket has closed', () => {
    const { below, above, socket } = open();
    read(socket, Buffer.concat([IDENTIFIER, large(), large(), large()]));
    socket.closed(null);
    below.turn();
    expect(above.contents.at(-1)?.toString()).toBe('closed');
  });

  it('is given up when it is corrupt, also in a later turn', () => {
    const { below, socket, failures } = open();
    const corrupt = Buffer.from([2, 0, 0, 0]);
    expect(read(socket, Buffer.concat([IDENTIFIER, large(), large(), corrupt]))).toBe(false);
    expect(failures).toEqual([]);
    below.turn();
    expect(failures).toEqual(['a chunk of the reserved type 2']);
    expect(below.resumed).toBe(0);
  });
});

describe('what is written', () => {
  it('is in flight in memory of its own until it has been taken', () => {
    const [first, second] = [open(), open()];
    first.socket.compress('s2_fast');
    second.socket.compress('s2_fast');
    first.socket.write([telemetry(3000)]);
    second.socket.write([telemetry(5000).subarray(1000)]);
    const [inFlight] = first.below.writes as [Buffer];
    expect(readS2([inFlight]).content).toEqual(telemetry(3000));
    expect(readS2(second.below.writes).content).toEqual(telemetry(5000).subarray(1000));
    first.socket.written();
    second.socket.written();
    first.socket.write([telemetry(100)]);
    expect(readS2(first.below.writes).content).toEqual(Buffer.concat([telemetry(3000), telemetry(100)]));
  });

  it('changes its level from one write to the next', () => {
    const { below, socket } = open();
    socket.write([Buffer.from('in clear ')]);
    socket.compress('s2_uncompressed');
    socket.write([telemetry(1000), telemetry(50)]);
    socket.compress('s2_better');
    socket.write([telemetry(1000)]);
    const [clear, framed, compressed] = below.writes as [Buffer, Buffer, Buffer];
    expect(clear.toString()).toBe('in clear ');
    expect(framed).toHaveLength(10 + 8 + 1050);
    expect(compressed.length).toBeLessThan(600);
    expect(readS2([framed, compressed]).content).toEqual(
      Buffer.concat([telemetry(1000), telemetry(50), telemetry(1000)]),
    );
  });
});
