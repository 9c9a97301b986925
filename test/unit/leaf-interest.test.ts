/** What an account wants to hear, as one link tells it: everything once, then each change, in slices. */
import { describe, expect, it } from 'vitest';
import { AccountInterest } from '../../leafnode/account-interest.ts';
import type { InterestPeer } from '../../leafnode/account-interest.ts';
import { InterestAnnouncer } from '../../leafnode/interest-announcer.ts';
import type { AnnouncingLink } from '../../leafnode/interest-announcer.ts';
import { compileMapping } from '../../server/account/mapping.ts';
import { Mappings } from '../../server/account/mappings.ts';
import { Account } from '../../server/account/account.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const CLIENT: Sink = { sinkKind: 'client', deliver: () => true };
const LOOP = '$LDS.unique';

/** A link that notes what it tells, and turns that end when the test says so. */
class NotingLink implements AnnouncingLink, Sink {
  readonly sinkKind: SinkKind = 'leaf';
  readonly lines: string[] = [];
  readonly isSpoke: boolean;
  readonly isIsolated = false;
  readonly remoteCluster: string;
  denied: readonly string[] = [];
  pendingBytes = 0;
  isTold = false;
  readonly queue: AnnouncingLink['queue'];
  readonly turns: (() => void)[] = [];

  constructor(isSpoke = true, remoteCluster = '') {
    this.isSpoke = isSpoke;
    this.remoteCluster = remoteCluster;
    const append = (bytes: Uint8Array): void => void this.lines.push(Buffer.from(bytes).toString('latin1').trimEnd());
    const pending = (): number => this.pendingBytes;
    this.queue = {
      append,
      get pendingBytes() {
        return pending();
      },
    } as unknown as AnnouncingLink['queue'];
  }

  deliver(): boolean {
    return true;
  }

  mayAdvertise(subject: string): boolean {
    return !this.denied.includes(subject);
  }

  interestTold(): void {
    this.isTold = true;
  }

  announce(interest: AccountInterest): InterestAnnouncer {
    const after = (): never => {
      throw new Error('not used');
    };
    return new InterestAnnouncer(this, interest, { after, afterTurn: (callback) => void this.turns.push(callback) });
  }

  /** Runs the turns that are due until none is; how many there were. */
  endTurns(): number {
    let count = 0;
    for (let turn = this.turns.shift(); turn !== undefined; turn = this.turns.shift()) {
      turn();
      count++;
    }
    return count;
  }
}

function newAccount(): Account {
  return new Account('A', new Sublist(1), () => 0);
}

let nextSid = 1;

function subscribe(account: Account, subject: string, queueGroup = '', sink: Sink = CLIENT, weight = 1): Subscription {
  const subscription = new Subscription(sink, subject, queueGroup, String(nextSid++));
  subscription.weight = weight;
  account.subscribe(subscription);
  return subscription;
}

