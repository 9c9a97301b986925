/** MSG and HMSG as receivers get them, from every form in which a message can come. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodedBytesMax, writeLine, writeMessage, writeNumber } from '../../server/protocol/message-encoder.ts';
import { Message } from '../../server/protocol/message.ts';

interface Parts {
  readonly subject: string;
  readonly reply?: string;
  readonly headers?: string;
  readonly payload: string;
}

/** Subject, reply and body in buffers of their own, as for a message that nobody sent as it is. */
function scattered({ subject, reply = '', headers = '', payload }: Parts): Message {
  const message = new Message();
  message.setSubject(Buffer.from(`<${subject}>`, 'latin1'), 1, 1 + subject.length);
  if (reply === '') message.clearReply();
  else message.setReply(Buffer.from(`<<${reply}`, 'latin1'), 2, 2 + reply.length);
  const body = Buffer.from(`-${headers}${payload}-`, 'latin1');
  message.setBody(body, 1, 1 + headers.length, 1 + headers.length + payload.length);
  return message;
}

/** The same message as it stands in a read buffer, the end of its PUB ready to be passed on. */
function inOnePiece({ subject, reply = '', headers = '', payload }: Parts): Message {
  const message = new Message();
  const words = `PUB ${subject} ${reply === '' ? '' : `${reply} `}`;
  const sizes = `${headers === '' ? '' : `${headers.length} `}${headers.length + payload.length}\r\n`;
  const buffer = Buffer.from(`${words}${sizes}${headers}${payload}\r\nPING\r\n`, 'latin1');
  const bodyStart = words.length + sizes.length;
  message.setSubject(buffer, 4, 4 + subject.length);
  message.setReply(buffer, 5 + subject.length, 5 + subject.length + reply.length);
  message.setBody(buffer, bodyStart, bodyStart + headers.length, bodyStart + headers.length + payload.length);
  message.tailStart = words.length;
  return message;
}

function encoded(message: Message, sid: string, withHeaders: boolean): string {
  const max = encodedBytesMax(message, sid);
  const out = Buffer.alloc(max + 3, 0xee);
  const end = writeMessage(out, 3, message, sid, withHeaders);
  expect(end).toBeLessThanOrEqual(out.length);
  return out.toString('latin1', 3, end);
}

const HEADERS = 'NATS/1.0\r\nA: b\r\n\r\n';

describe.each([
  ['scattered over buffers', scattered],
  ['in one piece', inOnePiece],
])('a message %s', (_, make) => {
  it.each<[string, Parts, boolean, string]>([
    ['plain', { subject: 'a.b', payload: 'hi' }, true, 'MSG a.b 7 2\r\nhi\r\n'],
    ['empty', { subject: 'a.b', payload: '' }, true, 'MSG a.b 7 0\r\n\r\n'],
    ['with reply', { subject: 'a', reply: '_INBOX.x', payload: 'hi' }, false, 'MSG a 7 _INBOX.x 2\r\nhi\r\n'],
    ['with headers', { subject: 'a', headers: HEADERS, payload: 'hi' }, true, `HMSG a 7 18 20\r\n${HEADERS}hi\r\n`],
    ['with headers alone', { subject: 'a', headers: HEADERS, payload: '' }, true, `HMSG a 7 18 18\r\n${HEADERS}\r\n`],
    [
      'with headers and reply',
      { subject: 'a', reply: 'r', headers: HEADERS, payload: 'hi' },
      true,
      `HMSG a 7 r 18 20\r\n${HEADERS}hi\r\n`,
    ],
    [
      'with headers for one who takes none',
      { subject: 'a', headers: HEADERS, payload: 'hi' },
      false,
      'MSG a 7 2\r\nhi\r\n',
    ],
    ['of any bytes', { subject: 'a.\xe9', payload: '\0\r\n\xff' }, true, 'MSG a.\xe9 7 4\r\n\0\r\n\xff\r\n'],
  ])('%s', (_, parts, withHeaders, expected) => {
    expect(encoded(make(parts), '7', withHeaders)).toBe(expected);
  });

  it('is encoded alike whatever its size and the name of the subscription', () => {
    const word = fc.stringMatching(/^[!-~\u0080-\u00ff]{1,80}$/);
    const bytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each).toString('latin1'));
    fc.assert(
      fc.property(word, fc.option(word, { nil: '' }), bytes, bytes, word, fc.boolean(), (...given) => {
        const [subject, reply, headers, payload, sid, withHeaders] = given;
        const hasHeaders = withHeaders && headers !== '';
        const sizes = hasHeaders ? [headers.length, headers.length + payload.length] : [payload.length];
        const line = [hasHeaders ? 'HMSG' : 'MSG', subject, sid, ...(reply === '' ? [] : [reply]), ...sizes].join(' ');
        const body = hasHeaders ? headers + payload : payload;
        const message = make({ subject, reply, headers, payload });
        expect(encoded(message, sid, withHeaders)).toBe(`${line}\r\n${body}\r\n`);
        const out = Buffer.alloc(encodedBytesMax(message, sid));
        expect(out.toString('latin1', 0, writeLine(out, 0, message, sid, withHeaders))).toBe(`${line}\r\n`);
      }),
    );
  });
});

it('numbers are written in decimal', () => {
  const numbers = [0, 7, 9, 10, 99, 100, 1048576, 999999999, 67108864, 4294967296, Number.MAX_SAFE_INTEGER];
  for (const number of numbers) {
    const out = Buffer.alloc(20);
    expect(out.toString('latin1', 0, writeNumber(out, 0, number))).toBe(String(number));
  }
});
