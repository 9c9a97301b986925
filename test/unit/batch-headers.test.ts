/** Header lines taken out of, and put into, messages of a batch. */
import { expect, it } from 'vitest';
import { withHeader, withoutHeader } from '../../jetstream/stream/batch-headers.ts';
import { Message } from '../../server/protocol/message.ts';

function message(block: string, payload: string): Message {
  const bytes = Buffer.from(`..${block}${payload}..`, 'latin1');
  const made = new Message();
  made.setSubject(Buffer.from('s.a'), 0, 3);
  made.setReply(Buffer.from('r'), 0, 1);
  made.setBody(bytes, 2, 2 + block.length, 2 + block.length + payload.length);
  return made;
}

function shown({ body, bodyStart, payloadStart, bodyEnd, ...rest }: Message): string[] {
  expect([rest.subject.toString(), rest.reply.toString()]).toEqual(['s.a', 'r']);
  return [body.toString('latin1', bodyStart, payloadStart), body.toString('latin1', payloadStart, bodyEnd)];
}

it.each([
  ['NATS/1.0\r\nL: 1\r\na: b\r\n\r\n', 'NATS/1.0\r\na: b\r\n\r\n'],
  ['NATS/1.0\r\na: b\r\nL:1\r\nL: 2\r\nLL: 3\r\n\r\n', 'NATS/1.0\r\na: b\r\nLL: 3\r\n\r\n'],
  ['NATS/1.0\r\nL: 1\r\n\r\n', ''],
  ['NATS/1.0\r\na: L: 1\r\n\r\n', 'NATS/1.0\r\na: L: 1\r\n\r\n'],
])('%j without L', (block, rest) => {
  expect(shown(withoutHeader(message(block, 'one'), 'L'))).toEqual([rest, 'one']);
});

it('a line at the end', () => {
  const changed = withHeader(message('NATS/1.0\r\na: \u00e9\r\n\r\n', ''), 'B: 1');
  expect(shown(changed)).toEqual(['NATS/1.0\r\na: \u00e9\r\nB: 1\r\n\r\n', '']);
});
