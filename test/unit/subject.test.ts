import { describe, expect, test } from 'vitest';
import {
  isLiteral,
  isSubscribableSubject,
  isSubsetMatch,
  isValidLiteralSubject,
  isValidLiteralSubjectBytes,
  isValidPublishSubject,
  isValidQueueName,
  isValidSubject,
  subjectMatches,
  subjectsCollide,
  tokenCount,
} from '../../server/subject/subject.ts';

/** Columns: what nats-server 2.15.2 says to SUB, to a configured subject, to a pedantic PUB, to a deliver subject. */
const validity: [subject: string, subscribable: boolean, valid: boolean, literal: boolean, publish: boolean][] = [
  ['', false, false, false, false],
  ['a', true, true, true, true],
  ['a.b.c', true, true, true, true],
  ['*', true, true, false, false],
  ['>', true, true, false, false],
  ['a.*', true, true, false, false],
  ['*.a.>', true, true, false, false],
  ['a.*.*.>', true, true, false, false],
  ['a..b', false, false, false, false],
  ['.a', false, false, false, false],
  ['a.', false, false, false, false],
  ['.', false, false, false, false],
  ['>.a', false, false, false, false],
  ['a.>.b', false, false, false, false],
  ['a.>.>', false, false, false, false],
  ['a.>.', false, false, false, false],
  ['a>', true, true, true, true],
  ['>a', true, true, true, true],
  ['>>', true, true, true, true],
  ['*a', true, true, true, true],
  ['a*.b', true, true, true, true],
  ['**', true, true, true, true],
  ['a b', true, false, true, false],
  [' ', true, false, true, false],
  ['a.\t', true, false, true, false],
  ['a\n.b', true, false, true, false],
  ['a.b\r', true, false, true, false],
  ['a\fb', true, false, true, false],
  ['\f', true, false, true, false],
  ['*.a b', true, false, false, false],
  ['a\vb', true, true, true, true],
  ['a\0b', true, true, true, true],
  ['\xff', true, true, true, true],
  ['\xc3\xa9.\xe2\x82\xac', true, true, true, true],
  ['\xa0', true, true, true, true],
  ['$JS.API.>', true, true, false, false],
];

describe('validity', () => {
  test.each(validity)('%j: SUB %s, configuration %s, pedantic PUB %s, deliver subject %s', (subject, ...expected) => {
    expect([
      isSubscribableSubject(subject),
      isValidSubject(subject),
      isValidLiteralSubject(subject),
      isValidPublishSubject(subject),
    ]).toEqual(expected);
  });

  test.each(validity)('%j in the middle of a buffer is judged as its text is', (subject, ...expected) => {
    const buffer = Buffer.from(`.*${subject}>.`, 'latin1');
    expect(isValidLiteralSubjectBytes(buffer, 2, 2 + subject.length)).toBe(expected[2]);
  });

  test('the longest subject a control line can carry is judged token by token', () => {
    const deep = 'a.'.repeat(30_000);
    expect(isValidSubject(`${deep}a`)).toBe(true);
    expect(isValidSubject(deep)).toBe(false);
  });

  test('a literal has no wildcard token, valid or not', () => {
    expect(['', 'a', 'a..b', 'a*.>b'].every(isLiteral)).toBe(true);
    expect(['*', 'a.>', '>.a', 'a.*.b', '..*'].some(isLiteral)).toBe(false);
  });
});

test('any word is a queue group except the reserved one', () => {
  expect(['q', 'a..b', '>', '*', 'a.>.b', '.', '\f', '_SYS_', '_sys_.'].every(isValidQueueName)).toBe(true);
  expect(['', '_sys_'].some(isValidQueueName)).toBe(false);
});

test('tokens are counted with the empty ones', () => {
  expect(['', 'a', 'a.b', 'a..b', '.', 'a.b.'].map(tokenCount)).toEqual([0, 1, 2, 3, 2, 3]);
});

