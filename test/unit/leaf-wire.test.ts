/** The lines of a leaf link, as read and as written: every form, and what a reader of pieces makes of them. */
import { describe, expect, it } from 'vitest';
import { findDeliverSubject } from '../../leafnode/deliver-subject.ts';
import { encodedBytesMax, writeLeafLine, writeLeafMessage } from '../../leafnode/leaf-encoder.ts';
import { Message } from '../../server/protocol/message.ts';
import { readLeafOperations, relayLeafMessages } from '../helpers/leaf-operations.ts';

const HEADERS = 'NATS/1.0\r\n\r\n';

describe('a line of a hub', () => {
  it.each([
    ['LMSG a 2\r\nhi\r\n', 'message a reply="" groups= headers="" payload="hi"'],
    ['LMSG a r 0\r\n\r\n', 'message a reply="r" groups= headers="" payload=""'],
    ['LMSG a | q 1\r\nx\r\n', 'message a reply="" groups=q headers="" payload="x"'],
    ['LMSG a + r q w 1\r\nx\r\n', 'message a reply="r" groups=q,w headers="" payload="x"'],
    ['LMSG a + r 1\r\nx\r\n', 'message a reply="r" groups= headers="" payload="x"'],
    ['LMSG a + 1\r\nx\r\n', 'message a reply="+" groups= headers="" payload="x"'],
    ['LMSG a | 1\r\nx\r\n', 'message a reply="|" groups= headers="" payload="x"'],
    [`HMSG a 12 14\r\n${HEADERS}hi\r\n`, 'message a reply="" groups= headers="NATS/1.0\\r\\n\\r\\n" payload="hi"'],
    [`HMSG a r 12 12\r\n${HEADERS}\r\n`, 'message a reply="r" groups= headers="NATS/1.0\\r\\n\\r\\n" payload=""'],
    [`HMSG a | q 12 12\r\n${HEADERS}\r\n`, 'message a reply="" groups=q headers="NATS/1.0\\r\\n\\r\\n" payload=""'],
    [
      `HMSG a + r q w 12 12\r\n${HEADERS}\r\n`,
      'message a reply="r" groups=q,w headers="NATS/1.0\\r\\n\\r\\n" payload=""',
    ],
    ['HMSG a 0 2\r\nhi\r\n', 'message a reply="" groups= headers="" payload="hi"'],
    ['lmsg\t a   2 \r\nhi\r\n', 'message a reply="" groups= headers="" payload="hi"'],
    [`HMSG a 12\t14\r\n${HEADERS}hi\r\n`, 'message a reply="" groups= headers="NATS/1.0\\r\\n\\r\\n" payload="hi"'],
    ['LMSG a 2\nhi\r\n', 'message a reply="" groups= headers="" payload="hi"'],
    ['LMSG a 5 6\r\n123456\r\n', 'message a reply="5" groups= headers="" payload="123456"'],
    ['LMSG a 5r 1\r\nx\r\n', 'message a reply="5r" groups= headers="" payload="x"'],
    ['LMSG a r\t1\r\nx\r\n', 'message a reply="r" groups= headers="" payload="x"'],
    ['LMSG  a r 1\r\nx\r\n', 'message a reply="r" groups= headers="" payload="x"'],
    ['LMSG a  r 1\r\nx\r\n', 'message a reply="r" groups= headers="" payload="x"'],
    ['LMSG a r 1 \r\nx\r\n', 'message a reply="r" groups= headers="" payload="x"'],
    ['LMSG a r\u0001 1\r\nx\r\n', 'message a reply="r\\u0001" groups= headers="" payload="x"'],
    [`LMSG ${'s'.repeat(1596)} 1\r\nx\r\n`, `message ${'s'.repeat(1596)} reply="" groups= headers="" payload="x"`],
    ['LMSG a 007\r\n1234567\r\n', 'message a reply="" groups= headers="" payload="1234567"'],
    ['LMSG caf\u00e9 5\r\n\r\nLS+\r\n', 'message caf\u00e9 reply="" groups= headers="" payload="\\r\\nLS+"'],
    ['LS+ a.*.>\r\n', 'subscribe a.*.>  1'],
    ['LS+ a q 12\r\n', 'subscribe a q 12'],
    ['LS+ a q 0\r\n', 'subscribe a q 1'],
    ['LS+ a q 9999999999\r\n', 'subscribe a q 1'],
    ['ls-  a\r\n', 'unsubscribe a '],
    ['LS- a q\n', 'unsubscribe a q'],
    ['PING\r\n', 'ping'],
    ['pong now\r\n', 'pong'],
    ['+OK\r\n', ''],
    ["-ERR 'What'\r\n", "error 'What'"],
    ['INFO {"a": "\u00c3\u00a9"} \r\n', 'info {"a": "é"}'],
  ])('is read: %j', (bytes, expected) => {
    expect(readLeafOperations([Buffer.from(bytes, 'latin1')])).toBe(expected);
  });

  it.each([
    ['LMSG\r\n', 'Unknown Protocol Operation'],
    ['LMSG \r\n', 'malformed'],
    ['LMSG a\r\n', 'malformed'],
    ['LMSG a r x\r\n', 'malformed'],
    ['LMSG a x r 1\r\n', 'malformed'],
    ['LMSG a ++ r q 1\r\n', 'malformed'],
    ['LMSG a 1000000000\r\n', 'malformed'],
    ['LMSG a \r\n', 'malformed'],
    ['LMSG a r \r\n', 'malformed'],
    ['LMSG a 1x\r\nx\r\n', 'malformed'],
    ['LMSG a r 1001\r\n', 'Maximum Payload Violation'],
    ['HMSG a 1\r\n', 'malformed'],
    ['HMSG a 3 2\r\n', 'malformed'],
    ['HMSG a x 2\r\n', 'malformed'],
    ['LS+\r\n', 'Unknown Protocol Operation'],
    ['LS+ \r\n', 'malformed'],
    ['LS+ a b\r\n', 'malformed'],
    ['LS+ a b 1 c\r\n', 'malformed'],
    ['LS-\r\n', 'Unknown Protocol Operation'],
    ['LS- \r\n', 'malformed'],
    ['LS- a b c\r\n', 'malformed'],
    ['LMSG a 1001\r\n', 'Maximum Payload Violation'],
    ['LMSG a 1\r\nxy\r\n', 'Unknown Protocol Operation'],
    ['LMSG a 1\r\nx\ry', 'Unknown Protocol Operation'],
    ['-ERR\r\n', 'Unknown Protocol Operation'],
    ['\r\n', 'Unknown Protocol Operation'],
    ['LX', 'Unknown Protocol Operation'],
    ['PUB a 0\r\n\r\n', 'Unknown Protocol Operation'],
    ['RMSG', 'Unknown Protocol Operation'],
    ['LS*', 'Unknown Protocol Operation'],
    [`LMSG ${'x'.repeat(1597)} 1\r\nx\r\n`, 'maximum control line exceeded'],
    [`LS+ ${'x'.repeat(1700)}`, 'maximum control line exceeded'],
    [`LS+ ${'x'.repeat(1700)}\r\n`, 'maximum control line exceeded'],
  ])('is refused, with everything behind it: %j', (bytes, violation) => {
    expect(readLeafOperations([Buffer.from(`PING\r\n${bytes}`), Buffer.from('PING\r\n')])).toBe(
      `ping\nviolation ${violation}`,
    );
  });
});

