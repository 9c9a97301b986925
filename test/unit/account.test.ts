/** An account gives each message to everybody who is to have it, once, also while they publish and change their mind. */
import { describe, expect, it } from 'vitest';
import { Account } from '../../server/account/account.ts';
import type { LinkSink, Sink } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';

class Receiver implements Sink {
  readonly sinkKind = 'client';
  readonly got: string[] = [];
  takes = true;
  isCongested = false;
  whenGiven: (subscription: Subscription, message: Message) => void = () => undefined;

  deliver(subscription: Subscription, message: Message): boolean {
    if (!this.takes) return false;
    this.got.push(`${subscription.sid} ${message.subjectText()}`);
    this.whenGiven(subscription, message);
    return true;
  }
}

class Link implements LinkSink {
  readonly sinkKind = 'leaf';
  readonly sent: string[] = [];
  private readonly collected: string[] = [];

  deliver(subscription: Subscription, message: Message): boolean {
    if (message.source === this) return false;
    if (this.collected.length === 0) message.collectFor(this);
    this.collected.push(subscription.sid);
    return true;
  }

  sendCollected(message: Message): void {
    this.sent.push(`${message.subjectText()} for ${this.collected.splice(0).toSorted().join()}`);
  }
}

function makeAccount(): Account {
  return new Account('A', new Sublist(1), () => 0);
}

function subscribe(account: Account, sink: Sink, subject: string, sid: string, queueGroup = ''): Subscription {
  const subscription = new Subscription(sink, subject, queueGroup, sid);
  account.subscribe(subscription);
  return subscription;
}

function messageTo(subject: string, destination = ''): Message {
  const message = new Message();
  message.setSubject(Buffer.from(subject), 0, subject.length);
  if (destination !== '') message.setDestination(Buffer.from(destination), 0, destination.length);
  return message;
}

describe('an account', () => {
  it('gives a message to every plain subscription and to one of each queue group', () => {
    const account = makeAccount();
    const receiver = new Receiver();
    for (const [subject, sid, queueGroup] of [
      ['a', '1', ''],
      ['a', '2', ''],
      ['*', '3', ''],
      ['>', '4', 'q'],
      ['a', '5', 'q'],
      ['a', '6', 'r'],
      ['b', '7', ''],
    ] as const) {
      subscribe(account, receiver, subject, sid, queueGroup);
    }
    expect(account.route(messageTo('a'))).toBe(true);
    const sids = receiver.got.map((each) => each.split(' ')[0] as string).toSorted();
    expect(sids.filter((sid) => !['4', '5'].includes(sid))).toEqual(['1', '2', '3', '6']);
    expect(sids).toHaveLength(5);
  });

  it('says whether anybody took it', () => {
    const account = makeAccount();
    const receiver = new Receiver();
    expect(account.route(messageTo('a'))).toBe(false);
    subscribe(account, receiver, 'a', '1');
    expect(account.route(messageTo('a'))).toBe(true);
    receiver.takes = false;
    expect(account.route(messageTo('a'))).toBe(false);
    expect(account.route(messageTo(''))).toBe(false);
  });

  it('knows who listens, and whether they can take more', () => {
    const account = makeAccount();
    const receiver = new Receiver();
    subscribe(account, receiver, 'a.*', '1');
    const subject = Buffer.from('a.b');
    expect([account.hasInterest(subject), account.hasInterest(Buffer.from('b'))]).toEqual([true, false]);
    expect(account.isCongested(subject)).toBe(false);
    receiver.isCongested = true;
    expect(account.isCongested(subject)).toBe(true);
    expect(account.plainSubscriptionOf(receiver, subject, 0, 3)?.sid).toBe('1');
    expect(account.plainSubscriptionOf(new Receiver(), subject, 0, 3)).toBeNull();
  });

  it('shows the subject of a message that goes somewhere else', () => {
    const account = makeAccount();
    const receiver = new Receiver();
    subscribe(account, receiver, 'inbox', '1');
    subscribe(account, receiver, 'stored', '2');
    account.route(messageTo('stored', 'inbox'));
    expect(receiver.got).toEqual(['1 stored']);
  });

  it('lets the server that chose the queue groups decide', () => {
    const account = makeAccount();
    const receiver = new Receiver();
    subscribe(account, receiver, 'a', '1', 'q');
    subscribe(account, receiver, 'a', '2', 'r');
    const message = messageTo('a');
    message.queueGroups = ['r'];
    account.route(message);
    expect(receiver.got).toEqual(['2 a']);
  });

  it('tells links once, when all receivers are known, and not the one it came from', () => {
    const account = makeAccount();
    const [here, there, client] = [new Link(), new Link(), new Receiver()];
    for (const link of [here, there]) {
      subscribe(account, link, 'a', '1');
      subscribe(account, link, '*', '2');
      subscribe(account, link, 'a', '3', 'q');
    }
    subscribe(account, client, 'a', '1');
    client.whenGiven = () => client.got.push(`links sent ${here.sent.length + there.sent.length}`);
    const message = messageTo('a');
    message.source = here;
    account.route(message);
    expect(client.got).toEqual(['1 a', 'links sent 0']);
    expect([here.sent, there.sent]).toEqual([[], ['a for 1,2,3']]);
    expect([message.isCollectedFor(here), message.isCollectedFor(there)]).toEqual([false, false]);
  });

  it('tells each link while it sends which others send, too', () => {
    const account = makeAccount();
    const links = [new Link(), new Link(), new Link()];
    for (const link of links.slice(0, 2)) subscribe(account, link, 'a', '1');
    const others: number[] = [];
    const message = messageTo('a');
    for (const link of links) {
      link.sendCollected = () => others.push(links.filter((each) => message.isCollectedFor(each)).length);
    }
    account.route(message);
    expect(others).toEqual([2, 2]);
  });

  it('may be published to by a receiver, as often as it likes', () => {
    const account = makeAccount();
    const [echo, ear] = [new Receiver(), new Receiver()];
    for (let i = 0; i < 3; i++) subscribe(account, echo, 'a', `${i}`);
    for (let i = 0; i < 3; i++) subscribe(account, ear, '*', `${i}`);
    echo.whenGiven = () => account.route(messageTo('b'));
    account.route(messageTo('a'));
    expect(echo.got).toHaveLength(3);
    expect(ear.got.filter((each) => each.endsWith('a'))).toHaveLength(3);
    expect(ear.got.filter((each) => each.endsWith('b'))).toHaveLength(9);
  });

  it.each([1, 2, 3, 4])('gives a message to those who were there, after %i of the same', (times) => {
    const account = makeAccount();
    const receiver = new Receiver();
    const all = ['1', '2', '3'].map((sid) => subscribe(account, receiver, 'a', sid));
    for (let i = 1; i < times; i++) account.route(messageTo('a'));
    receiver.got.length = 0;
    receiver.whenGiven = (subscription) => {
      account.unsubscribe(subscription);
      subscribe(account, receiver, 'a', `${subscription.sid} again`);
    };
    account.route(messageTo('a'));
    expect(receiver.got.toSorted()).toEqual(['1 a', '2 a', '3 a']);
    expect(account.sublist.size).toBe(all.length);
  });

  it('tells whoever listens of interest that comes and goes', () => {
    const account = makeAccount();
    const heard: string[] = [];
    const listener = {
      subscriptionAdded: ({ subject }: Subscription): number => heard.push(`+${subject}`),
      subscriptionRemoved: ({ subject }: Subscription): number => heard.push(`-${subject}`),
    };
    account.listen(listener);
    const subscription = subscribe(account, new Receiver(), 'a.>', '1');
    account.unsubscribe(subscription);
    account.unlisten(listener);
    subscribe(account, new Receiver(), 'b', '1');
    expect(heard).toEqual(['+a.>', '-a.>']);
  });
});

