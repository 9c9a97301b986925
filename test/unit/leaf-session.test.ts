/** A link that ends while it tells its interest: nobody takes it for open afterwards, and it hears of no more. */
import { expect, it } from 'vitest';
import { AccountInterest } from '../../leafnode/account-interest.ts';
import { LeafPermissions } from '../../leafnode/leaf-permissions.ts';
import { LeafSession, type SessionLink } from '../../leafnode/leaf-session.ts';
import { Account } from '../../server/account/account.ts';
import type { LinkSpool, Sink } from '../../server/ports.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const CLIENT: Sink = { sinkKind: 'client', deliver: () => true };

/** A session that has begun, on a link that ends with the line of this number; what became of it. */
function begun(subscriptions: number, lastLine: number): { account: Account; lines: string[]; spool: string[] } {
  const account = new Account('A', new Sublist(1), () => 0);
  for (let i = 0; i < subscriptions; i++) account.subscribe(new Subscription(CLIENT, `s.${i}`, '', String(i)));
  const [lines, spool, turns]: [string[], string[], (() => void)[]] = [[], [], []];
  const timers = {
    after: (): never => expect.unreachable('no timer is needed'),
    afterTurn: (callback: () => void): void => void turns.push(callback),
  };
  const append = (bytes: Uint8Array): void => {
    if (lines.push(Buffer.from(bytes).toString('latin1').trimEnd()) === lastLine) session.end(timers);
  };
  const link = {
    isSpoke: true,
    isIsolated: false,
    remoteCluster: '',
    queue: { append, pendingBytes: 0 },
    mayAdvertise: () => true,
    interestTold: () => session.told(),
  } as unknown as SessionLink;
  const permissions = new LeafPermissions({ denyImports: [], denyExports: [], ownDomain: '' }, null, null);
  const session = new LeafSession(link, new AccountInterest(account, 'unique', false), permissions);
  session.useSpool({ opened: () => spool.push('opened'), lost: () => spool.push('lost') } as unknown as LinkSpool);
  session.begin(timers);
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
  return { account, lines, spool };
}

it.each([
  ['at once', 10, 5],
  ['with the last of it', 10, 11],
  ['in a later turn', 1500, 1400],
])('ends %s', (_, subscriptions, lastLine) => {
  const { account, lines, spool } = begun(subscriptions, lastLine);
  expect(spool).toEqual(['lost']);
  const told = lines.length;
  account.subscribe(new Subscription(CLIENT, 'later', '', 'later'));
  expect(lines).toHaveLength(told);
});

it('tells all of it on a link that can hold it, and opens', () => {
  const { account, lines, spool } = begun(1500, Infinity);
  expect(spool).toEqual(['opened']);
  account.subscribe(new Subscription(CLIENT, 'later', '', 'later'));
  expect(lines.at(-1)).toBe('LS+ later');
  expect(lines).toHaveLength(1502);
});
