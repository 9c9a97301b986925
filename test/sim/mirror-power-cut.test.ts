/**
 * Mirrors and sources while the power goes: whatever was acknowledged gets to them once and in order, and a work queue
 * lets go only what is safe elsewhere.
 */
import { describe, expect, it } from 'vitest';
import type { MessageStore } from '../../jetstream/store/store.ts';
import { readAll, type Stored } from '../helpers/store-messages.ts';
import { BatchWorld } from './batch-world.ts';
import { MirrorLedger } from './mirror-ledger.ts';
import { replayable, seedsFor } from './seeds.ts';

const CUTS = 4;
const ACKNOWLEDGED_MIN = 40;
const RUN_MS_MAX = 400;
const STEP_MS = 5;
const TOKENS = ['a', 'b', 'c'];
const LARGE_BYTES = 40_000;

const FED = [
  { name: 'M', mirror: { name: 'O' } },
  { name: 'T', sources: [{ name: 'O' }] },
  {
    name: 'F',
    sources: [
      { name: 'O', filter_subject: 'o.a' },
      { name: 'P', subject_transforms: [{ src: 'p.b', dest: 'was.b' }] },
    ],
  },
  { name: 'D', sources: [{ name: 'Q' }] },
  { name: 'C', mirror: { name: 'T' } },
];

describe('power cuts while streams are fed from others', () => {
  it.each(seedsFor('mirror-power-cut'))('lose nothing and bring nothing twice (seed %i)', (seed) => {
    replayable(seed, () => {
      const world = new BatchWorld(seed);
      const ledgers = { O: new MirrorLedger(), P: new MirrorLedger(), Q: new MirrorLedger() };
      makeStreams(world);
      for (let cut = 0; cut < CUTS; cut++) {
        for (const [name, ledger] of Object.entries(ledgers)) new Publisher(world, name, ledger, cut).begin();
        const all = Object.values(ledgers);
        const enough = all.map(({ acknowledgedCount }) => acknowledgedCount + ACKNOWLEDGED_MIN);
        world.until(
          () => all.every(({ acknowledgedCount }, at) => acknowledgedCount >= (enough[at] as number)),
          'messages to be published',
        );
        world.world.scheduler.runFor(world.world.random.fraction() * RUN_MS_MAX);
        world.restart();
        // Now and then the power goes again before much is taken over.
        world.world.scheduler.runFor(world.world.random.fraction() * RUN_MS_MAX);
        if (world.world.random.chance(0.5)) world.restart();
        awaitAll(world);
        check(world, ledgers);
      }
      expect(world.log.filter((line) => line.includes('[ERR]'))).toEqual([]);
    });
  });
});

function makeStreams(world: BatchWorld): void {
  for (const name of ['O', 'P']) {
    world.request(`STREAM.CREATE.${name}`, JSON.stringify({ name, subjects: [`${name.toLowerCase()}.>`] }));
  }
  world.request('STREAM.CREATE.Q', JSON.stringify({ name: 'Q', subjects: ['q.>'], retention: 'workqueue' }));
  for (const config of FED) world.request(`STREAM.CREATE.${config.name}`, JSON.stringify(config));
}

/** Waits until every stream has got all that its origins have. */
function awaitAll(world: BatchWorld): void {
  const { O, P, Q } = { O: storeOf(world, 'O'), P: storeOf(world, 'P'), Q: storeOf(world, 'Q') };
  world.until(() => Q.messages === 0, 'the work queue to be worked off');
  world.until(() => storeOf(world, 'M').lastSequence >= lastLive(O), 'the mirror to have it all');
  world.until(() => position(world, 'T', 'O > >') >= lastLive(O), 'the source to be read');
  world.until(() => storeOf(world, 'C').lastSequence >= storeOf(world, 'T').lastSequence, 'the chain to be whole');
  // What is filtered has no end that could be seen.
  world.world.scheduler.runFor(1000);
  expect(position(world, 'F', 'P p.b was.b')).toBeLessThanOrEqual(P.lastSequence);
}

