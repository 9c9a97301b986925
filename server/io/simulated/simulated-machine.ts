/**
 * One machine of a simulated world: its disk, its clocks, its place in the network, and the processes on it.
 *
 *     start() ─► process with an Io ──kill()──► gone: sockets closed by the kernel, disk as the kernel has it
 *                                   └─powerCut()──► gone: nobody is told, the disk has what was durable and perhaps more
 *
 * A process that is gone never runs again: not its timers, not its callbacks. Starting one after a power cut turns the
 * machine on again.
 */

import type { Io } from '../io.ts';
import { DiskSession } from './disk-session.ts';
import type { EventOwner } from './event-queue.ts';
import type { Keep } from './file-content.ts';
import { NetworkInterface } from './network-interface.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedHost } from './simulated-host.ts';
import type { NetworkNode, SimulatedNetwork } from './simulated-network.ts';
import { SimulatedTimers } from './simulated-timers.ts';

const MEMORY_LIMIT_BYTES = 1024 ** 3;
const MONOTONIC_START_MS_MAX = 1_000_000;
const US_PER_MS = 1000;

export class SimulatedProcess implements EventOwner {
  isAlive = true;
  pausedUntilUs = 0;
  readonly io: Io;
  readonly machine: SimulatedMachine;

  constructor(machine: SimulatedMachine, processId: number) {
    this.machine = machine;
    const { scheduler, network, disk, clock, name, address, memoryLimitBytes } = machine;
    const random = machine.random.fork(`process ${processId}`);
    this.io = {
      clock,
      timers: new SimulatedTimers(scheduler, this, random.fork('timers')),
      random: random.fork('random'),
      disk: new DiskSession(disk, this),
      network: new NetworkInterface(network, machine, this),
      host: new SimulatedHost(name, processId, address, memoryLimitBytes),
      // No simulation logs in with a hash.
      passwords: { compare: () => false },
    };
  }

  /** Nothing of the process runs for so long; what the kernel does for it goes on. */
  pause(ms: number): void {
    this.pausedUntilUs = this.machine.scheduler.nowUs + ms * US_PER_MS;
  }

  /** The process ends at once, as by SIGKILL; the machine goes on. */
  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.machine.network.processGone(this);
    this.machine.disk.processGone(this);
  }
}

export class SimulatedMachine implements NetworkNode {
  readonly name: string;
  readonly address: string;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly network: SimulatedNetwork;
  readonly disk: SimulatedDisk;
  readonly clock: SimulatedClock;
  memoryLimitBytes: number = MEMORY_LIMIT_BYTES;
  private readonly processes: SimulatedProcess[] = [];
  private nextProcessId = 1;

  constructor(name: string, address: string, network: SimulatedNetwork, random: SeededRandom) {
    this.name = name;
    this.address = address;
    this.network = network;
    this.scheduler = network.scheduler;
    this.random = random;
    this.disk = new SimulatedDisk(this.scheduler, random.fork('disk'));
    this.clock = new SimulatedClock(this.scheduler, random.fork('clock').below(MONOTONIC_START_MS_MAX));
  }

  /** Starts a process; turns the machine on if it has no power. */
  start(): SimulatedProcess {
    this.network.powerReturns(this);
    const process = new SimulatedProcess(this, this.nextProcessId++);
    this.processes.push(process);
    return process;
  }

  /** The power goes, until a process is started. `keep` says what becomes of that which was not synced. */
  powerCut(keep: Keep = 'seeded'): void {
    for (const each of this.processes.splice(0)) each.isAlive = false;
    this.network.powerGoes(this);
    this.disk.powerCut(keep);
  }
}
