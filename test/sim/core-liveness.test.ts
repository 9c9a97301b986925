/** Peers that fall silent are noticed, whatever the network does, and those that only pause are not cut off. */
import { describe, expect, it } from 'vitest';
import { replayable, seedsFor } from './seeds.ts';
import { CoreWorld } from './world.ts';

const PING_INTERVAL_MS = 1000;
const PINGS_OUT = 2;
/** The last ping that is answered, those that are not, and the one at which it shows. */
const NOTICED_MS = (PINGS_OUT + 2) * PING_INTERVAL_MS + 3000;

describe('peers that fall silent', () => {
  const seeds = seedsFor('core-liveness');

  it.each(seeds)(
    'a client behind a cut link, or on a machine without power, is stale after its pings, seed %i',
    (seed) => {
      replayable(seed, () => {
        const core = new CoreWorld(seed, { pingIntervalMs: PING_INTERVAL_MS, maxPingsOut: PINGS_OUT });
        const { network, scheduler } = core.world;
        const machines = ['cut', 'mute', 'dark', 'fine'].map((name) => core.world.machine(name));
        const [cut, mute, dark] = machines as [(typeof machines)[0], (typeof machines)[0], (typeof machines)[0]];
        const clients = machines.map((machine) => core.client(machine, machine.name));
        core.fence(clients);
        network.partition(core.machine, cut);
        network.cut(mute, core.machine);
        dark.powerCut();
        scheduler.runFor(NOTICED_MS);
        expect(core.server.clients.size).toBe(1);
        expect(core.server.staleConnections).toBe(3);
        expect(clients.at(-1)?.isClosed).toBe(false);
        network.heal(core.machine, cut);
        network.heal(core.machine, mute);
        core.until(() => clients[0]?.isClosed === true && clients[1]?.isClosed === true, 'the others to notice');
      });
    },
  );

  it.each(seeds)(
    'clients live through pauses of the server and of themselves, and through a clock that is set, seed %i',
    (seed) => {
      replayable(seed, () => {
        const core = new CoreWorld(seed, { pingIntervalMs: PING_INTERVAL_MS, maxPingsOut: PINGS_OUT });
        const { scheduler } = core.world;
        const machine = core.world.machine('clients');
        const clients = ['a', 'b', 'c'].map((name) => core.client(machine, name));
        core.fence(clients);
        core.machine.clock.jumpWall(-86_400_000);
        core.process.pause(1500);
        scheduler.runFor(4000);
        core.machine.clock.jumpWall(2 * 86_400_000);
        core.processOf(clients[0] as (typeof clients)[0]).pause(1500);
        scheduler.runFor(4000);
        core.fence(clients);
        expect(clients.map(({ isClosed }) => isClosed)).toEqual([false, false, false]);
        expect(core.server.staleConnections).toBe(0);
        core.close();
      });
    },
  );

  it.each(seeds)('a client that never says CONNECT is sent away where that is required, seed %i', (seed) => {
    replayable(seed, () => {
      const core = new CoreWorld(seed, {
        authorization: {
          username: 'u',
          password: 'p',
          token: '',
          users: [],
          noAuthUser: '',
          timeoutMs: 500,
        },
      });
      const machine = core.world.machine('clients');
      const silent = core.client(machine, 'silent', { sendsConnect: false });
      const stranger = core.client(machine, 'stranger');
      core.until(() => silent.isClosed && stranger.isClosed, 'both to be sent away', 5000);
      expect(silent.errors).toEqual(["'Authentication Timeout'"]);
      expect(stranger.errors).toEqual(["'Authorization Violation'"]);
      core.close();
    });
  });
});
