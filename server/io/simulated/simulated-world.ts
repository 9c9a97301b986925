/**
 * A simulated world: machines with disks, the network between them, and virtual time, all determined by one seed.
 *
 *     const world = new SimulatedWorld(seed);
 *     const machine = world.machine('site');
 *     const server = new Server(machine.start().io, …);
 *     world.scheduler.runFor(1000);
 *     machine.powerCut();                          what was not synced is lost or not, as the seed decides
 *     const again = new Server(machine.start().io, …);
 *
 * Draw a test's own choices from `random`, never from the runtime; then the seed replays the whole test.
 */

import { Scheduler } from './scheduler.ts';
import { SeededRandom } from './seeded-random.ts';
import { SimulatedMachine } from './simulated-machine.ts';
import { SimulatedNetwork } from './simulated-network.ts';

export class SimulatedWorld {
  readonly scheduler: Scheduler;
  readonly network: SimulatedNetwork;
  /** For the choices of the test. */
  readonly random: SeededRandom;
  private readonly root: SeededRandom;
  private machineCount = 0;

  constructor(seed: number, stepsMax?: number) {
    this.scheduler = new Scheduler(seed, stepsMax);
    this.root = new SeededRandom(seed);
    this.random = this.root.fork('test');
    this.network = new SimulatedNetwork(this.scheduler, this.root.fork('network'));
  }

  /** A new machine, which others reach by this name. */
  machine(name: string): SimulatedMachine {
    const address = `10.0.0.${++this.machineCount}`;
    const machine = new SimulatedMachine(name, address, this.network, this.root.fork(`machine ${name}`));
    this.network.add(machine);
    return machine;
  }
}
