/** The host's sockets: what every network promises on both ways of accepting, and what is the host's alone. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Server as RuntimeServer, type Socket as RuntimeSocket } from 'node:net';
import { constants, networkInterfaces } from 'node:os';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Address, Network, SocketHandler } from '../../server/io/io.ts';
import { RealNetwork } from '../../server/io/real-network.ts';
import { until } from '../helpers/until.ts';
import { describeNetwork, type HalfClosingPeer, type NetworkUnderTest } from './network-contract.ts';
import { patterned, SocketRecorder } from './network-recorder.ts';

const PASS_MS = 30;
const SOON_TURNS = 100;

function onHost(takesHandles: boolean): NetworkUnderTest {
  return {
    network: new RealNetwork({ takesHandles }),
    host: '127.0.0.1',
    manyConnections: 1000,
    liveHandles: () => process.getActiveResourcesInfo().filter((each) => each.startsWith('TCP')).length,
    dialHalfClosing,
    until: async (condition, what) => {
      // Most conditions hold within a few turns; the others can wait for the clock.
      for (let i = 0; i < SOON_TURNS && !condition(); i++) await turn();
      await until(condition, what);
    },
    pass: async () => delay(PASS_MS),
  };
}

function dialHalfClosing({ host, port }: Address, bytes: Buffer): HalfClosingPeer {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.end(bytes);
  let read = 0;
  socket.on('data', (chunk) => (read += chunk.length));
  return { bytesRead: () => read, isClosed: () => socket.closed };
}

describeNetwork("the host's, directly on the handles of connections", () => onHost(true));
describeNetwork("the host's, on connections as the runtime wraps them", () => onHost(false));

describe("the host's network", () => {
  it.each([
    ['takes connections before the runtime wraps them', true, 0],
    ['lets the runtime wrap connections when it has to', false, 1],
  ])('%s', async (_, takesHandles, wrapped) => {
    expect(await wrappedBy(new RealNetwork({ takesHandles }))).toBe(wrapped);
  });

  it.each([
    ['does not give its streams', undefined],
    [
      'refuses them',
      () => {
        throw new Error('no access');
      },
    ],
    ['gives something else', () => ({ WriteWrap: Object, streamBaseState: new Int32Array(1) })],
  ])('lets the runtime wrap connections when it %s', async (_, binding) => {
    const runtime = process as { binding?: unknown };
    const { binding: original } = runtime;
    runtime.binding = binding;
    vi.resetModules();
    try {
      const changed = await import('../../server/io/real-network.ts');
      expect(await wrappedBy(new changed.RealNetwork())).toBe(1);
    } finally {
      runtime.binding = original;
      vi.resetModules();
    }
  });

  it.each([
    ['writes past the runtime where it dialled', true, 0],
    ['lets the runtime write where it dialled when it has to', false, 1],
  ])('%s', async (_, takesHandles, writes) => {
    const sockets: RuntimeSocket[] = [];
    const onSocket = (message: unknown): void => {
      sockets.push((message as { socket: RuntimeSocket }).socket);
    };
    subscribe('net.client.socket', onSocket);
    try {
      await withConnection('127.0.0.1', '127.0.0.1', takesHandles, async (near, far) => {
        const [socket] = sockets as [RuntimeSocket];
        const write = vi.spyOn(socket, 'write');
        near.socket?.write([patterned(100)]);
        await until(() => far.bytesRead === 100 && near.count('written') === 1, 'the bytes');
        expect(write).toHaveBeenCalledTimes(writes);
      });
    } finally {
      unsubscribe('net.client.socket', onSocket);
    }
  });

  it('tells of a connection that could not be accepted, and goes on', async () => {
    const servers: RuntimeServer[] = [];
    const onListening = (message: unknown): void => {
      servers.push((message as { server: RuntimeServer }).server);
    };
    const failures: (string | undefined)[] = [];
    subscribe('tracing:net.server.listen:asyncEnd', onListening);
    try {
      await withConnectionOn(
        new RealNetwork(),
        '127.0.0.1',
        '127.0.0.1',
        async (_near, _far, address) => {
          const [server] = servers as unknown as [{ _handle: { onconnection(status: number): void } }];
          server._handle.onconnection(constants.errno.EMFILE * -1);
          const again = new SocketRecorder();
          const socket = new RealNetwork().connect(address, again);
          await until(() => again.count('connected') === 1, 'another connection');
          socket.destroy();
          await until(() => again.isClosed, 'it to close');
        },
        failures,
      );
    } finally {
      unsubscribe('tracing:net.server.listen:asyncEnd', onListening);
    }
    expect(failures).toEqual(['EMFILE']);
  });

  it('hands on in parts what the runtime read at once, and keeps the rest while it is stopped', async () => {
    const sockets: RuntimeSocket[] = [];
    const onSocket = (message: unknown): void => {
      sockets.push((message as { socket: RuntimeSocket }).socket);
    };
    subscribe('net.server.socket', onSocket);
    try {
      await withConnection('127.0.0.1', '127.0.0.1', false, async (_near, far) => {
        const bytes = patterned(300_000);
        far.readsOn = false;
        sockets[0]?.emit('data', bytes);
        await delay(PASS_MS);
        expect(far.readSizes).toEqual([65_536]);
        far.readsOn = true;
        far.socket?.resume();
        await until(() => far.bytesRead === bytes.length, 'the rest');
        expect(far.received.equals(bytes)).toBe(true);
      });
    } finally {
      unsubscribe('net.server.socket', onSocket);
    }
  });

  it('shows IPv4 peers as such when it listens on all addresses, and says 0.0.0.0', async () => {
    await withConnection('0.0.0.0', '127.0.0.1', true, (near, far, address) => {
      expect(address.host).toBe('0.0.0.0');
      expect(far.socket?.remote.host).toBe('127.0.0.1');
      expect(far.socket?.local.host).toBe('127.0.0.1');
      expect(near.socket?.remote).toEqual({ host: '127.0.0.1', port: address.port });
    });
  });

  it.runIf(hasIpv6())('hears IPv6 too when it listens on 0.0.0.0, as nats-server does', async () => {
    await withConnection('0.0.0.0', '::1', true, (_near, far) => {
      expect(far.socket?.remote.host).toBe('::1');
    });
  });

  it('dials a name', async () => {
    await withConnection('127.0.0.1', 'localhost', true, (near, _far, address) => {
      expect(near.socket?.remote.port).toBe(address.port);
    });
  });

  it('tells of a name that does not exist', async () => {
    const recorder = new SocketRecorder();
    new RealNetwork().connect({ host: 'no-such-host.invalid', port: 4222 }, recorder);
    await until(() => recorder.isClosed, 'the dial to fail');
    expect(recorder.events).toEqual(['closed']);
    expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(recorder.error?.code);
  });

  it('tells of an address that is not this host', async () => {
    const failures: (string | undefined)[] = [];
    const listener = new RealNetwork().listen(
      { host: '192.0.2.1', port: 0 },
      {
        listening: () => undefined,
        accepted: () => new SocketRecorder(),
        failed: (error) => failures.push(error.code),
      },
    );
    await until(() => failures.length > 0, 'listening to fail');
    expect(failures).toEqual(['EADDRNOTAVAIL']);
    let closed = false;
    listener.close(() => (closed = true));
    await until(() => closed, 'the listener to close');
  });
});

describe("the host's HTTP", () => {
  it('answers requests whole, HEAD without a body, and gives the port back at once', async () => {
    const network = new RealNetwork();
    const requests: string[] = [];
    let address: Address | null = null;
    const listener = network.serveHttp(
      { host: '127.0.0.1', port: 0 },
      {
        listening: (bound) => (address = bound),
        request: ({ method, url, headers }, respond) => {
          requests.push(`${method} ${url} ${String(headers['x-test'])}`);
          respond({ status: 201, headers: { 'content-type': 'text/plain' }, body: 'body' });
        },
        failed: (error) => {
          throw error;
        },
      },
    );
    const { host, port } = await until<Address | null>(() => address, 'the port');
    const got = await fetch(`http://${host}:${port}/varz?a=1`, { headers: { 'x-test': 'yes' } });
    expect([got.status, got.headers.get('content-type'), await got.text()]).toEqual([201, 'text/plain', 'body']);
    const head = await fetch(`http://${host}:${port}/varz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([201, '']);
    expect(requests).toEqual(['GET /varz?a=1 yes', 'HEAD /varz undefined']);
    let closed = false;
    listener.close(() => (closed = true));
    await until(() => closed, 'the listener to close');
    await expect(fetch(`http://${host}:${port}/varz`)).rejects.toThrow('fetch failed');
  });

  it('tells of a port that is taken', async () => {
    const network = new RealNetwork();
    await withConnection('127.0.0.1', '127.0.0.1', true, async (_near, _far, address) => {
      const failures: (string | undefined)[] = [];
      network.serveHttp(address, {
        listening: () => undefined,
        request: () => undefined,
        failed: (error) => failures.push(error.code),
      });
      await until(() => failures.length > 0, 'listening to fail');
      expect(failures).toEqual(['EADDRINUSE']);
    });
  });
});

/** How many of one connection's ends the runtime wrapped for the listener, while bytes went both ways. */
async function wrappedBy(network: Network): Promise<number> {
  let count = 0;
  const onSocket = (): void => {
    count++;
  };
  subscribe('net.server.socket', onSocket);
  try {
    await withConnectionOn(network, '127.0.0.1', '127.0.0.1', async (near, far) => {
      near.socket?.write([patterned(100)]);
      far.socket?.write([patterned(100)]);
      await until(() => near.bytesRead === 100 && far.bytesRead === 100, 'the bytes');
    });
  } finally {
    unsubscribe('net.server.socket', onSocket);
  }
  return count;
}

