/**
 * What every form of the network promises: one suite that the host's network runs (on both ways of accepting) and the
 * simulated one too, so that what is tested in simulation means something on a host.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Address, HEADROOM_BYTES, type Listener, type Network, type Socket } from '../../server/io/io.ts';
import { patterned, SocketRecorder } from './network-recorder.ts';

export interface NetworkUnderTest {
  readonly network: Network;
  /** Where to listen, and where the network is reached. */
  readonly host: string;
  /** How many connections may be opened one after the other in reasonable time. */
  readonly manyConnections: number;
  /** Sockets and listeners that exist. */
  liveHandles(): number;
  /** Another program's client: it sends the bytes, closes its sending side, and reads until the server closes. */
  dialHalfClosing(address: Address, bytes: Buffer): HalfClosingPeer;
  /** Lets time pass until the condition holds; fails when it takes too long. */
  until(condition: () => boolean, what: string): Promise<void>;
  /** Lets time pass in which nothing is expected to happen. */
  pass(): Promise<void>;
}

export interface HalfClosingPeer {
  bytesRead(): number;
  isClosed(): boolean;
}

/** More than any socket buffers between two sockets take. */
const MORE_THAN_BUFFERS = 32 * 1024 * 1024;

class Fixture {
  readonly under: NetworkUnderTest;
  readonly accepted: SocketRecorder[] = [];
  readonly dialled: SocketRecorder[] = [];
  readonly listeners: Listener[] = [];
  address: Address = { host: '', port: 0 };
  failures: (string | undefined)[] = [];
  /** Told of each accepted socket before it reads. */
  onAccepted: (socket: Socket, recorder: SocketRecorder) => void = () => undefined;

  constructor(under: NetworkUnderTest) {
    this.under = under;
  }

  listen(port = 0): Listener {
    const listener = this.under.network.listen(
      { host: this.under.host, port },
      {
        listening: (address) => {
          this.address = address;
        },
        accepted: (socket) => {
          const recorder = new SocketRecorder();
          recorder.socket = socket;
          this.accepted.push(recorder);
          this.onAccepted(socket, recorder);
          return recorder;
        },
        failed: (error) => this.failures.push(error.code),
      },
    );
    this.listeners.push(listener);
    return listener;
  }

  async listening(): Promise<Listener> {
    const listener = this.listen();
    await this.under.until(() => this.address.port !== 0, 'the listener to listen');
    return listener;
  }

  dial(address: Address = this.address): SocketRecorder {
    const recorder = new SocketRecorder();
    recorder.socket = this.under.network.connect(address, recorder);
    this.dialled.push(recorder);
    return recorder;
  }

  /** A connection, and both its ends. */
  async pair(): Promise<{ near: SocketRecorder; far: SocketRecorder; nearSocket: Socket; farSocket: Socket }> {
    const before = this.accepted.length;
    const near = this.dial();
    await this.under.until(() => near.count('connected') === 1 && this.accepted.length > before, 'a connection');
    const far = this.accepted.at(-1) as SocketRecorder;
    return { near, far, nearSocket: near.socket as Socket, farSocket: far.socket as Socket };
  }

  async close(): Promise<void> {
    for (const each of [...this.accepted, ...this.dialled]) if (!each.isClosed) each.socket?.destroy();
    let open = this.listeners.length;
    for (const each of this.listeners) each.close(() => open--);
    const everything = [...this.accepted, ...this.dialled];
    await this.under.until(() => open === 0 && everything.every((each) => each.isClosed), 'everything to close');
  }
}