interface Parts {
  readonly subject: string;
  readonly destination?: string;
  readonly reply?: string;
  readonly headers?: string;
  readonly payload?: string;
  readonly groups?: readonly string[];
  readonly withHeaders?: boolean;
}

function encode({
  subject,
  destination,
  reply,
  headers = '',
  payload = '',
  groups = [],
  withHeaders = true,
}: Parts): string {
  const message = new Message();
  const range = (text: string): [Buffer, number, number] => {
    const buffer = Buffer.from(`..${text}..`, 'latin1');
    return [buffer, 2, buffer.length - 2];
  };
  message.setSubject(...range(subject));
  if (destination !== undefined) message.setDestination(...range(destination));
  if (reply !== undefined) message.setReply(...range(reply));
  const [body, start, end] = range(headers + payload);
  message.setBody(body, start, start + headers.length, end);
  const out = Buffer.alloc(encodedBytesMax(message, groups), 0xdd);
  const written = writeLeafMessage(out, 0, message, groups, withHeaders);
  const line = Buffer.alloc(encodedBytesMax(message, groups));
  const lineLength = writeLeafLine(line, 0, message, groups, withHeaders);
  expect(out.toString('latin1', 0, lineLength)).toBe(line.toString('latin1', 0, lineLength));
  return out.toString('latin1', 0, written);
}

