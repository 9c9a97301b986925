/** Subjects that belong to servers. */
import { expect, it } from 'vitest';
import { isReservedAsReply, isReservedToPublish } from '../../server/connection/reserved-subjects.ts';

type Question = (subject: Buffer, start: number, end: number) => boolean;

/** Asked of a part of a buffer whose rest would change the answer. */
function ask(question: Question, subject: string): boolean {
  const bytes = Buffer.from(`$GR.${subject}.x`, 'latin1');
  return question(bytes, 4, bytes.length - 2);
}

it.each([
  ['_GR_.a', true, true],
  ['$GR.a', true, true],
  ['$NRG.a', true, false],
  ['_R_.a', false, true],
  ['$JS.ACK.a', false, true],
  ['_GR_.', false, false],
  ['$NRG.', false, false],
  ['_R_.', false, false],
  ['_GR_', false, false],
  ['_INBOX.a', false, false],
  ['_IR_.a', false, false],
  ['$JS.API.a', false, false],
  ['$JS.ACKS.a', false, false],
  ['a._GR_.b', false, false],
  ['$', false, false],
  ['_', false, false],
  ['', false, false],
  ['a', false, false],
])('%s: to publish %s, as a reply %s', (subject, toPublish, asReply) => {
  expect(ask(isReservedToPublish, subject)).toBe(toPublish);
  expect(ask(isReservedAsReply, subject)).toBe(asReply);
});