describe('the interest that a link tells', () => {
  it('is what was there before it, and each change afterwards', () => {
    const account = newAccount();
    const early = subscribe(account, 'early');
    const interest = new AccountInterest(account, 'unique', false);
    const link = new NotingLink();
    link.announce(interest);
    expect(link.lines.splice(0)).toEqual([`LS+ ${LOOP}`, 'LS+ early']);
    expect(link.isTold).toBe(true);
    const again = subscribe(account, 'early');
    account.unsubscribe(early);
    expect(link.lines).toEqual([]);
    account.unsubscribe(again);
    expect(link.lines.splice(0)).toEqual(['LS- early']);
    expect(interest.size).toBe(1);
  });

  it('names the weight of a queue group at each change', () => {
    const account = newAccount();
    const link = new NotingLink();
    link.announce(new AccountInterest(account, 'unique', false));
    const first = subscribe(account, 'a', 'q');
    const second = subscribe(account, 'a', 'q');
    account.unsubscribe(first);
    account.unsubscribe(second);
    expect(link.lines.slice(1)).toEqual(['LS+ a q 1', 'LS+ a q 2', 'LS+ a q 1', 'LS- a q']);
  });

  it('goes in slices, in which every change is told exactly once', () => {
    const account = newAccount();
    const interest = new AccountInterest(account, 'unique', false);
    const subscriptions = Array.from({ length: 2500 }, (_, i) => subscribe(account, `s.${i}`));
    const link = new NotingLink();
    const announcer = link.announce(interest);
    expect(link.lines).toHaveLength(1000);
    expect(link.isTold).toBe(false);
    // Told already, not told yet, the one at the cursor, and a new one.
    for (const i of [0, 2499, 999]) account.unsubscribe(subscriptions[i] as Subscription);
    subscribe(account, 's.1');
    subscribe(account, 's.2000');
    subscribe(account, 'new');
    expect(link.lines.slice(1000)).toEqual(['LS- s.0']);
    expect(link.endTurns()).toBe(2);
    expect(link.isTold).toBe(true);
    const told = link.lines.filter((line) => line.startsWith('LS+'));
    expect(new Set(told).size).toBe(told.length);
    expect(link.lines).not.toContain('LS+ s.2499');
    expect(link.lines).not.toContain('LS+ s.999');
    expect(announcer.told).toBe(2500 - 3 + 2);
  });

  it('waits while the link is full', () => {
    const account = newAccount();
    for (let i = 0; i < 1500; i++) subscribe(account, `s.${i}`);
    const link = new NotingLink();
    link.pendingBytes = 2_000_000;
    const announcer = link.announce(new AccountInterest(account, 'unique', false));
    expect(link.endTurns()).toBe(0);
    link.pendingBytes = 0;
    announcer.proceed();
    announcer.proceed();
    expect(link.lines).toHaveLength(1501);
    expect(link.isTold).toBe(true);
  });

  it('ends with the link', () => {
    const account = newAccount();
    for (let i = 0; i < 1500; i++) subscribe(account, `s.${i}`);
    const link = new NotingLink();
    link.announce(new AccountInterest(account, 'unique', false)).stop();
    subscribe(account, 'later');
    link.endTurns();
    expect(link.lines).toHaveLength(1000);
  });

  it('leaves out what permissions keep, its end too, but never the loop subject', () => {
    const account = newAccount();
    const link = new NotingLink();
    link.denied = ['no', LOOP];
    const before = subscribe(account, 'no');
    const announcer = link.announce(new AccountInterest(account, 'unique', false));
    account.unsubscribe(before);
    account.unsubscribe(subscribe(account, 'no'));
    expect(link.lines).toEqual([`LS+ ${LOOP}`]);
    expect(announcer.told).toBe(1);
  });

  it('holds the sources of mappings, beside the subscriptions to them', () => {
    const account = newAccount();
    const link = new NotingLink();
    const interest = new AccountInterest(account, 'unique', false);
    link.announce(interest);
    const map = (...sources: string[]): void => {
      account.mappings = new Mappings({ fraction: () => 0 }, () => '');
      for (const source of sources) {
        const { value } = compileMapping(source, [{ subject: 'to', weight: 100 }]);
        if (value !== null) account.mappings.set(value);
      }
      interest.mappingsChanged();
    };
    map('a', 'b');
    account.unsubscribe(subscribe(account, 'a'));
    map('b', 'c');
    expect(link.lines.slice(1)).toEqual(['LS+ a', 'LS+ b', 'LS+ c', 'LS- a']);
  });
});

describe('interest of one link towards another', () => {
  const heard = (from: [boolean, string], to: [boolean, string], subject: string): boolean => {
    const account = newAccount();
    const interest = new AccountInterest(account, 'unique', true);
    const source = new NotingLink(...from);
    const link = new NotingLink(...to);
    link.announce(interest);
    const subscription = subscribe(account, subject, '', source);
    const told = link.lines.includes(`LS+ ${subject}`);
    account.unsubscribe(subscription);
    expect(link.lines.includes(`LS- ${subject}`)).toBe(told);
    expect(interest.size).toBe(1);
    return told;
  };
  const spoke: [boolean, string] = [true, ''];
  const hub: [boolean, string] = [false, ''];

  it('is told from leaves to hubs and back, between leaves, and not between hubs', () => {
    expect(heard(hub, spoke, 'x')).toBe(true);
    expect(heard(spoke, hub, 'x')).toBe(true);
    expect(heard(hub, hub, 'x')).toBe(true);
    expect(heard(spoke, spoke, 'x')).toBe(false);
  });

  it('is told between hubs when it serves to find loops, but not within one cluster', () => {
    expect(heard(spoke, spoke, '$LDS.other')).toBe(true);
    expect(heard([true, 'C'], [true, 'D'], '$LDS.other')).toBe(true);
    expect(heard([true, 'C'], [true, 'C'], '$LDS.other')).toBe(false);
    expect(heard([false, 'C'], [true, 'C'], 'x')).toBe(false);
  });

  it('never comes back over the link it came from, and adds to what is local', () => {
    const account = newAccount();
    const interest = new AccountInterest(account, 'unique', true);
    const link = new NotingLink(false);
    const other = new NotingLink(false);
    link.announce(interest);
    const own = subscribe(account, 'a', 'q', link, 5);
    const foreign = subscribe(account, 'a', 'q', other, 3);
    subscribe(account, 'a', 'q');
    account.unsubscribe(own);
    account.unsubscribe(foreign);
    expect(link.lines.slice(1)).toEqual(['LS+ a q 3', 'LS+ a q 4', 'LS+ a q 1']);
    const peers: InterestPeer[] = [link, other];
    expect(peers.map((peer) => interest.first?.weightFor(peer))).toEqual([1, 1]);
  });

  it('is not counted at all where no link has a leaf as its peer', () => {
    const account = newAccount();
    const interest = new AccountInterest(account, 'unique', false);
    subscribe(account, 'x', '', new NotingLink());
    expect(interest.size).toBe(1);
  });
});