type Body = (near: SocketRecorder, far: SocketRecorder, address: Address) => void | Promise<void>;

async function withConnection(listenHost: string, dialHost: string, takesHandles: boolean, body: Body): Promise<void> {
  await withConnectionOn(new RealNetwork({ takesHandles }), listenHost, dialHost, body);
}

/** Runs `body` on both ends of a connection, and takes everything down. Later connections are closed as they come. */
async function withConnectionOn(
  network: Network,
  listenHost: string,
  dialHost: string,
  body: Body,
  failures: (string | undefined)[] = [],
): Promise<void> {
  const near = new SocketRecorder();
  const far = new SocketRecorder();
  let address: Address | null = null;
  const listener = network.listen(
    { host: listenHost, port: 0 },
    {
      listening: (bound) => (address = bound),
      accepted: (socket): SocketHandler => {
        if (far.socket !== null) {
          socket.destroy();
          return new SocketRecorder();
        }
        far.socket = socket;
        return far;
      },
      failed: (error) => failures.push(error.code),
    },
  );
  const bound = await until<Address | null>(() => address, 'the port');
  near.socket = network.connect({ host: dialHost, port: bound.port }, near);
  await until(() => near.count('connected') === 1 && far.socket !== null, 'a connection');
  try {
    await body(near, far, bound);
  } finally {
    near.socket.destroy();
    far.socket?.destroy();
    let closed = false;
    listener.close(() => (closed = true));
    await until(() => closed && near.isClosed && far.isClosed, 'everything to close');
  }
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));
}