function check(world: BatchWorld, { O, P, Q }: Record<'O' | 'P' | 'Q', MirrorLedger>): void {
  O.checkMirror('M', heldBy(world, 'M'));
  O.checkSource('T', heldBy(world, 'T'), () => true);
  const filtered = heldBy(world, 'F');
  const ofO = filtered.filter(({ subject }) => subject.startsWith('o.'));
  const ofP = filtered.filter(({ subject }) => subject.startsWith('was.'));
  expect(ofO.length + ofP.length).toBe(filtered.length);
  O.checkSource('F of O', ofO, (subject) => subject === 'o.a');
  P.checkSource('F of P', ofP, (subject) => subject === 'p.b');
  Q.checkSource('D', heldBy(world, 'D'), () => true);
  const [chain, source] = [heldBy(world, 'C'), heldBy(world, 'T')];
  expect(chain.map(({ sequence, payload }) => [sequence, payload])).toEqual(
    source.map(({ sequence, payload }) => [sequence, payload]),
  );
  for (const ledger of [O, P, Q]) expect(ledger.faults).toEqual([]);
}

/** Publishes one message after the other, and deletes one now and then. */
class Publisher {
  private readonly world: BatchWorld;
  private readonly client;
  private readonly name: string;
  private readonly ledger: MirrorLedger;
  private readonly prefix: string;
  private count = 0;

  constructor(world: BatchWorld, name: string, ledger: MirrorLedger, cut: number) {
    this.world = world;
    this.client = world.client(name);
    this.name = name;
    this.ledger = ledger;
    this.prefix = `${name}${cut}`;
  }

  begin(): void {
    this.client.subscribe('1', `R.${this.name}.*`);
    this.client.onMessage = ({ subject, payload }) => {
      const { seq, error } = JSON.parse(payload.toString()) as { seq?: number; error?: object };
      const name = subject.split('.')[2] as string;
      if (error !== undefined || seq === undefined) this.ledger.faults.push(`${name} heard ${payload.toString()}`);
      else this.ledger.acknowledged(this.payloads.get(name) as string, seq);
    };
    this.step();
  }

  private readonly payloads = new Map<string, string>();

  private step(): void {
    const { random } = this.world.world;
    if (this.client.isClosed) return;
    for (let left = random.between(1, 4); left > 0; left--) this.publish(random.pick(TOKENS), random.chance(0.03));
    if (this.name === 'O' && random.chance(0.1)) this.deleteOne(random.fraction());
    this.world.after(random.fraction() * STEP_MS, () => this.step());
  }

  private publish(token: string, isLarge: boolean): void {
    const id = `${this.prefix}-${++this.count}`;
    const payload = isLarge ? `${id} ${'.'.repeat(LARGE_BYTES)}` : id;
    const subject = `${this.name.toLowerCase()}.${token}`;
    this.payloads.set(id, payload);
    this.ledger.sent(payload, subject);
    this.client.send(`PUB ${subject} R.${this.name}.${id} ${payload.length}\r\n${payload}\r\n`);
  }

  private deleteOne(fraction: number): void {
    const seq = this.ledger.pick(fraction);
    if (seq === 0) return;
    this.ledger.deletes(seq);
    const body = JSON.stringify({ seq, no_erase: true });
    this.client.send(`PUB $JS.API.STREAM.MSG.DELETE.${this.name} ${body.length}\r\n${body}\r\n`);
  }
}

function entryOf(world: BatchWorld, name: string): { stream: { store: MessageStore; positions: Positions } } {
  const entry = world.server.jetstream?.accounts.get('$G')?.streams.get(name);
  if (entry === undefined) throw world.world.scheduler.failure(`${name} is gone`);
  return entry;
}

interface Positions {
  durableOf(indexName: string): { readonly sequence: number } | null;
}

function storeOf(world: BatchWorld, name: string): MessageStore {
  return entryOf(world, name).stream.store;
}

function position(world: BatchWorld, name: string, indexName: string): number {
  return entryOf(world, name).stream.positions.durableOf(indexName)?.sequence ?? 0;
}

/** The last sequence that was not deleted. */
function lastLive(store: MessageStore): number {
  for (let at = store.lastSequence; at >= store.firstSequence; at--) if (store.next(at, null) === at) return at;
  return 0;
}

function heldBy(world: BatchWorld, name: string): Stored[] {
  return readAll(storeOf(world, name), () => world.world.scheduler.runFor(50));
}
