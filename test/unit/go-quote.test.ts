/** Text in quotes, as Go prints it: the right column is what fmt.Sprintf("%q") gave. */
import { describe, expect, it } from 'vitest';
import {
  publishViolation,
  replyViolation,
  subscriptionViolation,
  tooManyTokens,
} from '../../server/protocol/errors.ts';
import { goQuote, goQuoteBytes } from '../../server/protocol/go-quote.ts';

describe('text in quotes', () => {
  it.each([
    ['plain', '"plain"'],
    ['', '""'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ['tab\there', String.raw`"tab\there"`],
    ['\0\x01\x7f', String.raw`"\x00\x01\x7f"`],
    ['\x07\b\f\n\r\v', String.raw`"\a\b\f\n\r\v"`],
    ['\u00e9\u65e5\u672c\u{1f600}', '"\u00e9\u65e5\u672c\u{1f600}"'],
    ['\u0301', '"\u0301"'],
    ['\u200b\u2028\u00a0\ufeff\u00ad', String.raw`"\u200b\u2028\u00a0\ufeff\u00ad"`],
    ['\ue000', String.raw`"\ue000"`],
    ['\u{e0001}', String.raw`"\U000e0001"`],
  ])('%j', (text, expected) => {
    expect(goQuote(text)).toBe(expected);
    expect(goQuoteBytes(Buffer.from(text).toString('latin1'))).toBe(expected);
  });

  it.each([
    ['\xff\xfe', String.raw`"\xff\xfe"`],
    ['a\xc3', String.raw`"a\xc3"`],
    ['\0\x80"', String.raw`"\x00\x80\""`],
  ])('bytes that are no text: %j', (bytes, expected) => {
    expect(goQuoteBytes(bytes)).toBe(expected);
  });
});

describe('errors that show a subject', () => {
  it.each([
    [publishViolation('a.b'), 'Permissions Violation for Publish to "a.b"'],
    [replyViolation('_R_.x'), 'Permissions Violation for Publish with Reply of "_R_.x"'],
    [subscriptionViolation('a', ''), 'Permissions Violation for Subscription to "a"'],
    [subscriptionViolation('a', 'q'), 'Permissions Violation for Subscription to "a" using queue "q"'],
    [tooManyTokens('a.b'), 'Permissions Violation for Subscription to "a.b", too many tokens'],
    [publishViolation('a"\0'), String.raw`Permissions Violation for Publish to "a\"\x00"`],
  ])('%j', (error, text) => {
    expect(error).toEqual({ text, closes: null });
  });
});
