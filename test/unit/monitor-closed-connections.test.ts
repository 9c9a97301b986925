/** What is remembered of connections that have ended, and what is forgotten first. */
import { describe, expect, it } from 'vitest';
import { ClosedConnections } from '../../server/connection/closed-connections.ts';
import type { ConnectionFacts } from '../../server/connection/connection-facts.ts';
import { Traffic } from '../../server/connection/statistics.ts';
import type { Sink } from '../../server/ports.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const nobody: Sink = { sinkKind: 'internal', deliver: () => false };

function facts(id: number): ConnectionFacts {
  return {
    id,
    kind: 'Client',
    host: '127.0.0.1',
    port: id,
    startWallMs: 0,
    stopWallMs: 1,
    startMs: 0,
    stopMs: 1,
    lastActivityMs: 0,
    closedReason: 'Client Closed',
    rttMs: 0,
    pendingBytes: 0,
    traffic: new Traffic(),
    stalls: 0,
    subscriptions: 0,
    tls: null,
    isTlsFirst: false,
    isWebSocket: false,
    name: '',
    lang: '',
    version: '',
    user: '',
    account: '$G',
  };
}

function subscriptions(count: number): Subscription[] {
  return Array.from({ length: count }, (_, i) => new Subscription(nobody, `s.${i}`, '', String(i)));
}

describe('closed connections', () => {
  it('are remembered up to a number, the oldest first', () => {
    const closed = new ClosedConnections(3);
    const seen = Array.from({ length: 8 }, (_, i) => {
      closed.add(facts(i), []);
      return closed.all().map((each) => each.facts.id);
    });
    expect(seen.slice(0, 5)).toEqual([[0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]);
    expect(seen.at(-1)).toEqual([5, 6, 7]);
    expect(closed.total).toBe(8);
  });

  it('are only counted where none may be remembered', () => {
    const closed = new ClosedConnections(0);
    closed.add(facts(1), subscriptions(2));
    expect(closed.all()).toEqual([]);
    expect(closed.total).toBe(1);
  });

  it('lose their subscriptions before they are forgotten, the oldest first', () => {
    const closed = new ClosedConnections(4, 10);
    const listed = (): number[] => closed.all().map((each) => each.subscriptions.length);
    for (const count of [4, 3, 3]) closed.add(facts(0), subscriptions(count));
    expect(listed()).toEqual([4, 3, 3]);
    closed.add(facts(0), subscriptions(1));
    expect(listed()).toEqual([0, 3, 3, 1]);
    closed.add(facts(0), subscriptions(5));
    expect(listed()).toEqual([0, 3, 1, 5]);
    closed.add(facts(0), subscriptions(20));
    expect(listed()).toEqual([0, 0, 0, 0]);
    closed.add(facts(0), subscriptions(10));
    expect(listed()).toEqual([0, 0, 0, 10]);
    for (let i = 0; i < 4; i++) closed.add(facts(0), subscriptions(2));
    expect(listed()).toEqual([2, 2, 2, 2]);
  });

  it('keep what is shown of a subscription, and no more than a thousand of one connection', () => {
    const closed = new ClosedConnections(1);
    const many = subscriptions(1500);
    Object.assign(many[0] as Subscription, { delivered: 7, maxDeliveries: 9 });
    closed.add(facts(1), many);
    const [only] = closed.all();
    expect(only?.subscriptions).toHaveLength(1000);
    expect(only?.subscriptions[0]).toEqual({ subject: 's.0', queueGroup: '', sid: '0', delivered: 7 });
  });
});