describe('a message for a hub', () => {
  it.each<[Parts, string]>([
    [{ subject: 'a', payload: 'hi' }, 'LMSG a 2\r\nhi\r\n'],
    [{ subject: 'a', reply: 'r' }, 'LMSG a r 0\r\n\r\n'],
    [{ subject: 'a', groups: ['q'] }, 'LMSG a | q 0\r\n\r\n'],
    [{ subject: 'a', reply: 'r', groups: ['q', 'w'], payload: 'x' }, 'LMSG a + r q w 1\r\nx\r\n'],
    [{ subject: 'a', headers: HEADERS, payload: 'x' }, `HMSG a 12 13\r\n${HEADERS}x\r\n`],
    [{ subject: 'a', reply: 'r', headers: HEADERS, groups: ['q'] }, `HMSG a + r q 12 12\r\n${HEADERS}\r\n`],
    [{ subject: 'a', headers: HEADERS, payload: 'x', withHeaders: false }, 'LMSG a 1\r\nx\r\n'],
    [{ subject: 'shown', destination: 'inbox' }, 'LMSG inbox 0\r\n\r\n'],
    [{ subject: 'shown', destination: 'inbox', reply: '$JS.ACK.a' }, 'LMSG inbox $JS.ACK.a@shown 0\r\n\r\n'],
    [
      { subject: 'shown', destination: 'inbox', reply: '$JS.ACK.s.c.1.2.3.4.5@first' },
      'LMSG inbox $JS.ACK.s.c.1.2.3.4.5@first 0\r\n\r\n',
    ],
    [{ subject: 'a', payload: 'x'.repeat(100_000) }, `LMSG a 100000\r\n${'x'.repeat(100_000)}\r\n`],
  ])('is written: %j', (parts, expected) => {
    expect(encode(parts)).toBe(expected);
  });
});

describe('a message that came over one link', () => {
  it.each<[string, readonly string[], string]>([
    ['LMSG a 2\r\nhi\r\n', [], 'LMSG a 2\r\nhi\r\n'],
    ['LMSG a r 2\r\nhi\r\n', [], 'LMSG a r 2\r\nhi\r\n'],
    ['LMSG a  r 2\r\nhi\r\n', [], 'LMSG a r 2\r\nhi\r\n'],
    ['LMSG a\tr 2\r\nhi\r\n', [], 'LMSG a r 2\r\nhi\r\n'],
    ['LMSG a r\t2\r\nhi\r\n', [], 'LMSG a r 2\r\nhi\r\n'],
    ['LMSG a 2 \r\nhi\r\n', [], 'LMSG a 2\r\nhi\r\n'],
    ['LMSG a 2\nhi\r\n', [], 'LMSG a 2\r\nhi\r\n'],
    ['LMSG a + r q 2\r\nhi\r\n', [], 'LMSG a r 2\r\nhi\r\n'],
    ['LMSG a | q 2\r\nhi\r\n', [], 'LMSG a 2\r\nhi\r\n'],
    ['LMSG a r 2\r\nhi\r\n', ['q', 'w'], 'LMSG a + r q w 2\r\nhi\r\n'],
    [`HMSG a 12 14\r\n${HEADERS}hi\r\n`, [], `HMSG a 12 14\r\n${HEADERS}hi\r\n`],
    [`HMSG a r 12 14\r\n${HEADERS}hi\r\n`, [], `HMSG a r 12 14\r\n${HEADERS}hi\r\n`],
    [`HMSG a  12 14\r\n${HEADERS}hi\r\n`, [], `HMSG a 12 14\r\n${HEADERS}hi\r\n`],
    ['HMSG a r 0 2\r\nhi\r\n', [], 'LMSG a r 2\r\nhi\r\n'],
  ])('goes over another one: %j for %j', (bytes, groups, expected) => {
    expect(relayLeafMessages(Buffer.from(bytes, 'latin1'), groups)).toBe(expected);
  });
});

describe('the subject that JetStream shows', () => {
  it.each([
    ['$JS.ACK.s.c.1.2.3.4.5@orders', 21],
    ['$JS.ACK.s@t.c@d.1.2.3.4.5@orders@x', 25],
    ['$JS.ACK.s.c.1.2.3.4@orders.a.b', -1],
    ['$JS.ACK.s.c.1.2.3.4.5', -1],
    ['$JS.ACK.', -1],
    ['_INBOX.a.b.c.d.e.f.g.h@x', -1],
  ])('begins in %s behind offset %i', (reply, offset) => {
    const buffer = Buffer.from(`xx${reply}`);
    const found = findDeliverSubject(buffer, 2, buffer.length);
    expect(found < 0 ? found : found - 2).toBe(offset);
  });
});
