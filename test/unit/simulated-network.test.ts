/** The simulated network: what every network promises, under many seeds, and the faults that only it can have. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Address, Io } from '../../server/io/io.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import type { SimulatedSocket } from '../../server/io/simulated/simulated-socket.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { describeNetwork, type HalfClosingPeer, type NetworkUnderTest } from './network-contract.ts';
import { patterned, SocketRecorder } from './network-recorder.ts';

const WITHIN_MS = 600_000;
const MINUTE_MS = 60_000;

function simulated(seed: number): NetworkUnderTest {
  const world = new SimulatedWorld(seed);
  const { io } = world.machine('site').start();
  const { scheduler } = world;
  return {
    network: io.network,
    host: '127.0.0.1',
    manyConnections: 100,
    liveHandles: () => world.network.liveHandles,
    dialHalfClosing: (address, bytes) => dialHalfClosing(io, address, bytes),
    until: async (condition, what) => scheduler.runUntil(condition, what, WITHIN_MS),
    pass: async () => scheduler.runFor(1000),
  };
}

function dialHalfClosing(io: Io, address: Address, bytes: Buffer): HalfClosingPeer {
  const recorder = new SocketRecorder();
  const socket = io.network.connect(address, recorder) as SimulatedSocket;
  socket.write([bytes]);
  socket.halfClose();
  recorder.onEnded = () => socket.end();
  return { bytesRead: () => recorder.bytesRead, isClosed: () => recorder.isClosed };
}

for (let seed = 1; seed <= 4; seed++) describeNetwork(`simulated, seed ${seed}`, () => simulated(seed));

/** A hub that listens and a site that dials it. */
class TwoMachines {
  readonly world: SimulatedWorld;
  readonly hub: SimulatedMachine;
  readonly site: SimulatedMachine;
  hubProcess: SimulatedProcess;
  siteProcess: SimulatedProcess;
  readonly accepted: SocketRecorder[] = [];
  private readonly bytes = patterned(100_000);

  constructor(seed: number) {
    this.world = new SimulatedWorld(seed);
    this.hub = this.world.machine('hub');
    this.site = this.world.machine('site');
    this.hubProcess = this.hub.start();
    this.siteProcess = this.site.start();
    this.listen();
  }

  listen(): void {
    let listening = false;
    this.hubProcess.io.network.listen(
      { host: '0.0.0.0', port: 4222 },
      {
        listening: () => (listening = true),
        accepted: (socket) => {
          const recorder = new SocketRecorder();
          recorder.socket = socket;
          recorder.onEnded = () => socket.end();
          this.accepted.push(recorder);
          return recorder;
        },
        failed: (error) => {
          throw error;
        },
      },
    );
    this.until(() => listening, 'the hub to listen');
  }

  dial(host = 'hub'): SocketRecorder {
    const recorder = new SocketRecorder();
    const socket = this.siteProcess.io.network.connect({ host, port: 4222 }, recorder);
    recorder.socket = socket;
    recorder.onEnded = () => socket.end();
    return recorder;
  }

  connected(): { near: SocketRecorder; far: SocketRecorder } {
    const before = this.accepted.length;
    const near = this.dial();
    this.until(() => near.count('connected') === 1 && this.accepted.length > before, 'a connection');
    return { near, far: this.accepted.at(-1) as SocketRecorder };
  }

  /** Whether bytes sent from one end arrive at the other, whole, within the time. */
  brings(from: SocketRecorder, to: SocketRecorder, withinMs: number): boolean {
    const before = to.bytesRead;
    from.socket?.write([this.bytes]);
    const deadline = this.world.scheduler.nowMs + withinMs;
    while (to.bytesRead < before + this.bytes.length && this.world.scheduler.nowMs < deadline) {
      this.world.scheduler.runFor(withinMs / 10);
    }
    return to.received.subarray(before).equals(this.bytes);
  }

  until(condition: () => boolean, what: string, withinMs = WITHIN_MS): void {
    this.world.scheduler.runUntil(condition, what, withinMs);
  }

