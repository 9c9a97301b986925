/** The production Io: the host's clocks, timers, randomness, disk and network. */

import { randomBytes } from 'node:crypto';
import type { Io, Random } from './io.ts';
import { RealClock } from './real-clock.ts';
import { RealDisk } from './real-disk.ts';
import { RealHost } from './real-host.ts';
import { RealNetwork } from './real-network.ts';
import { RealPasswords } from './real-passwords.ts';
import { realTimers } from './real-timers.ts';

const random: Random = {
  bytes: randomBytes,
  fraction: Math.random,
};

export function realIo(): Io {
  return {
    clock: new RealClock(),
    timers: realTimers,
    random,
    disk: new RealDisk(),
    network: new RealNetwork(),
    host: new RealHost(),
    passwords: new RealPasswords(),
  };
}
