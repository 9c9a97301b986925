/** The production Io: the host's clocks, timers, randomness, disk and network. */

import { randomBytes } from 'node:crypto';
import type { Io, Random, Timers } from './io.ts';
import { RealClock } from './real-clock.ts';
import { RealDisk } from './real-disk.ts';
import { RealHost } from './real-host.ts';
import { RealNetwork } from './real-network.ts';

const timers: Timers = {
  after(delayMs, callback) {
    const timeout = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timeout) };
  },
  afterTurn: setImmediate,
};

const random: Random = {
  bytes: randomBytes,
  fraction: Math.random,
};

export function realIo(): Io {
  return {
    clock: new RealClock(),
    timers,
    random,
    disk: new RealDisk(),
    network: new RealNetwork(),
    host: new RealHost(),
  };
}
