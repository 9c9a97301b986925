/** What a stream stores of a header block whose first line has a status. */
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { withoutStatus } from '../../jetstream/stream/header-status.ts';
import { Message } from '../../server/protocol/message.ts';

describe('a stored message', () => {
  it('has no status', () => {
    expect(stored('NATS/1.0 503\r\nA: b\r\n\r\n', 'body')).toEqual(['NATS/1.0\r\nA: b\r\n\r\n', 'body']);
    expect(stored('NATS/1.0 100 Idle Heartbeat\r\nA: b\r\n\r\n', '')).toEqual(['NATS/1.0\r\nA: b\r\n\r\n', '']);
    expect(stored('NATS/1.0x\r\nA: b', 'body')).toEqual(['NATS/1.0\r\nA: b', 'body']);
  });

  it('has no headers when it had only a status', () => {
    expect(stored('NATS/1.0 503\r\n\r\n', 'body')).toEqual(['', 'body']);
  });

  it('is what it was when it had none', () => {
    for (const block of [
      '',
      'NATS/1.0\r\n\r\n',
      'NATS/1.0\r\nA: b\r\n\r\n',
      'x',
      'NATS/1.0',
      'NATS/1.0 503',
      'FOO 503\r\n\r\n',
    ]) {
      expect(stored(block, '\r\nbody\r\n')).toEqual([block, '\r\nbody\r\n']);
    }
  });

  it('may be the whole of a small buffer', () => {
    const message = new Message();
    message.setBody(Buffer.from('xy'), 0, 1, 2);
    expect(withoutStatus(message)).toBe(message);
  });

  it('keeps subject and reply', () => {
    const message = withoutStatus(messageOf('NATS/1.0 503\r\n\r\n', 'body'));
    expect([message.subjectText(), message.replyText()]).toEqual(['a.b', 'r.1']);
  });
});

function stored(headerBlock: string, payload: string): [string, string] {
  const { body, bodyStart, payloadStart, bodyEnd } = withoutStatus(messageOf(headerBlock, payload));
  return [body.toString('latin1', bodyStart, payloadStart), body.toString('latin1', payloadStart, bodyEnd)];
}

/** In the middle of a larger buffer. */
function messageOf(headerBlock: string, payload: string): Message {
  const message = new Message();
  message.setSubject(Buffer.from('..a.b..'), 2, 5);
  message.setReply(Buffer.from('r.1'), 0, 3);
  const body = Buffer.from(`..${headerBlock}${payload}\r\n..`, 'latin1');
  message.setBody(body, 2, 2 + headerBlock.length, 2 + headerBlock.length + payload.length);
  return message;
}