  runFor(ms: number): void {
    this.world.scheduler.runFor(ms);
  }
}

const seeds = [11, 12, 13, 14, 15];

describe.each(seeds)('faults of the simulated network, seed %i', (seed) => {
  it('a partition holds everything back, and loses nothing when it heals', () => {
    const two = new TwoMachines(seed);
    const { near, far } = two.connected();
    expect(two.brings(near, far, 10_000)).toBe(true);
    two.world.network.partition(two.hub, two.site);
    expect(two.brings(near, far, MINUTE_MS)).toBe(false);
    const held = far.bytesRead;
    expect(held).toBeLessThan(200_000);
    two.world.network.heal(two.hub, two.site);
    two.until(() => far.bytesRead === 200_000, 'the rest', 2 * MINUTE_MS + 10_000);
    expect(far.received.equals(Buffer.concat([patterned(100_000), patterned(100_000)]))).toBe(true);
  });

  it('a link cut one way still brings bytes the other way, as long as buffers take what is not confirmed', () => {
    const two = new TwoMachines(seed);
    two.world.network.buffers = { sendBytes: 262_144, receiveBytes: 262_144 };
    const { near, far } = two.connected();
    two.world.network.cut(two.site, two.hub);
    expect(two.brings(far, near, 10_000)).toBe(true);
    expect(two.brings(near, far, 10_000)).toBe(false);
    far.socket?.write([patterned(4_000_000)]);
    two.runFor(MINUTE_MS);
    expect(near.bytesRead).toBeLessThan(4_000_000);
    two.world.network.heal(two.site, two.hub);
    two.until(() => near.bytesRead === 4_100_000 && far.bytesRead === 100_000, 'the rest');
  });

  it('who sends into a partition for a quarter of an hour is told', () => {
    const two = new TwoMachines(seed);
    const { near, far } = two.connected();
    two.world.network.partition(two.hub, two.site);
    near.socket?.write([patterned(100)]);
    two.runFor(15 * MINUTE_MS);
    expect(near.isClosed).toBe(false);
    two.until(() => near.isClosed, 'the sender to give up', MINUTE_MS);
    expect(near.error?.code).toBe('ETIMEDOUT');
    expect(far.isClosed).toBe(false);
  });

  it('a dial into a partition succeeds when it heals in time, and else fails after two minutes', () => {
    const two = new TwoMachines(seed);
    two.world.network.cut(two.site, two.hub);
    const lucky = two.dial();
    two.runFor(30_000);
    two.world.network.heal(two.site, two.hub);
    two.until(() => lucky.count('connected') === 1, 'the dial', MINUTE_MS);
    two.world.network.partition(two.hub, two.site);
    const unlucky = two.dial();
    two.runFor(2 * MINUTE_MS);
    expect(unlucky.events).toEqual([]);
    two.until(() => unlucky.isClosed, 'the dial to fail', 10_000);
    expect(unlucky.error?.code).toBe('ETIMEDOUT');
  });

  it('a machine without power says nothing; when it is back it knows nothing of the connection', () => {
    const two = new TwoMachines(seed);
    const { near, far } = two.connected();
    two.hub.powerCut();
    near.socket?.write([patterned(100)]);
    two.runFor(MINUTE_MS);
    expect(near.events).not.toContain('closed');
    expect(far.isClosed).toBe(false);
    two.hubProcess = two.hub.start();
    two.until(() => near.isClosed, 'the reset', 3 * MINUTE_MS);
    expect(near.error?.code).toBe('ECONNRESET');
    const refused = two.dial();
    two.until(() => refused.isClosed, 'the refusal');
    expect(refused.error?.code).toBe('ECONNREFUSED');
    expect(far.events).not.toContain('closed');
    two.listen();
    const again = two.connected();
    expect(two.brings(again.near, again.far, 10_000)).toBe(true);
  });

  it('a dial to a machine without power times out', () => {
    const two = new TwoMachines(seed);
    two.hub.powerCut();
    const near = two.dial();
    two.until(() => near.isClosed, 'the dial to fail', 130_000);
    expect(near.error?.code).toBe('ETIMEDOUT');
  });

  it('a killed process never runs again, and its kernel closes what it had open', () => {
    const two = new TwoMachines(seed);
    const { near, far } = two.connected();
    let ran = 0;
    two.hubProcess.io.timers.after(10, () => ran++);
    two.hubProcess.io.timers.afterTurn(() => ran++);
    two.hubProcess.kill();
    two.hubProcess.kill();
    two.until(() => near.isClosed, 'the peer to notice');
    expect(near.events).toEqual(['connected', 'ended', 'closed']);
    two.runFor(1000);
    expect(ran).toBe(0);
    expect(far.events).toEqual([]);
    expect(two.world.network.liveHandles).toBe(0);
    const refused = two.dial();
    two.until(() => refused.isClosed, 'the refusal');
    expect(refused.error?.code).toBe('ECONNREFUSED');
  });

  it('a paused process hears nothing until it goes on', () => {
    const two = new TwoMachines(seed);
    const { near, far } = two.connected();
    let ran = 0;
    two.hubProcess.pause(500);
    two.hubProcess.io.timers.after(1, () => ran++);
    near.socket?.write([patterned(10)]);
    two.runFor(499);
    expect([ran, far.bytesRead]).toEqual([0, 0]);
    two.runFor(100);
    expect([ran, far.bytesRead]).toEqual([1, 10]);
  });

  it('connections between two machines can be reset at once', () => {
    const two = new TwoMachines(seed);
    const first = two.connected();
    const second = two.connected();
    expect(two.world.network.resetBetween(two.site, two.hub)).toBe(2);
    const everything = [first.near, first.far, second.near, second.far];
    two.until(() => everything.every((each) => each.isClosed), 'all to be reset');
    expect(everything.map((each) => each.error?.code)).toEqual(everything.map(() => 'ECONNRESET'));
    expect(two.world.network.liveHandles).toBe(1);
  });

  it('bytes of a read are gone when the owner returns', () => {
    const two = new TwoMachines(seed);
    const { near, far } = two.connected();
    near.socket?.write([Buffer.alloc(5000, 1)]);
    two.until(() => far.bytesRead === 5000, 'the bytes');
    const [buffer] = far.buffers as unknown as [Buffer];
    expect(buffer.every((byte) => byte === 0xdd)).toBe(true);
  });
});