describe('whoever watches a subject', () => {
  it('hears of subscriptions to exactly that subject', () => {
    const account = makeAccount();
    const heard: string[] = [];
    const mine = (): void => void heard.push(`mine ${account.hasExactInterest(Buffer.from('a.b'), '')}`);
    const other = (): void => void heard.push('other');
    account.watch('a.b', mine);
    account.watch('a.b', other);
    subscribe(account, new Receiver(), 'a.*', 'wide');
    subscribe(account, new Receiver(), 'a.c', 'beside');
    expect(heard).toEqual([]);
    const subscription = subscribe(account, new Receiver(), 'a.b', 'exact');
    expect(heard.splice(0)).toEqual(['mine true', 'other']);
    account.unwatch('a.b', other);
    account.unsubscribe(subscription);
    expect(heard.splice(0)).toEqual(['mine false']);
    account.unwatch('a.b', mine);
    subscribe(account, new Receiver(), 'a.b', 'late');
    expect(heard).toEqual([]);
  });

  it('can tell plain subscriptions from those of a queue group', () => {
    const account = makeAccount();
    const subject = Buffer.from('a.b');
    const interest = (queueGroup: string): boolean => account.hasExactInterest(subject, queueGroup);
    subscribe(account, new Receiver(), 'a.>', 'wide', 'g');
    expect([interest(''), interest('g')]).toEqual([false, false]);
    subscribe(account, new Receiver(), 'a.b', 'member', 'g');
    expect([interest(''), interest('g'), interest('h')]).toEqual([false, true, false]);
    subscribe(account, new Receiver(), 'a.b', 'plain');
    expect([interest(''), interest('g'), interest('h')]).toEqual([true, true, false]);
  });
});

describe('a subject is congested', () => {
  it.each(['', 'g'])('when a listener in queue group %j has much unsent', (queueGroup) => {
    const account = makeAccount();
    const subject = Buffer.from('a.b');
    const receiver = new Receiver();
    subscribe(account, new Receiver(), 'a.b', 'quick', queueGroup);
    subscribe(account, receiver, 'a.*', 'slow', queueGroup);
    expect(account.isCongested(subject)).toBe(false);
    receiver.isCongested = true;
    expect(account.isCongested(subject)).toBe(true);
  });
});
