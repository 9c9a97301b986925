/** The faults that a link meets, one after the other, in an order that a seed decides; each kind comes before any repeats. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultProxy } from './fault-proxy.ts';

export interface Fault {
  readonly name: string;
  /** Makes the network misbehave, does `meanwhile`, and makes it well again. */
  inflict(meanwhile: () => void): Promise<void>;
}

const OUTAGE_MS = 600;
/** Longer than two pings a second apart, so that a link that has gone silent is given up. */
const SILENCE_MS = 4_000;
const SLOW_MS = 80;
const DRIP_BYTES = 3;

export class LinkFaults {
  readonly #kinds: readonly Fault[];
  #waiting: Fault[] = [];
  #state: number;

  constructor(proxy: FaultProxy, seed: number) {
    this.#state = seed | 0;
    this.#kinds = kindsOf(proxy);
  }

  next(): Fault {
    if (this.#waiting.length === 0) this.#waiting = [...this.#kinds];
    const [fault] = this.#waiting.splice(this.#below(this.#waiting.length), 1);
    if (fault === undefined) throw new Error('there are no faults');
    return fault;
  }

  /** A number below the bound: an LCG, of which the upper bits are used. */
  #below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((this.#state >>> 0) / 2 ** 32) * bound);
  }
}

function kindsOf(proxy: FaultProxy): readonly Fault[] {
  const fault = (name: string, inflict: (meanwhile: () => void) => Promise<void>): Fault => ({ name, inflict });
  const silence = (direction: 'up' | 'down') => async (meanwhile: () => void) => {
    proxy.pause(direction);
    meanwhile();
    await delay(SILENCE_MS);
    proxy.resume(direction);
  };
  return [
    fault('a reset', async (meanwhile) => {
      proxy.reset();
      meanwhile();
      await delay(0);
    }),
    fault('a reset that the hub does not notice', async (meanwhile) => {
      proxy.resetNear();
      meanwhile();
      await delay(0);
    }),
    fault('an outage', async (meanwhile) => {
      proxy.refuse(true);
      proxy.reset();
      meanwhile();
      await delay(OUTAGE_MS);
      proxy.refuse(false);
    }),
    fault('silence towards the hub', silence('up')),
    fault('silence towards the leaf', silence('down')),
    fault('a half-closed connection, hub first', async (meanwhile) => {
      proxy.halfClose('down');
      meanwhile();
      await delay(0);
    }),
    fault('a half-closed connection, leaf first', async (meanwhile) => {
      proxy.halfClose('up');
      meanwhile();
      await delay(0);
    }),
    fault('a slow link that is cut', async (meanwhile) => {
      proxy.delay(SLOW_MS);
      meanwhile();
      await delay(OUTAGE_MS);
      proxy.reset();
      proxy.delay(0);
    }),
    fault('a reset while the link opens drip by drip', async (meanwhile) => {
      proxy.drip(DRIP_BYTES);
      proxy.reset();
      meanwhile();
      await delay(OUTAGE_MS);
      proxy.reset();
      proxy.drip(0);
    }),
  ];
}
