/**
 * A TCP proxy on 127.0.0.1 between two parties of a test, which makes the network misbehave on demand: it resets
 * connections, stops passing on one direction (as a link does that has died without a word), delays what it passes on,
 * passes it on in drips, or closes one direction only.
 *
 *     dialling party ──► proxy ──► target         'up': towards the target       'down': back from it
 *
 * Settings hold for the connections there are and those to come, until changed. Bytes are passed on in order.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ServerAddress } from './wire-client.ts';

export type Direction = 'up' | 'down';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

export class FaultProxy {
  /** Where new connections go; may be changed. */
  target: ServerAddress;
  /** Connections accepted so far. */
  accepted = 0;
  /** When they were accepted, in performance.now() time. */
  readonly acceptedMs: number[] = [];
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #paused = new Set<Direction>();
  #delayMs = 0;
  #dripBytes = 0;
  #refuses = false;

  constructor(target: ServerAddress) {
    this.target = target;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get address(): ServerAddress {
    const { port } = this.#server.address() as AddressInfo;
    return { host: '127.0.0.1', port };
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Ends every connection with a TCP reset, on both sides. */
  reset(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Ends the dialling party's side of every connection with a reset; the target notices nothing. */
  resetNear(): void {
    for (const { near } of this.#pairs) near.resetAndDestroy();
  }

  /** Accepts and resets at once from now on, or no longer. */
  refuse(refuses: boolean): void {
    this.#refuses = refuses;
  }

  /** Passes nothing on in this direction; what arrives is read and waits. */
  pause(direction: Direction): void {
    this.#paused.add(direction);
    for (const pair of this.#pairs) source(pair, direction).pause();
  }

  resume(direction: Direction): void {
    this.#paused.delete(direction);
    for (const pair of this.#pairs) source(pair, direction).resume();
  }

  /** Passes everything on so much later, in both directions. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Passes everything on in pieces of so few bytes, each a write of its own; 0: as it comes. */
  drip(bytes: number): void {
    this.#dripBytes = bytes;
  }

  /** Tells the receiving party of this direction that nothing more will come; the other direction stays. */
  halfClose(direction: Direction): void {
    for (const pair of this.#pairs) sink(pair, direction).end();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.reset();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    this.accepted++;
    this.acceptedMs.push(performance.now());
    if (this.#refuses) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ ...this.target, noDelay: true, allowHalfOpen: true });
    const pair = { near, far };
    this.#pairs.add(pair);
    near.setNoDelay(true);
    this.#pass(pair, 'up');
    this.#pass(pair, 'down');
  }

  #pass(pair: Pair, direction: Direction): void {
    const from = source(pair, direction);
    const to = sink(pair, direction);
    // Errors are what this proxy is for; 'close' follows.
    from.on('error', () => to.destroy());
    from.on('data', (bytes) => {
      for (const piece of this.#pieces(bytes)) this.#later(() => to.write(piece));
    });
    from.on('end', () => this.#later(() => to.end()));
    from.on('close', () => {
      // The target must not notice when only the near side was reset.
      if (direction === 'down') pair.near.destroy();
      if (this.#bothClosed(pair)) this.#pairs.delete(pair);
    });
    if (this.#paused.has(direction)) from.pause();
  }

  #pieces(bytes: Buffer): Buffer[] {
    const length = this.#dripBytes;
    if (length === 0) return [bytes];
    const count = Math.ceil(bytes.length / length);
    return Array.from({ length: count }, (_, i) => bytes.subarray(i * length, (i + 1) * length));
  }

  #bothClosed({ near, far }: Pair): boolean {
    return near.destroyed && far.destroyed;
  }

  #later(action: () => void): void {
    if (this.#delayMs === 0) action();
    else setTimeout(action, this.#delayMs);
  }
}

/** Starts a proxy to `target`; it is closed when the test has ended. */
export async function startFaultProxy(target: ServerAddress): Promise<FaultProxy> {
  const proxy = new FaultProxy(target);
  await proxy.listen();
  onTestFinished(() => proxy.close());
  return proxy;
}

function source({ near, far }: Pair, direction: Direction): Socket {
  return direction === 'up' ? near : far;
}

function sink({ near, far }: Pair, direction: Direction): Socket {
  return direction === 'up' ? far : near;
}
