/**
 * Receivers that can't keep up: what is unsent stays bounded, who reads fast enough is not cut off, who does not read is,
 * and whoever was held goes on.
 */
import { describe, expect, it } from 'vitest';
import { DeliveryLedger } from './delivery-ledger.ts';
import { replayable, seedsFor } from './seeds.ts';
import type { SimulatedClient, ClientOptions } from './simulated-client.ts';
import { CoreWorld } from './world.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** A producer is held above this much; what it had sent before may still come in. */
const HOLD_BYTES = MIB;
/** Kernels as they are on a host, so that a fast reader is one. */
const HOST_BUFFERS = { sendBytes: 256 * KIB, receiveBytes: 128 * KIB };
const MESSAGE_BYTES = 8 * KIB;
const STOP_READING: Partial<ClientOptions> = { stopChance: 1, stopMsMax: 10 ** 12 };

class Flood {
  readonly core: CoreWorld;
  readonly ledger = new DeliveryLedger();

  constructor(seed: number, maxPendingBytes: number) {
    this.core = new CoreWorld(seed, { maxPendingBytes });
    this.core.world.network.buffers = HOST_BUFFERS;
    this.core.world.network.largestPiece = 64 * KIB;
  }

  subscriber(name: string, options: Partial<ClientOptions>): SimulatedClient {
    const client = this.core.client(this.core.world.machine(`of ${name}`), name, options);
    this.ledger.watch(client);
    this.ledger.subscribe({ client, sid: '1', pattern: 'flood', queueGroup: '', max: 0, isComplete: true });
    return client;
  }

  publisher(name: string): SimulatedClient {
    const client = this.core.client(this.core.world.machine(`of ${name}`), name);
    this.ledger.watch(client);
    return client;
  }

  publish(client: SimulatedClient, bytes: number): void {
    for (let sent = 0; sent < bytes; sent += MESSAGE_BYTES) this.ledger.publish(client, 'flood', MESSAGE_BYTES, false);
  }
}

describe("receivers that can't keep up", () => {
  const seeds = seedsFor('core-back-pressure');

  it.each(seeds)(
    'a receiver that reads as fast as its link allows gets everything, and little waits for it, seed %i',
    (seed) => {
      replayable(seed, () => {
        const flood = new Flood(seed, 64 * MIB);
        const { core } = flood;
        const receiver = flood.subscriber('receiver', {});
        const publishers = ['first', 'second', 'third'].map((name) => flood.publisher(name));
        core.fence(core.clients);
        for (const each of publishers) flood.publish(each, 6 * MIB);
        // Nobody is held before the receiver has shown that it reads.
        core.until(() => core.server.outbound.unsentBytes > HOLD_BYTES, 'the queue to fill');
        core.until(() => core.server.outbound.unsentBytes < HOLD_BYTES / 2, 'the queue to drain');
        core.unsentBytesMax = 0;
        core.fence(publishers);
        core.fence([receiver]);
        expect(flood.ledger.verdict(() => true)).toEqual([]);
        expect(flood.ledger.deliveries).toBe((3 * 6 * MIB) / MESSAGE_BYTES);
        // Above the mark each producer is read once more, and a chunk is open.
        expect(core.unsentBytesMax).toBeGreaterThan(HOLD_BYTES / 2);
        expect(core.unsentBytesMax).toBeLessThan(HOLD_BYTES + 5 * 64 * KIB);
        core.close();
      });
    },
  );

  it.each(seeds)(
    'a receiver that does not read is cut off at max_pending, and nobody else notices, seed %i',
    (seed) => {
      replayable(seed, () => {
        const maxPendingBytes = 2 * MIB;
        const flood = new Flood(seed, maxPendingBytes);
        const deaf = flood.subscriber('deaf', {});
        const receiver = flood.subscriber('receiver', {});
        const publisher = flood.publisher('publisher');
        flood.core.fence(flood.core.clients);
        Object.assign(deaf.options, STOP_READING);
        flood.publish(publisher, 6 * MIB);
        flood.core.fence([publisher]);
        flood.core.fence([receiver]);
        expect(flood.ledger.verdict((client) => client !== deaf)).toEqual([]);
        expect(receiver.isClosed).toBe(false);
        expect(flood.core.server.slowConsumersPending).toBe(1);
        expect(flood.core.log.filter((line) => line.includes('Slow Consumer Detected'))).toHaveLength(1);
        expect(flood.core.unsentBytesMax).toBeLessThan(2 * maxPendingBytes + 256 * KIB);
        deaf.destroy();
        flood.core.close();
      });
    },
  );

  it.each(seeds)('a receiver whose link is cut is cut off at the write deadline, seed %i', (seed) => {
    replayable(seed, () => {
      const flood = new Flood(seed, 64 * MIB);
      const lost = flood.subscriber('lost', {});
      const receiver = flood.subscriber('receiver', {});
      const publisher = flood.publisher('publisher');
      flood.core.fence(flood.core.clients);
      const { network, scheduler } = flood.core.world;
      network.partition(flood.core.machine, flood.core.machineOf(lost));
      flood.publish(publisher, 4 * MIB);
      flood.core.fence([publisher]);
      flood.core.fence([receiver]);
      scheduler.runFor(flood.core.server.options.writeDeadlineMs + 1000);
      expect(flood.core.server.slowConsumersDeadline).toBe(1);
      expect(flood.core.server.clients.size).toBe(2);
      expect(flood.core.server.outbound.unsentBytes).toBe(0);
      expect(flood.ledger.verdict((client) => client !== lost)).toEqual([]);
      network.heal(flood.core.machine, flood.core.machineOf(lost));
      flood.core.close();
    });
  });
});
