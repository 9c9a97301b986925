/** What a user may publish to, subscribe to and receive. */
import { describe, expect, it } from 'vitest';
import { type PermissionRules, Permissions } from '../../server/account/permissions.ts';
import type { Sink } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const SINK: Sink = { sinkKind: 'client', deliver: () => true };

interface Lists {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

function permissions(publish: Lists, subscribe: Lists = {}): Permissions {
  const whole = ({ allow, deny = [] }: Lists): PermissionRules['publish'] => ({ allow: allow ?? null, deny });
  return new Permissions({ publish: whole(publish), subscribe: whole(subscribe) });
}

function mayPublish(of: Permissions, subject: string): boolean {
  const bytes = Buffer.from(`<${subject}>`, 'latin1');
  return of.mayPublish(bytes, 1, bytes.length - 1);
}

function receives(of: Permissions, subject: string, queueGroup = ''): boolean {
  const message = new Message();
  message.setSubject(Buffer.from(subject, 'latin1'), 0, subject.length);
  return !of.deniesDelivery(new Subscription(SINK, '>', queueGroup, '1'), message);
}

describe('publishing', () => {
  const SUBJECTS = ['a', 'a.b', 'a.c', 'a.b.c', 'b'];
  const allowed = (of: Permissions): string[] => SUBJECTS.filter((subject) => mayPublish(of, subject));

  it('needs no question without rules', () => {
    expect(permissions({}).restrictsPublishing).toBe(false);
    expect(allowed(permissions({}))).toEqual(SUBJECTS);
    expect(permissions({ allow: [] }).restrictsPublishing).toBe(true);
    expect(permissions({ deny: ['a'] }).restrictsPublishing).toBe(true);
  });

  it.each<[string, Lists, string[]]>([
    ['what is allowed', { allow: ['a.*', 'b'] }, ['a.b', 'a.c', 'b']],
    ['nothing, if the list is empty', { allow: [] }, []],
    ['all but what is denied', { deny: ['a.>'] }, ['a', 'b']],
    ['what is allowed and not denied', { allow: ['a.>'], deny: ['a.b'] }, ['a.c', 'a.b.c']],
    ['nothing that is both', { allow: ['a.b'], deny: ['>'] }, []],
  ])('is possible to %s', (_, publish, expected) => {
    expect(allowed(permissions(publish))).toEqual(expected);
    // Once more, from the cache, and once after that.
    const of = permissions(publish);
    for (let i = 0; i < 3; i++) expect(allowed(of)).toEqual(expected);
  });

  it('takes wildcards in a published subject for ordinary tokens', () => {
    const of = permissions({ allow: ['a.*'], deny: ['b.c'] });
    expect(mayPublish(of, 'a.*')).toBe(true);
    expect(mayPublish(of, 'a.>')).toBe(true);
    expect(mayPublish(of, 'a..')).toBe(false);
  });
});

describe('subscribing', () => {
  it.each<[Lists, string, boolean]>([
    [{}, 'anything.>', true],
    [{ allow: [] }, 'a', false],
    [{ allow: ['a.*'] }, 'a.b', true],
    [{ allow: ['a.*'] }, 'a.*', true],
    [{ allow: ['a.*'] }, 'a.>', false],
    [{ allow: ['a.>'] }, 'a.*.c', true],
    [{ allow: ['a.b', 'a.c'] }, 'a.*', false],
    [{ deny: ['a.b'] }, 'a.b', false],
    [{ deny: ['a.b'] }, 'a.*', true],
    [{ deny: ['a.*'] }, 'a.b', false],
    [{ deny: ['a.>'] }, 'a', true],
    [{ deny: ['a.*'] }, 'a.>', false],
    [{ deny: ['*'] }, '>', false],
    [{ deny: ['a.*'] }, '>', true],
    [{ deny: ['a.*.x'] }, 'a.>', true],
    [{ allow: ['a.>'], deny: ['a.b.>'] }, 'a.b.c', false],
    [{ allow: ['a.>'], deny: ['a.b.>'] }, 'a.>', true],
  ])('with %j to %s: %s', (subscribe, subject, expected) => {
    expect(permissions({}, subscribe).maySubscribe(subject, '')).toBe(expected);
  });

  it.each<[Lists, string, string, boolean]>([
    // A plain entry is about queue subscriptions too, as long as none names a queue group.
    [{ allow: ['a'] }, 'a', 'q', true],
    [{ allow: ['a q'] }, 'a', 'q', true],
    [{ allow: ['a q'] }, 'a', 'r', false],
    [{ allow: ['a q'] }, 'a', '', false],
    [{ allow: ['a *.dev'] }, 'a', 'x.dev', true],
    [{ allow: ['a *.dev'] }, 'a', 'x.prod', false],
    [{ allow: ['a', 'a q'] }, 'a', 'r', false],
    [{ allow: ['a', 'a q'] }, 'a', '', true],
    [{ deny: ['a q'] }, 'a', 'q', false],
    [{ deny: ['a q'] }, 'a', 'r', true],
    [{ deny: ['a q'] }, 'a', '', true],
    [{ deny: ['a'] }, 'a', 'q', false],
    [{ allow: ['a'], deny: ['a q.>'] }, 'a', 'q.x', false],
    [{ allow: ['a'], deny: ['a q.>'] }, 'a', 'q', true],
  ])('with %j to %s in the group %s: %s', (subscribe, subject, queueGroup, expected) => {
    expect(permissions({}, subscribe).maySubscribe(subject, queueGroup)).toBe(expected);
  });
});

describe('delivery', () => {
  it('is asked about only where a subscription can match what is denied', () => {
    const of = permissions({}, { deny: ['a.b', 'c.*'] });
    const asked = ['>', 'a.*', '*.b', 'c.d', 'a.c', 'b', 'c', 'c.d.e'].filter((each) => of.needsDeliveryCheck(each));
    expect(asked).toEqual(['>', 'a.*', '*.b', 'c.d']);
    expect(permissions({}, { allow: ['a'] }).needsDeliveryCheck('>')).toBe(false);
  });

  it('leaves out what is denied', () => {
    const of = permissions({}, { deny: ['a.b', 'c.*', 'd q'] });
    const got = ['a.b', 'a.c', 'c.x', 'c', 'd'].filter((subject) => receives(of, subject));
    expect(got).toEqual(['a.c', 'c', 'd']);
    expect(['a.b', 'd'].filter((subject) => receives(of, subject, 'q'))).toEqual([]);
    expect(['a.b', 'd'].filter((subject) => receives(of, subject, 'r'))).toEqual(['d']);
    expect(receives(permissions({}, { allow: ['a'] }), 'b')).toBe(true);
  });
});
