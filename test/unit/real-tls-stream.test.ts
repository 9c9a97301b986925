/** Encrypted connections of the host: what every socket promises, with and without the runtime's handle. */
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Address, SecuringNetwork, Socket } from '../../server/io/io.ts';
import { RealNetwork } from '../../server/io/real-network.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { patterned, SocketRecorder } from './network-recorder.ts';

type Securing = Pick<SecuringNetwork, 'context' | 'listen'>;

interface Pair {
  readonly near: TLSSocket;
  readonly received: () => Buffer;
  readonly far: SocketRecorder;
  readonly farSocket: Socket;
}

const MANY_BYTES = 3_000_000;

async function pair(network: Securing): Promise<Pair> {
  const authority = new TestAuthority(temporaryDirectory());
  const context = network.context({
    certificates: [authority.issueServer()],
    authorities: null,
    verifiesClients: false,
    minVersion: 'TLSv1.2',
    ciphers: ['TLS_AES_128_GCM_SHA256'],
    curves: ['X25519'],
  });
  const far = new SocketRecorder();
  let isShaken = false;
  let address: Address | null = null;
  const listener = network.listen(
    { host: '127.0.0.1', port: 0 },
    {
      listening: (bound) => (address = bound),
      failed: (error) => {
        throw error;
      },
      accepted: (socket) => {
        far.socket = socket;
        const leave = (goOn: () => void): void => goOn();
        socket.shakeHands(context, leave, (error) => {
          expect(error).toBe(null);
          isShaken = true;
        });
        return far;
      },
    },
  );
  const { host, port } = await until<Address | null>(() => address, 'the port');
  const near = connect({ host, port, ca: authority.certificate, servername: 'localhost' });
  const chunks: Buffer[] = [];
  near.on('data', (bytes) => chunks.push(bytes));
  near.on('error', () => undefined);
  onTestFinished(() => {
    near.destroy();
    far.socket?.destroy();
    listener.close(() => undefined);
  });
  await until(() => isShaken, 'the handshake');
  return { near, received: () => Buffer.concat(chunks), far, farSocket: far.socket as Socket };
}

function onHandles(): Promise<Securing> {
  return Promise.resolve(new RealNetwork().tls);
}

/** Where the runtime does not give its streams. */
async function throughRuntime(): Promise<Securing> {
  const runtime = process as { binding?: unknown };
  const { binding } = runtime;
  runtime.binding = undefined;
  vi.resetModules();
  try {
    const changed = await import('../../server/io/real-network.ts');
    return new changed.RealNetwork().tls;
  } finally {
    runtime.binding = binding;
    vi.resetModules();
  }
}

describe.each([
  ['directly on the handle', onHandles],
  ["through the runtime's socket", throughRuntime],
] as const)('an encrypted connection %s', (_, network) => {
  it('brings bytes whole and in order, both ways at once, however many pieces they come in', async () => {
    const { near, received, far, farSocket } = await pair(await network());
    const bytes = patterned(MANY_BYTES);
    near.write(bytes);
    farSocket.write([bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000)]);
    await until(() => far.bytesRead >= bytes.length && received().length >= bytes.length, 'all bytes');
    expect(far.received.equals(bytes)).toBe(true);
    expect(received().equals(bytes)).toBe(true);
    expect(far.count('written')).toBe(1);
  });

  it('takes one write after the other', async () => {
    const { received, far, farSocket } = await pair(await network());
    const bytes = patterned(200_000);
    let at = 0;
    const next = (): void => {
      if (at < bytes.length) farSocket.write([bytes.subarray(at, (at += 10_000))]);
    };
    far.onWritten = next;
    next();
    await until(() => received().length >= bytes.length, 'all of them');
    expect(received().equals(bytes)).toBe(true);
  });

  it('keeps what comes while it is stopped, and the end behind it', async () => {
    const { near, far, farSocket } = await pair(await network());
    const bytes = patterned(MANY_BYTES);
    far.readsOn = false;
    near.end(bytes);
    // Each time it goes on for one read.
    for (let reads = 1; reads < 20; reads++) {
      await until(() => far.readSizes.length >= reads, 'a read');
      expect(far.readSizes).toHaveLength(reads);
      farSocket.resume();
    }
    expect(far.count('ended')).toBe(0);
    await until(() => far.readSizes.length === 20, 'the last of them');
    far.readsOn = true;
    farSocket.resume();
    await until(() => far.count('ended') === 1, 'the end');
    expect(far.received.equals(bytes)).toBe(true);
  });

  it('ends after what was written has gone out', async () => {
    const { near, received, far, farSocket } = await pair(await network());
    const bytes = patterned(MANY_BYTES);
    near.pause();
    farSocket.write([bytes.subarray(0, 100), bytes.subarray(100)]);
    farSocket.end();
    near.resume();
    await until(() => far.isClosed, 'it to close');
    await until(() => near.closed, 'the other end to close');
    expect(received().equals(bytes)).toBe(true);
    expect(far.error).toBe(null);
  });

  it('can be given up in the middle of a write and of a read', async () => {
    const { near, far, farSocket } = await pair(await network());
    near.pause();
    farSocket.write([patterned(20_000_000)]);
    far.onData = () => farSocket.destroy();
    near.write('bytes');
    await until(() => far.isClosed, 'it to close');
    expect(far.count('written')).toBe(0);
  });

  it('tells of a peer that breaks off', async () => {
    const { near, far, farSocket } = await pair(await network());
    const plain = near as unknown as { _handle: { _parent: { reset(done: () => void): void } } };
    farSocket.write([patterned(20_000_000)]);
    plain._handle._parent.reset(() => undefined);
    await until(() => far.isClosed || far.count('ended') === 1, 'the end');
    expect(far.error?.code ?? 'none').toMatch(/^(ECONNRESET|EPIPE)$/);
  });
});
