/**
 * Accounts that import from each other, and permissions, against models that look at every subscription: who hears of a
 * message, under which subject.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Account } from '../../server/account/account.ts';
import { Permissions } from '../../server/account/permissions.ts';
import { overlap, type StreamImport, StreamImports } from '../../server/account/stream-imports.ts';
import type { Sink } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { isSubsetMatch, subjectsCollide } from '../../server/subject/subject.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { compileTransform, placeholdersToWildcards, wildcardsToPlaceholders } from '../../server/subject/transform.ts';

const token = fc.constantFrom('a', 'b', '*');
const pattern = fc
  .tuple(fc.array(token, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([tokens, isOpen]) => [...tokens, ...(isOpen ? ['>'] : [])].join('.'));
const literal = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })
  .map((tokens) => tokens.join('.'));
const RANDOM = { fraction: () => 0 };

function account(name: string): Account {
  return new Account(name, new Sublist(1), () => 0);
}

function messageTo(subject: string): Message {
  const message = new Message();
  message.setSubject(Buffer.from(subject, 'latin1'), 0, subject.length);
  return message;
}

/** An import of `from` under the prefix `in`, or under its own subjects. */
function importOf(exporter: Account, from: string, isPrefixed: boolean): StreamImport {
  const to = isPrefixed ? `in.${from}` : from;
  const inward = isPrefixed ? compileTransform(from, wildcardsToPlaceholders(to)).value : null;
  return { exporter, from, to: placeholdersToWildcards(to).pattern, inward, outward: inward?.reverse() ?? null };
}

test('what two patterns have in common is what both match', () => {
  fc.assert(
    fc.property(pattern, pattern, literal, (one, other, subject) => {
      const both = overlap(one, other);
      expect(both !== null).toBe(subjectsCollide(one, other));
      const isInBoth = isSubsetMatch(subject, one) && isSubsetMatch(subject, other);
      expect(both !== null && isSubsetMatch(subject, both)).toBe(isInBoth);
    }),
    { numRuns: 2000 },
  );
});

test('an importing account hears what is exported and subscribed to, once for each import, and no more', () => {
  const step = fc.record({ subject: pattern, isRemoval: fc.boolean(), isPrefixed: fc.boolean() });
  const imports = fc.array(fc.record({ from: pattern, isPrefixed: fc.boolean() }), { maxLength: 3 });
  fc.assert(
    fc.property(
      imports,
      fc.array(step, { maxLength: 12 }),
      fc.array(literal, { minLength: 1 }),
      (wanted, steps, sent) => {
        const [exporter, importer] = [account('A'), account('B')];
        importer.importStreams(
          new StreamImports(
            wanted.map(({ from, isPrefixed }) => importOf(exporter, from, isPrefixed)),
            RANDOM,
          ),
        );
        const heard: string[] = [];
        const sink: Sink = {
          sinkKind: 'client',
          deliver(subscription, message) {
            heard.push(`${subscription.sid} ${message.subjectText()}`);
            return true;
          },
        };
        const live: Subscription[] = [];
        for (const [index, { subject, isRemoval, isPrefixed }] of steps.entries()) {
          const gone = isRemoval ? live.shift() : undefined;
          if (gone !== undefined) importer.unsubscribe(gone);
          const made = new Subscription(sink, isPrefixed ? `in.${subject}` : subject, '', String(index));
          live.push(made);
          importer.subscribe(made);
        }
        for (const subject of sent) {
          heard.length = 0;
          exporter.route(messageTo(subject));
          const expected: string[] = [];
          for (const { from, isPrefixed } of wanted) {
            if (!isSubsetMatch(subject, from)) continue;
            const here = isPrefixed ? `in.${subject}` : subject;
            for (const each of live) if (isSubsetMatch(here, each.subject)) expected.push(`${each.sid} ${here}`);
          }
          expect(heard.toSorted()).toEqual(expected.toSorted());
        }
        for (const each of live) importer.unsubscribe(each);
        expect(exporter.sublist.size).toBe(0);
      },
    ),
    { numRuns: 500 },
  );
});

test('permissions allow what a walk over their lists allows', () => {
  const list = fc.array(pattern, { maxLength: 3 });
  const rules = fc.record({ allow: fc.option(list), deny: list });
  const covers = (patterns: readonly string[], subject: string): boolean =>
    patterns.some((each) => isSubsetMatch(subject, each));
  fc.assert(
    fc.property(rules, rules, fc.array(literal, { minLength: 1 }), pattern, (publish, subscribe, subjects, wanted) => {
      const permissions = new Permissions({ publish, subscribe });
      for (const subject of [...subjects, ...subjects]) {
        const mayPublish = (publish.allow === null || covers(publish.allow, subject)) && !covers(publish.deny, subject);
        expect(permissions.mayPublish(Buffer.from(subject), 0, subject.length)).toBe(mayPublish);
        const denied = permissions.deniesDelivery(new Subscription(NOBODY, '>', '', '1'), messageTo(subject));
        expect(denied).toBe(covers(subscribe.deny, subject));
      }
      const isAllowed = subscribe.allow === null || covers(subscribe.allow, wanted);
      // `a.>` is refused where `a.*` is denied.
      const isFull = wanted === '>' || wanted.endsWith('.>');
      const narrowed = isFull ? `${wanted.slice(0, -1)}*` : wanted;
      const isDenied = covers(subscribe.deny, wanted) || covers(subscribe.deny, narrowed);
      expect(permissions.maySubscribe(wanted, '')).toBe(isAllowed && !isDenied);
      const mayMeet = subscribe.deny.some((each) => subjectsCollide(each, wanted));
      expect(permissions.needsDeliveryCheck(wanted)).toBe(mayMeet);
    }),
    { numRuns: 500 },
  );
});

const NOBODY: Sink = { sinkKind: 'client', deliver: () => true };
