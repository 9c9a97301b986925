/**
 * Whatever subscriptions come and go, from clients and from links, while links open, pause and end: each peer hears
 * exactly what the account wants it to know, in every order of events, and no LS+ twice.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccountInterest, hearsOf } from '../../leafnode/account-interest.ts';
import { InterestAnnouncer } from '../../leafnode/interest-announcer.ts';
import type { AnnouncingLink } from '../../leafnode/interest-announcer.ts';
import { Account } from '../../server/account/account.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const CLIENT: Sink = { sinkKind: 'client', deliver: () => true };
const DENIED = 'denied';
/** Few, so that changes fall before, at and behind the place that has been reached. */
const ENTRIES_PER_TURN = 3;

/** The peer at the other end: it keeps what it was told, and does not forgive being told twice. */
class Peer implements AnnouncingLink, Sink {
  readonly sinkKind: SinkKind = 'leaf';
  readonly isSpoke: boolean;
  readonly isIsolated: boolean;
  readonly remoteCluster: string;
  readonly heard = new Map<string, number>();
  readonly queue: AnnouncingLink['queue'];
  turn: (() => void) | null = null;
  announcer: InterestAnnouncer | null = null;
  isTold = false;
  pendingBytes = 0;

  constructor(isSpoke: boolean, remoteCluster: string, isIsolated = false) {
    this.isSpoke = isSpoke;
    this.isIsolated = isIsolated;
    this.remoteCluster = remoteCluster;
    const pending = (): number => this.pendingBytes;
    this.queue = {
      append: (bytes: Uint8Array): void => this.#hear(Buffer.from(bytes).toString('latin1')),
      get pendingBytes() {
        return pending();
      },
    } as unknown as AnnouncingLink['queue'];
  }

  deliver(): boolean {
    return true;
  }

  mayAdvertise(subject: string): boolean {
    return subject !== DENIED;
  }

  interestTold(): void {
    this.isTold = true;
  }

  open(interest: AccountInterest): void {
    this.heard.clear();
    this.isTold = false;
    this.turn = null;
    const after = (): never => {
      throw new Error('not used');
    };
    const afterTurn = (callback: () => void): void => void (this.turn = callback);
    this.announcer = new InterestAnnouncer(this, interest, { after, afterTurn }, ENTRIES_PER_TURN);
  }

  close(): void {
    this.announcer?.stop();
    this.announcer = null;
  }

  endTurn(): void {
    const { turn } = this;
    this.turn = null;
    turn?.();
    this.announcer?.proceed();
  }

  #hear(line: string): void {
    const [, sign, subject = '', queueGroup, weight] = /^LS([+-]) (\S+)(?: (\S+)(?: (\d+))?)?\r\n$/.exec(line) ?? [];
    const key = queueGroup === undefined ? subject : `${subject} ${queueGroup}`;
    if (subject === '') throw new Error(`malformed: ${line}`);
    if (sign === '-') {
      if (!this.heard.delete(key)) throw new Error(`${line} without LS+`);
    } else {
      if (queueGroup === undefined && this.heard.has(key)) throw new Error(`${line} twice`);
      this.heard.set(key, queueGroup === undefined ? 1 : Number(weight));
    }
  }
}

/** Where a link of another account hears a stream of this one, it brings interest of no cluster. */
class Shadow implements Sink {
  readonly sinkKind: SinkKind = 'leaf';
  readonly standsFor: Peer;
  readonly importer: Peer;

  constructor(isSpoke: boolean) {
    this.standsFor = new Peer(isSpoke, 'C');
    this.importer = new Peer(isSpoke, '');
  }

  deliver(): boolean {
    return true;
  }
}

/** What a peer ought to know, from the subscriptions alone. */
function expected(peer: Peer, interest: AccountInterest, subscriptions: Iterable<Subscription>): Map<string, number> {
  const weights = new Map<string, number>([[interest.loopSubject, 1]]);
  for (const { sink, subject, queueGroup, weight } of subscriptions) {
    const source = sink instanceof Shadow ? sink.importer : sink;
    if (subject === DENIED || (source instanceof Peer && !hearsOf(peer, source, subject))) continue;
    const key = queueGroup === '' ? subject : `${subject} ${queueGroup}`;
    weights.set(key, queueGroup === '' ? 1 : (weights.get(key) ?? 0) + weight);
  }
  return weights;
}

const subjects = fc.oneof(
  fc.constantFrom('a', 'b.*', '>', DENIED, '$LDS.other'),
  fc.nat(12).map((i) => `s.${i}`),
);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('add'),
      subject: subjects,
      queue: fc.constantFrom('', '', 'q', 'r'),
      sink: fc.nat(10),
      weight: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('remove'), which: fc.nat() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('open', 'open', 'turn', 'close', 'turn', 'fill', 'drain'),
      which: fc.nat(7),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function run(steps: readonly Step[]): void {
  const account = new Account('A', new Sublist(7), () => 0);
  const interest = new AccountInterest(account, 'unique', true);
  const roles: [isSpoke: boolean, cluster: string, isIsolated?: true][] = [
    [true, ''],
    [true, 'C'],
    [false, ''],
    [false, 'C'],
    [false, 'C'],
    [false, 'D'],
    [false, ''],
    [false, 'E', true],
  ];
  const peers = roles.map(([isSpoke, cluster, isIsolated]) => new Peer(isSpoke, cluster, isIsolated));
  const sinks: readonly Sink[] = [CLIENT, ...peers, new Shadow(false), new Shadow(true)];
  const live: Subscription[] = [];
  const add = (subject: string, queue: string, sink: Sink, weight: number): void => {
    const subscription = new Subscription(sink, subject, queue, String(live.length));
    subscription.weight = weight;
    live.push(subscription);
    account.subscribe(subscription);
  };
  for (const each of steps) {
    if (each.kind === 'add') {
      const sink = sinks[each.sink] as Sink;
      add(each.subject, each.queue, sink, sink === CLIENT ? 1 : each.weight);
    } else if (each.kind === 'remove') {
      const [subscription] = live.splice(each.which % Math.max(1, live.length), 1);
      if (subscription !== undefined) account.unsubscribe(subscription);
    } else {
      const peer = peers[each.which] as Peer;
      if (each.kind === 'open' && peer.announcer === null) peer.open(interest);
      else if (each.kind === 'close') peer.close();
      else if (each.kind === 'turn') peer.endTurn();
      else peer.pendingBytes = each.kind === 'fill' ? 2_000_000 : 0;
    }
  }
  for (const peer of peers) {
    if (peer.announcer === null) continue;
    peer.pendingBytes = 0;
    while (!peer.isTold) peer.endTurn();
    const heard = expected(peer, interest, account.sublist.subscriptions());
    expect(Object.fromEntries(peer.heard)).toEqual(Object.fromEntries(heard));
    expect(peer.announcer.told).toBe(heard.size);
  }
  for (const subscription of live) account.unsubscribe(subscription);
  expect(interest.size).toBe(1);
}

test('every peer hears exactly what it ought to know', () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 150, size: 'max' }), run), { numRuns: 300 });
});