export function describeNetwork(name: string, make: () => NetworkUnderTest): void {
  describe(`the network: ${name}`, () => {
    let fixture: Fixture;
    let under: NetworkUnderTest;
    beforeEach(() => {
      under = make();
      fixture = new Fixture(under);
    });
    afterEach(async () => fixture.close());

    it('tells the port it chose, and both ends of a connection the same addresses', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      expect(fixture.address).toEqual({ host: under.host, port: expect.any(Number) });
      expect(nearSocket.remote).toEqual(fixture.address);
      expect(farSocket.local).toEqual(fixture.address);
      expect(farSocket.remote).toEqual(nearSocket.local);
      expect(near.events).toEqual(['connected']);
      expect(far.events).toEqual([]);
    });

    it('brings bytes whole and in order, both ways at once, however many pieces they come in', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      const bytes = patterned(300_000);
      nearSocket.write([bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000)]);
      farSocket.write([bytes]);
      await under.until(() => far.bytesRead >= bytes.length && near.bytesRead >= bytes.length, 'all bytes');
      expect(far.received.equals(bytes)).toBe(true);
      expect(near.received.equals(bytes)).toBe(true);
      expect(near.count('written')).toBe(1);
      expect(far.count('written')).toBe(1);
    });

    it('lets the owner write from the moment a connection is accepted', async () => {
      fixture.onAccepted = (socket) => socket.write([Buffer.from('INFO {}\r\n')]);
      await fixture.listening();
      const { near, far } = await fixture.pair();
      await under.until(() => near.bytesRead === 9 && far.count('written') === 1, 'the greeting');
      expect(near.received.toString()).toBe('INFO {}\r\n');
    });

    it('reads into one and the same buffer for all sockets, with room for an earlier rest in front', async () => {
      await fixture.listening();
      const buffers = new Set<Buffer>();
      for (let i = 0; i < 3; i++) {
        const { near, far, nearSocket, farSocket } = await fixture.pair();
        far.onData = () => {
          for (const each of far.buffers) each.fill(0x11, 0, HEADROOM_BYTES);
        };
        nearSocket.write([patterned(100)]);
        farSocket.write([patterned(100)]);
        await under.until(() => far.bytesRead === 100 && near.bytesRead === 100, 'both to read');
        expect(far.received.equals(patterned(100))).toBe(true);
        for (const each of [...near.buffers, ...far.buffers]) buffers.add(each);
      }
      expect(buffers.size).toBe(1);
    });

    it('stops reading when the owner says so, and goes on without a loss', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      const bytes = patterned(400_000);
      far.readsOn = false;
      nearSocket.write([bytes]);
      await under.until(() => far.bytesRead > 0, 'a first read');
      await under.pass();
      expect(far.readSizes).toHaveLength(1);
      far.readsOn = true;
      farSocket.resume();
      await under.until(() => far.bytesRead === bytes.length, 'the rest');
      expect(far.received.equals(bytes)).toBe(true);
      await under.until(() => near.count('written') === 1, 'the write to be taken');
    });

    it('stops a dialled socket too, again and again', async () => {
      await fixture.listening();
      const { near, nearSocket, farSocket } = await fixture.pair();
      const bytes = patterned(300_000);
      near.readsOn = false;
      farSocket.write([bytes]);
      while (near.bytesRead < bytes.length) {
        const { bytesRead } = near;
        await under.until(() => near.bytesRead > bytesRead, 'one more read');
        nearSocket.resume();
      }
      expect(near.received.equals(bytes)).toBe(true);
    });

    it('goes on when the owner resumes inside the read that it then does not stop', async () => {
      await fixture.listening();
      const { far, nearSocket, farSocket } = await fixture.pair();
      far.onData = () => farSocket.resume();
      nearSocket.write([patterned(200_000)]);
      await under.until(() => far.bytesRead === 200_000, 'all bytes');
      expect(far.received.equals(patterned(200_000))).toBe(true);
    });

    it('takes a write only as fast as the peer reads', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      const bytes = patterned(MORE_THAN_BUFFERS);
      far.readsOn = false;
      nearSocket.write([bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)]);
      await under.until(() => far.bytesRead > 0, 'a first read');
      await under.pass();
      expect(near.count('written')).toBe(0);
      far.readsOn = true;
      farSocket.resume();
      await under.until(() => near.count('written') === 1 && far.bytesRead === bytes.length, 'all to be taken');
      expect(far.received.equals(bytes)).toBe(true);
    });

    it('ends after what was handed to write has gone out, and tells both owners once', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      const bytes = patterned(2_000_000);
      far.onEnded = () => farSocket.end();
      nearSocket.write([bytes]);
      nearSocket.end();
      await under.until(() => near.isClosed && far.isClosed, 'both to close');
      expect(far.received.equals(bytes)).toBe(true);
      expect(near.error).toBeNull();
      expect(far.events).toEqual(['ended', 'closed']);
      expect(far.error).toBeNull();
    });

    it('lets the owner answer a peer that will send nothing more', async () => {
      const answer = patterned(MORE_THAN_BUFFERS);
      fixture.onAccepted = (socket, recorder) => {
        recorder.onEnded = () => {
          socket.write([answer]);
          socket.end();
        };
      };
      await fixture.listening();
      const peer = under.dialHalfClosing(fixture.address, patterned(100));
      await under.until(() => peer.isClosed(), 'the peer to be answered');
      const [far] = fixture.accepted as [SocketRecorder];
      await under.until(() => far.isClosed, 'the socket to be gone');
      expect(far.received.equals(patterned(100))).toBe(true);
      expect(peer.bytesRead()).toBe(answer.length);
      expect(far.events).toEqual(['ended', 'written', 'closed']);
      expect(far.error).toBeNull();
    });

    it('drops what is unsent when destroyed, and says nothing after closed', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      far.readsOn = false;
      far.onEnded = () => farSocket.end();
      nearSocket.write([patterned(MORE_THAN_BUFFERS)]);
      await under.until(() => far.bytesRead > 0, 'a first read');
      nearSocket.destroy();
      nearSocket.destroy();
      await under.until(() => near.isClosed, 'the destroyed socket to be gone');
      expect(near.events).toEqual(['connected', 'closed']);
      expect(near.error).toBeNull();
      far.readsOn = true;
      farSocket.resume();
      await under.until(() => far.isClosed, 'the peer to notice');
      expect(far.bytesRead).toBeLessThan(MORE_THAN_BUFFERS);
      expect(far.received.equals(patterned(far.bytesRead))).toBe(true);
    });

    it.each(['dialled', 'accepted'] as const)(
      'tells the owner of a %s socket of a reset with its code',
      async (which) => {
        await fixture.listening();
        const { near, far, nearSocket, farSocket } = await fixture.pair();
        const [writer, stopped] = which === 'dialled' ? [near, far] : [far, near];
        const [writing, resetting] = which === 'dialled' ? [nearSocket, farSocket] : [farSocket, nearSocket];
        stopped.readsOn = false;
        writing.write([patterned(MORE_THAN_BUFFERS)]);
        await under.until(() => stopped.bytesRead > 0, 'a first read');
        // Whoever closes with bytes unread resets the connection.
        resetting.destroy();
        await under.until(() => writer.isClosed, 'the reset to arrive');
        expect(writer.error?.code).toBe('ECONNRESET');
        expect(writer.events).not.toContain('written');
      },
    );

    it('tells whoever writes to a peer that is gone, once, and not inside the call', async () => {
      fixture.onAccepted = (_socket, recorder) => {
        recorder.readsOn = false;
      };
      await fixture.listening();
      const { far, nearSocket, farSocket } = await fixture.pair();
      nearSocket.write([patterned(10)]);
      await under.until(() => far.bytesRead > 0, 'the socket to stop reading');
      nearSocket.destroy();
      await under.pass();
      let told = far.count('written');
      let isToldInside = false;
      while (!far.isClosed) {
        farSocket.write([patterned(10), patterned(10)]);
        isToldInside ||= far.isClosed;
        await under.until(() => far.isClosed || far.count('written') > told, 'an outcome');
        told = far.count('written');
        await under.pass();
      }
      expect(['EPIPE', 'ECONNRESET']).toContain(far.error?.code);
      expect(isToldInside).toBe(false);
    });

    it('writes on as the peer takes it, and ends after the last of it', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      const bytes = patterned(MORE_THAN_BUFFERS / 2);
      const half = bytes.length / 2;
      near.readsOn = false;
      near.onEnded = () => nearSocket.end();
      farSocket.write([bytes.subarray(0, 10), bytes.subarray(10, half)]);
      let isFirst = true;
      far.onWritten = () => {
        if (isFirst) farSocket.write([bytes.subarray(half, half + 10), bytes.subarray(half + 10)]);
        if (isFirst) farSocket.end();
        isFirst = false;
      };
      await under.until(() => near.bytesRead > 0, 'a first read');
      await under.pass();
      near.readsOn = true;
      nearSocket.resume();
      await under.until(() => near.isClosed && far.isClosed, 'both to close');
      expect(near.received.equals(bytes)).toBe(true);
      expect(far.events).toEqual(['written', 'written', 'closed']);
      expect(far.error).toBeNull();
    });

    it('may be given up by its owner while it is accepted', async () => {
      fixture.onAccepted = (socket) => {
        socket.write([Buffer.from('no')]);
        socket.destroy();
      };
      await fixture.listening();
      const near = fixture.dial();
      near.onEnded = () => near.socket?.end();
      await under.until(() => near.isClosed && fixture.accepted[0]?.isClosed === true, 'both to close');
      expect(fixture.accepted[0]?.error).toBeNull();
    });

    it('may be ended, given up or resumed inside what it tells', async () => {
      const ways: ((socket: Socket) => void)[] = [
        (socket) => socket.end(),
        (socket) => socket.destroy(),
        (socket) => {
          socket.end();
          socket.destroy();
          socket.resume();
        },
      ];
      fixture.onAccepted = (socket, recorder) => {
        const way = ways.shift() as (socket: Socket) => void;
        recorder.onData = () => way(socket);
        recorder.onEnded = () => way(socket);
      };
      await fixture.listening();
      for (let i = 0; i < 3; i++) {
        const { near, far, nearSocket } = await fixture.pair();
        near.onEnded = () => nearSocket.end();
        nearSocket.write([patterned(100_000)]);
        await under.until(() => near.isClosed && far.isClosed, 'both to close');
        expect(far.count('closed')).toBe(1);
      }
    });

    it('may be told to go on, to write and to end after the peer is gone', async () => {
      await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      far.readsOn = false;
      // A stopped socket may hear of the end at once or when it goes on.
      far.onEnded = () => farSocket.end();
      nearSocket.write([patterned(100)]);
      await under.until(() => far.bytesRead > 0, 'a first read');
      nearSocket.destroy();
      await under.until(() => near.isClosed, 'the peer to be gone');
      far.readsOn = true;
      farSocket.resume();
      await under.until(() => far.isClosed, 'the stopped socket to notice');
      const { events } = far;
      const before = [...events];
      for (const each of [nearSocket, farSocket]) {
        each.resume();
        each.write([Buffer.from('late')]);
        each.end();
        each.destroy();
      }
      await under.pass();
      expect(events).toEqual(before);
    });

    it('may be told to go on between destroy and closed', async () => {
      await fixture.listening();
      const { far, nearSocket, farSocket } = await fixture.pair();
      far.readsOn = false;
      nearSocket.write([patterned(300_000)]);
      await under.until(() => far.bytesRead > 0, 'a first read');
      const { bytesRead } = far;
      farSocket.destroy();
      farSocket.resume();
      await under.until(() => far.isClosed, 'the socket to be gone');
      expect(far.bytesRead).toBe(bytesRead);
      expect(far.error).toBeNull();
    });

    it('refuses a dial where nobody listens, with the system code', async () => {
      const listener = await fixture.listening();
      let closed = false;
      listener.close(() => (closed = true));
      await under.until(() => closed, 'the listener to close');
      const near = fixture.dial();
      await under.until(() => near.isClosed, 'the refusal');
      expect(near.events).toEqual(['closed']);
      expect(near.error?.code).toBe('ECONNREFUSED');
    });

    it('refuses to listen on a port that is taken, with the system code', async () => {
      await fixture.listening();
      fixture.listen(fixture.address.port);
      await under.until(() => fixture.failures.length > 0, 'the refusal');
      expect(fixture.failures).toEqual(['EADDRINUSE']);
    });

    it('stops listening at once, while accepted sockets live on', async () => {
      const listener = await fixture.listening();
      const { near, far, nearSocket, farSocket } = await fixture.pair();
      let closed = false;
      listener.close(() => (closed = true));
      await under.until(() => closed, 'the listener to close');
      const { port } = fixture.address;
      nearSocket.write([Buffer.from('still')]);
      farSocket.write([Buffer.from('here')]);
      await under.until(() => far.bytesRead === 5 && near.bytesRead === 4, 'the connection to work');
      fixture.address = { host: under.host, port: 0 };
      fixture.listen(port);
      await under.until(() => fixture.address.port !== 0, 'the port to be free again');
      expect(fixture.address.port).toBe(port);
    });

    it('never listens when it is closed before it began to', async () => {
      const listener = fixture.listen();
      let closed = false;
      listener.close(() => (closed = true));
      await under.until(() => closed, 'the listener to close');
      await under.pass();
      expect(fixture.address.port).toBe(0);
      expect(under.liveHandles()).toBe(0);
    });

    it('leaves nothing behind of many connections', async () => {
      await fixture.listening();
      const before = under.liveHandles();
      fixture.onAccepted = (socket, recorder) => {
        recorder.onData = () => {
          if (recorder.bytesRead === 6) socket.write([Buffer.from('PONG\r\n')]);
        };
        recorder.onEnded = () => socket.end();
      };
      for (let i = 0; i < under.manyConnections; i++) {
        const { near, nearSocket } = await fixture.pair();
        nearSocket.write([Buffer.from('PING\r\n')]);
        await under.until(() => near.bytesRead === 6, 'an answer');
        if (i % 2 === 0) nearSocket.end();
        else nearSocket.destroy();
      }
      const everything = [...fixture.accepted, ...fixture.dialled];
      await under.until(() => everything.every((each) => each.isClosed), 'all to close');
      await under.until(() => under.liveHandles() <= before, 'nothing to be left');
      expect(under.liveHandles()).toBe(before);
    });
  });
}
