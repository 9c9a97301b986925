/** How what a peer wants to hear is given up when its link ends. */
import { expect, test } from 'vitest';
import { PeerInterest } from '../../leafnode/peer-interest.ts';
import { Account } from '../../server/account/account.ts';
import type { LinkSink } from '../../server/ports.ts';
import { Sublist } from '../../server/subject/sublist.ts';

const LINK: LinkSink = { sinkKind: 'leaf', deliver: () => false, sendCollected: () => undefined };

function interestOf(count: number): { account: Account; interest: PeerInterest } {
  const account = new Account('A', new Sublist(7), () => 0);
  const interest = new PeerInterest(LINK, account);
  for (let i = 0; i < count; i++) interest.set(`s.${i}`, i % 2 === 0 ? '' : 'q', 1);
  return { account, interest };
}

/** What is to run in later turns. */
class Turns {
  readonly waiting: (() => void)[] = [];

  after(): never {
    throw new Error('not used');
  }

  afterTurn(callback: () => void): void {
    this.waiting.push(callback);
  }
}

test('a little is given up at once', () => {
  const { account, interest } = interestOf(1000);
  const turns = new Turns();
  interest.clear(turns);
  expect([...account.sublist.subscriptions()]).toEqual([]);
  expect(turns.waiting).toEqual([]);
});

test('much is given up a thousand a turn, and counts no more from the beginning', () => {
  const { account, interest } = interestOf(2500);
  const turns = new Turns();
  const left: number[] = [];
  interest.clear(turns);
  expect(interest.size).toBe(0);
  for (;;) {
    left.push([...account.sublist.subscriptions()].length);
    const turn = turns.waiting.shift();
    if (turn === undefined) break;
    turn();
  }
  expect(left).toEqual([1500, 500, 0]);
});
