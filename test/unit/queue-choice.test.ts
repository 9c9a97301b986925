/** Which member of a queue group gets a message. */
import { describe, expect, it } from 'vitest';
import { deliverToOne } from '../../server/account/queue-choice.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { QueueGroup } from '../../server/subject/receivers.ts';
import { Subscription } from '../../server/subject/subscription.ts';

class Member implements Sink {
  readonly sinkKind: SinkKind;
  readonly weight: number;
  takes = true;
  got = 0;

  constructor(sinkKind: SinkKind = 'client', weight = 1) {
    this.sinkKind = sinkKind;
    this.weight = weight;
  }

  deliver(): boolean {
    if (this.takes) this.got++;
    return this.takes;
  }
}

function groupOf(members: readonly Member[]): QueueGroup {
  const group = new QueueGroup('q');
  for (const member of members) {
    const subscription = new Subscription(member, 'a', 'q', '1');
    subscription.weight = member.weight;
    group.add(subscription);
  }
  return group;
}

/** Gives as many messages as there are fractions, evenly spread over [0, 1). */
function spread(members: readonly Member[], count: number, source: Sink | null = null): number[] {
  const group = groupOf(members);
  const message = new Message();
  message.source = source;
  for (let i = 0; i < count; i++) deliverToOne(group, message, i / count);
  return members.map(({ got }) => got);
}

describe('of a queue group', () => {
  it('each member gets its share', () => {
    expect(spread([new Member()], 10)).toEqual([10]);
    expect(spread([new Member(), new Member(), new Member(), new Member()], 1000)).toEqual([250, 250, 250, 250]);
  });

  it('one behind which several stand gets as many shares', () => {
    const members = [new Member('internal', 1), new Member('internal', 5), new Member('internal', 4)];
    expect(spread(members, 1000)).toEqual([100, 500, 400]);
  });

  it('the next one gets what one does not take', () => {
    const members = [new Member(), new Member(), new Member()];
    (members[1] as Member).takes = false;
    expect(spread(members, 900)).toEqual([300, 0, 600]);
    (members[2] as Member).takes = false;
    expect(spread(members, 100)).toEqual([400, 0, 600]);
  });

  it('nobody gets it when nobody takes it, and that is said', () => {
    const members = [new Member(), new Member('leaf')];
    for (const each of members) each.takes = false;
    expect(deliverToOne(groupOf(members), new Message(), 0.5)).toBe(false);
    (members[0] as Member).takes = true;
    expect(deliverToOne(groupOf(members), new Message(), 0.5)).toBe(true);
  });

  it('a member here goes before one behind a link', () => {
    const members = [new Member('leaf', 10), new Member(), new Member('leaf', 10)];
    expect(spread(members, 100)).toEqual([0, 100, 0]);
    (members[1] as Member).takes = false;
    const [one = 0, , other = 0] = spread(members, 100);
    expect(one + other).toBe(100);
  });

  it('what came over a link does not go back over it', () => {
    const [here, there] = [new Member('leaf'), new Member('leaf')];
    expect(spread([here, there], 100, here)).toEqual([0, 100]);
    expect(spread([here], 100, here)).toEqual([0]);
  });
});
