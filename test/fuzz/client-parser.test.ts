/**
 * Whatever bytes come over a client connection: the parser takes operations out of them or refuses them, and takes
 * nothing after a refusal; a whole server goes on, its other clients notice nothing, and nothing of the hostile ones
 * remains. FUZZ_SEED replays a run, FUZZ_RUNS makes it longer; a failure prints its seed.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServerOptions } from '../../server/config/options.ts';
import { defaultOptions } from '../../server/config/draft.ts';
import type { Io } from '../../server/io/io.ts';
import { readClientOperations } from '../helpers/client-operations.ts';
import { clientSubscriptions, CoreWorld } from '../sim/world.ts';
import { cut, hostileBytes } from './hostile-bytes.ts';
import { HostilePeer, type PeerScript } from './hostile-peer.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 2_000);
const WORLD_RUNS = Math.ceil(RUNS / 20);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const MAX_PAYLOAD = 100_000;
/** By then a client has been greeted. */
const GREETED_MS = 500;
const CONNECT = 'CONNECT {"verbose":false,"pedantic":false,"headers":true,"user":"u","pass":"secret"}\r\n';

process.stdout.write(`client parser: FUZZ_SEED=${SEED}\n`);

const script: fc.Arbitrary<PeerScript> = fc
  .record({
    bytes: hostileBytes,
    cuts: fc.array(fc.nat(10_000), { maxLength: 6 }),
    pauseMs: fc.constantFrom(0, 0, 1, 40),
    reads: fc.boolean(),
    ending: fc.constantFrom('end' as const, 'destroy' as const, 'stay' as const),
  })
  .map(({ bytes, cuts, ...rest }) => ({ pieces: cut(bytes, cuts), ...rest }));

/** Two clients in the middle of hostile ones: what one says to the other has to arrive, whole and in order. */
class Crossfire {
  readonly core: CoreWorld;
  readonly heard: string[] = [];
  readonly said: string[] = [];
  readonly errors: string[];
  private readonly speaker;
  private readonly listener;
  private readonly hostileIo: Io;
  private peers: HostilePeer[] = [];

  constructor(seed: number, options: Partial<ServerOptions>) {
    this.core = new CoreWorld(seed, { maxPayloadBytes: MAX_PAYLOAD, maxPendingBytes: 1 << 20, ...options });
    this.hostileIo = this.core.world.machine('hostile').start().io;
    const machine = this.core.world.machine('witnesses');
    this.speaker = this.core.client(machine, 'speaker', { sendsConnect: false });
    this.listener = this.core.client(machine, 'listener', { sendsConnect: false });
    this.core.world.scheduler.runFor(GREETED_MS);
    this.speaker.send(CONNECT);
    this.listener.send(CONNECT);
    this.errors = this.listener.errors;
    this.listener.onMessage = ({ subject, payload }) => this.heard.push(`${subject} ${payload.toString('latin1')}`);
    this.listener.subscribe('1', 'witness.*');
    this.core.fence([this.speaker, this.listener]);
  }

  run(scripts: readonly PeerScript[]): void {
    const { core, speaker } = this;
    const address = { host: core.machine.name, port: 4222 };
    for (const each of scripts) {
      this.peers.push(new HostilePeer(this.hostileIo, address, each));
      this.speak();
      core.world.scheduler.runFor(20);
    }
    core.until(() => this.peers.every(({ isDone }) => isDone), 'the hostile ones to be done');
    this.speak();
    core.fence([speaker, this.listener]);
    core.fence([speaker, this.listener]);
    for (const each of this.peers) each.hangUp();
    this.peers = [];
    core.until(() => core.server.clients.size === 2, 'the hostile ones to be gone');
    core.until(() => core.server.outbound.unsentBytes === 0, 'what was sent to be taken');
  }

  private speak(): void {
    const text = `says ${this.said.length}`;
    this.said.push(`witness.a ${text}`);
    this.speaker.publish('witness.a', '', Buffer.from(text));
  }
}

describe('the client parser', () => {
  test('takes or refuses any bytes, alike in one piece and in many', () => {
    fc.assert(
      fc.property(hostileBytes, fc.array(fc.nat(10_000), { maxLength: 5 }), (bytes, cuts) => {
        const whole = readClientOperations([bytes]);
        expect(whole).not.toContain('after the end');
        expect(whole).not.toContain('the tail is');
        expect(readClientOperations(cut(bytes, cuts))).toBe(whole);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

describe.each([
  ['to which everybody may connect', {}],
  [
    'that wants a password',
    { authorization: { ...defaultOptions().authorization, username: 'u', password: 'secret' } },
  ],
])('a server %s', (_, options: Partial<ServerOptions>) => {
  test('goes on among hostile clients, and keeps nothing of them', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(script, { minLength: 1, maxLength: 8 }), (seed, scripts) => {
        const crossfire = new Crossfire(seed, options);
        crossfire.run(scripts);
        expect(crossfire.heard).toEqual(crossfire.said);
        expect(crossfire.errors).toEqual([]);
        const { server } = crossfire.core;
        expect(clientSubscriptions(server)).toHaveLength(1);
        crossfire.core.close();
      }),
      { numRuns: WORLD_RUNS, seed: SEED },
    );
  });
});

describe('memory', () => {
  const WAVES = 60;
  const PEERS = 10;
  const GROWTH_BYTES_MAX = 1_000_000;

  test('does not grow with the number of hostile clients that came and went', () => {
    const crossfire = new Crossfire(SEED, { maxClosedClients: 10 });
    const scripts = fc.sample(script, { numRuns: WAVES * PEERS, seed: SEED });
    const held: number[] = [];
    for (let wave = 0; wave < WAVES; wave++) {
      crossfire.run(scripts.slice(wave * PEERS, (wave + 1) * PEERS));
      crossfire.core.log.length = 0;
      held.push(heldBytes());
    }
    const [early = 0, late = 0] = [held[WAVES / 3], held.at(-1)];
    expect(late - early).toBeLessThan(GROWTH_BYTES_MAX);
    expect(crossfire.heard).toEqual(crossfire.said);
    crossfire.core.close();
  });
});

/** Bytes that something still refers to. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