describe('a pattern and a literal', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', 'ab', false],
    ['ab', 'a', false],
    ['a.b', 'a.b', true],
    ['a', 'a.b', false],
    ['a.b', 'a', false],
    ['*', 'a', true],
    ['*', 'a.b', false],
    ['*.b', 'a.b', true],
    ['a.*', 'a', false],
    ['a.*.c', 'a.b.c', true],
    ['a.*.c', 'a.b.d', false],
    ['>', 'a', true],
    ['>', 'a.b.c', true],
    ['a.>', 'a', false],
    ['a.>', 'a.b', true],
    ['a.>', 'a.b.c.d', true],
    ['a.>', 'b.c', false],
    ['*.>', 'a.b', true],
    ['*.>', 'a', false],
    ['A', 'a', false],
    ['\xc3\xa9.*', '\xc3\xa9.x', true],
  ])('%j reaches %j: %s', (pattern, literal, expected) => {
    expect(subjectMatches(pattern, literal)).toBe(expected);
  });

  test.each([
    ['wildcards in the published subject are ordinary tokens', 'a.*', 'a.*', true],
    ['a published * is not the literal token it would match', 'a.b', 'a.*', false],
    ['a published > is one token to a *', 'a.*.b', 'a.>.b', true],
    ['a subject with an empty token reaches nobody', 'a.>', 'a..b', false],
    ['nor with an empty last token', 'a.>', 'a.', false],
    ['nor with an empty first token', '>', '.a', false],
    ['nor the empty subject', '>', '', false],
    ['nor an empty token under *', 'a.*', 'a.', false],
    ['a token that begins with * is no wildcard', '*a', 'b', false],
    ['a token that begins with > is no wildcard', '>a', 'b', false],
    ['but matches itself', 'x.*a.>b', 'x.*a.>b', true],
  ])('%s: %j and %j', (_, pattern, literal, expected) => {
    expect(subjectMatches(pattern, literal)).toBe(expected);
  });
});

describe('subsets', () => {
  test.each([
    ['a', 'a', true],
    ['a', '*', true],
    ['a', '>', true],
    ['*', 'a', false],
    ['*', '*', true],
    ['*', '>', true],
    ['>', '*', false],
    ['>', '>', true],
    ['a.>', 'a.*', false],
    ['a.*', 'a.>', true],
    ['a.>', 'a.>', true],
    ['a.*.>', 'a.>', true],
    ['a.>', 'a.*.>', false],
    ['foo.*', '>', true],
    ['foo.*', '*.*', true],
    ['foo.*', 'foo.*', true],
    ['foo.*', 'foo.bar', false],
    ['a.b', 'a', false],
    ['a', 'a.b', false],
    ['a', 'a.>', false],
    ['a.b.c', 'a.*.c', true],
    ['a.*.c', 'a.b.c', false],
    ['*.b', 'a.*', false],
    ['a..b', 'a.>', true],
    ['a.', 'a.>', true],
    ['a.', 'a.*', false],
    ['a..b', 'a.*.b', false],
    ['', '>', true],
    ['', '*', false],
    ['a.>.b', 'a.*.b', false],
  ])('%j within %j: %s', (subset, pattern, expected) => {
    expect(isSubsetMatch(subset, pattern)).toBe(expected);
  });

  test('a pattern token that begins with * is a literal, unlike in nats-server', () => {
    expect(isSubsetMatch('bar', '*foo')).toBe(false);
    expect(isSubsetMatch('*foo', '*foo')).toBe(true);
    expect(isSubsetMatch('*', '*foo')).toBe(false);
  });
});

describe('collisions', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', '*', true],
    ['a', '>', true],
    ['a.b', '*', false],
    ['a', 'a.>', false],
    ['a.*', 'a.>', true],
    ['a.*', '*.b', true],
    ['a.*', '*.b.c', false],
    ['a.*', 'b.*', false],
    ['*.b.>', 'a.>', true],
    ['*.b.>', 'a.c.>', false],
    ['a.b.>', 'a.*', false],
    ['a.*.c', 'a.b.>', true],
    ['>', 'a.b.c', true],
    ['*.*', '*', false],
    ['*.*', '>', true],
    ['foo.*.bar', 'foo.baz.*', true],
    ['$JS.API.>', '>', true],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(subjectsCollide(a, b)).toBe(expected);
    expect(subjectsCollide(b, a)).toBe(expected);
  });

  test('a token that begins with * collides with itself and wildcards only, unlike in nats-server', () => {
    expect(subjectsCollide('*a.*', 'b.*')).toBe(false);
    expect(subjectsCollide('*a.*', '*.b')).toBe(true);
    expect(subjectsCollide('*a.*', '*a.b')).toBe(true);
  });
});
