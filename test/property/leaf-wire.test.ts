/** What one end of a leaf link writes the other reads as the same, in whatever pieces it arrives. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodedBytesMax, writeLeafMessage } from '../../leafnode/leaf-encoder.ts';
import { Message } from '../../server/protocol/message.ts';
import { readLeafOperations } from '../helpers/leaf-operations.ts';

const word = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{1,12}$/);
const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each).toString('latin1'));
const parts = fc.record({
  subject: word,
  reply: fc.option(word, { nil: '' }),
  headers: fc.option(bytes, { nil: '' }),
  payload: bytes,
  groups: fc.array(word, { maxLength: 4 }),
  withHeaders: fc.boolean(),
});
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never;

function encode({ subject, reply, headers, payload, groups, withHeaders }: Parts): Buffer {
  const message = new Message();
  const body = Buffer.from(headers + payload, 'latin1');
  message.setSubject(Buffer.from(subject, 'latin1'), 0, subject.length);
  if (reply !== '') message.setReply(Buffer.from(reply, 'latin1'), 0, reply.length);
  message.setBody(body, 0, headers.length, body.length);
  const out = Buffer.alloc(encodedBytesMax(message, groups));
  return out.subarray(0, writeLeafMessage(out, 0, message, groups, withHeaders));
}

function expectedOf({ subject, reply, headers, payload, groups, withHeaders }: Parts): string {
  const told = withHeaders ? JSON.stringify(headers) : '""';
  return `message ${subject} reply=${JSON.stringify(reply)} groups=${groups.join(',')} headers=${told} payload=${JSON.stringify(payload)}`;
}

function cut(whole: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...new Set([...at.map((each) => each % (whole.length + 1)), whole.length])].toSorted((a, b) => a - b);
  return ends.map((end, i) => whole.subarray(ends[i - 1] ?? 0, end));
}

test('messages are read as they were written, cut anywhere', () => {
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 6 }), (all, cuts) => {
      const whole = Buffer.concat(all.map(encode));
      const expected = all.map(expectedOf).join('\n');
      expect(readLeafOperations([whole])).toBe(expected);
      expect(readLeafOperations(cut(whole, cuts))).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

test('a stream is read alike when it is cut at each byte', () => {
  const stream = Buffer.from(
    'INFO {"a":1}\r\nLS+ a\r\nLS+ b.> q 3\r\nLMSG a + r q w 5\r\nhello\r\nHMSG a 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n' +
      `LS- b.> q\r\n-ERR 'x y'\r\nLMSG b 700\r\n${'\r\n'.repeat(350)}\r\n+OK\r\nPONG\r\nLMSG c | q 0\r\n\r\n`,
  );
  const whole = readLeafOperations([stream]);
  expect(whole.split('\n')).toHaveLength(11);
  for (let at = 1; at < stream.length; at++) {
    expect(readLeafOperations([stream.subarray(0, at), stream.subarray(at)])).toBe(whole);
  }
  expect(
    readLeafOperations(
      cut(
        stream,
        Array.from(stream, (_, i) => i),
      ),
    ),
  ).toBe(whole);
});
