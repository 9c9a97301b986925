/** What is held for a hub that has withdrawn its interest, and when it is forgotten. */
import { beforeEach, expect, it } from 'vitest';
import { WithdrawnInterest } from '../../jetstream/spool/withdrawn-interest.ts';
import { Account } from '../../server/account/account.ts';
import type { Sink } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { Sublist } from '../../server/subject/sublist.ts';

const SINK: Sink = { sinkKind: 'leaf', deliver: () => false };
const HELD_MESSAGES = 1024;
const HELD_BYTES = 1024 * 1024;

let account: Account;
let withdrawn: WithdrawnInterest;

beforeEach(() => {
  account = new Account('A', new Sublist(7), () => 0);
  withdrawn = new WithdrawnInterest(account, SINK);
});

function subscribed(): string[] {
  return [...account.sublist.subscriptions()].map(({ subject, queueGroup }) => `${subject} ${queueGroup}`).toSorted();
}

function hold(subject: string, bytes = 1): void {
  const message = new Message();
  message.setSubject(Buffer.from(subject), 0, subject.length);
  message.setBody(Buffer.alloc(bytes + 2), 0, 0, bytes);
  withdrawn.hold(message, []);
}

function heldAtEnd(): string[] {
  return withdrawn.end().map(({ subject }) => subject);
}

it('is subscribed to once for each subject and group, until the end', () => {
  withdrawn.add({ subject: 'a.>', queueGroup: '' });
  withdrawn.add({ subject: 'a.>', queueGroup: '' });
  withdrawn.add({ subject: 'a.>', queueGroup: 'q' });
  expect(subscribed()).toEqual(['a.> ', 'a.> q']);
  hold('a.1');
  hold('a.2');
  expect(heldAtEnd()).toEqual(['a.1', 'a.2']);
  expect(subscribed()).toEqual([]);
  expect(heldAtEnd()).toEqual([]);
});

it('is forgotten with the messages that nothing else is in doubt for', () => {
  withdrawn.add({ subject: 'a.*', queueGroup: '' });
  withdrawn.add({ subject: '*.1', queueGroup: '' });
  for (const subject of ['a.1', 'a.2', 'b.1']) hold(subject);
  withdrawn.restrict(({ subject }) => subject !== 'a.*');
  expect(subscribed()).toEqual(['*.1 ']);
  expect(heldAtEnd()).toEqual(['a.1', 'b.1']);
});

it('holds so many messages and bytes, the newest', () => {
  withdrawn.add({ subject: '>', queueGroup: '' });
  for (let i = 0; i < HELD_MESSAGES + 10; i++) hold(String(i));
  const held = heldAtEnd();
  expect([held.length, held[0], held.at(-1)]).toEqual([HELD_MESSAGES, '10', String(HELD_MESSAGES + 9)]);
  for (let i = 0; i < 5; i++) hold(String(i), HELD_BYTES / 4);
  expect(heldAtEnd()).toEqual(['1', '2', '3', '4']);
  hold('large', HELD_BYTES * 2);
  expect(heldAtEnd()).toEqual(['large']);
});

it('has room again for what was forgotten', () => {
  withdrawn.add({ subject: 'a', queueGroup: '' });
  withdrawn.add({ subject: 'b', queueGroup: '' });
  hold('a', HELD_BYTES);
  withdrawn.restrict(({ subject }) => subject === 'b');
  hold('b', HELD_BYTES / 2);
  hold('b', HELD_BYTES / 2);
  expect(heldAtEnd()).toEqual(['b', 'b']);
});
