/** The production Io: the host's clocks, timers, randomness, disk and network. */

import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import type { Io, Random } from './io.ts';
import { RealClock } from './real-clock.ts';
import { RealDisk } from './real-disk.ts';
import { RealHost } from './real-host.ts';
import { openInflater } from './real-inflater.ts';
import { RealNetwork } from './real-network.ts';
import { RealPasswords } from './real-passwords.ts';
import { realTimers } from './real-timers.ts';

const random: Random = {
  bytes: bytesOfKernel,
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
    inflater: openInflater,
  };
}

const POOL_BYTES = 4096;
let pool: Buffer = Buffer.alloc(0);

/** Random bytes, each given once: to open the device for each greeting costs more than all else about its nonce. */
function bytesOfKernel(count: number): Buffer {
  if (count > POOL_BYTES) return readKernel(count);
  if (pool.length < count) pool = readKernel(POOL_BYTES);
  const bytes = Buffer.from(pool.subarray(0, count));
  pool = pool.subarray(count);
  return bytes;
}

/**
 * From where those of node:crypto come, without that module, which takes longer to load than the rest of a start. Where
 * there is no such device (a bare chroot) it has to be loaded.
 */
function readKernel(count: number): Buffer {
  let device: number;
  try {
    device = fs.openSync('/dev/urandom', 'r');
  } catch {
    return randomBytes(count);
  }
  try {
    const bytes = Buffer.allocUnsafe(count);
    if (fs.readSync(device, bytes) !== count) return randomBytes(count);
    return bytes;
  } finally {
    fs.closeSync(device);
  }
}