describe('the simulated network', () => {
  it('brings bytes whole and in order, whatever pieces they are written and read in', () => {
    const sizes = fc.array(fc.array(fc.nat(3000), { minLength: 1, maxLength: 4 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.nat(1_000_000), sizes, sizes, (seed, up, down) => {
        const two = new TwoMachines(seed);
        const { near, far } = two.connected();
        const sent = [writeAll(two, near, up), writeAll(two, far, down)];
        two.world.scheduler.runUntilIdle(WITHIN_MS);
        expect(far.received.equals(sent[0] as Buffer)).toBe(true);
        expect(near.received.equals(sent[1] as Buffer)).toBe(true);
        expect(near.count('written')).toBe(up.length);
        expect(far.count('written')).toBe(down.length);
      }),
      { numRuns: 100 },
    );
  });

  it('cuts streams into reads from a single byte to 64 KiB, as the seed decides', () => {
    const largest: number[] = [];
    for (let seed = 1; seed <= 40; seed++) {
      const two = new TwoMachines(seed);
      const { near, far } = two.connected();
      expect(two.brings(near, far, 60_000)).toBe(true);
      largest.push(Math.max(...far.readSizes.slice(0, 100)));
      expect(Math.max(...far.readSizes)).toBeLessThanOrEqual(65_536);
    }
    expect(Math.min(...largest)).toBe(1);
    expect(Math.max(...largest)).toBeGreaterThan(30_000);
  });

  it('says that a write was taken both inside and after it, and reads the memory until then', () => {
    const inside = new Set<boolean>();
    const damaged = new Set<boolean>();
    let damagedAfterwards = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const two = new TwoMachines(seed);
      const { near, far } = two.connected();
      const bytes = Buffer.alloc(500, 1);
      near.socket?.write([bytes]);
      const isTaken = near.count('written') === 1;
      inside.add(isTaken);
      if (!isTaken) bytes.fill(2);
      two.until(() => far.bytesRead === 500, 'the bytes');
      damaged.add(far.received.includes(2));
      if (isTaken && far.received.includes(2)) damagedAfterwards++;
    }
    expect(inside.size).toBe(2);
    expect(damaged.size).toBe(2);
    expect(damagedAfterwards).toBe(0);
  });

  it('does not take a second write before the first was taken', () => {
    const two = new TwoMachines(1);
    two.world.network.buffers = { sendBytes: 0, receiveBytes: 1024 };
    const { near } = two.connected();
    near.socket?.write([Buffer.alloc(10)]);
    expect(() => near.socket?.write([Buffer.alloc(10)])).toThrow('the write before has been taken');
  });

  it('knows machines by name and address, and each as localhost to itself', () => {
    const two = new TwoMachines(1);
    for (const host of ['hub', two.hub.address]) {
      const near = two.dial(host);
      two.until(() => near.count('connected') === 1, `a connection to ${host}`);
      expect(near.socket?.remote).toEqual({ host: two.hub.address, port: 4222 });
      expect(near.socket?.local.host).toBe(two.site.address);
    }
    const unknown = two.dial('nowhere');
    two.until(() => unknown.isClosed, 'the dial to fail');
    expect(unknown.error?.code).toBe('ENOTFOUND');
    const itself = two.dial('localhost');
    two.until(() => itself.isClosed, 'the dial to fail');
    expect(itself.error?.code).toBe('ECONNREFUSED');
    const failures: (string | undefined)[] = [];
    two.siteProcess.io.network.listen(
      { host: two.hub.address, port: 0 },
      {
        listening: () => undefined,
        accepted: () => new SocketRecorder(),
        failed: (error) => failures.push(error.code),
      },
    );
    two.runFor(1);
    expect(failures).toEqual(['EADDRNOTAVAIL']);
  });

  it('brings HTTP requests to a monitoring port, and says when nobody is there', () => {
    const two = new TwoMachines(1);
    let port = 0;
    const listener = two.hubProcess.io.network.serveHttp(
      { host: '0.0.0.0', port: 0 },
      {
        listening: (address) => (port = address.port),
        request: ({ url }, respond) => respond({ status: 200, headers: {}, body: `you asked for ${url}` }),
        failed: (error) => {
          throw error;
        },
      },
    );
    two.until(() => port !== 0, 'the port');
    const ask = (host: string): (string | Uint8Array | null)[] => {
      const answers: (string | Uint8Array | null)[] = [];
      const request = { method: 'GET', url: '/varz', headers: {} };
      two.world.network.httpRequest(two.site, { host, port }, request, (it) => answers.push(it?.body ?? null));
      two.until(() => answers.length > 0, 'an answer');
      return answers;
    };
    expect(ask('hub')).toEqual(['you asked for /varz']);
    expect(ask('nowhere')).toEqual([null]);
    listener.close(() => undefined);
    expect(ask('hub')).toEqual([null]);
  });
});

/** Writes pieces of these sizes, each write when the one before was taken; the bytes in all. */
function writeAll(two: TwoMachines, from: SocketRecorder, writes: readonly (readonly number[])[]): Buffer {
  const all: Buffer[] = [];
  let seen = from.count('written');
  for (const sizes of writes) {
    const pieces = sizes.map((size) => patterned(size + 1));
    all.push(...pieces);
    from.socket?.write(pieces);
    seen++;
    two.until(() => from.count('written') === seen, 'the write to be taken');
  }
  return Buffer.concat(all);
}
