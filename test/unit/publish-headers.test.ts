/** Which lines of a header block a stream takes for its headers. */
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { PublishHeaders } from '../../jetstream/stream/publish-headers.ts';

describe('the id of a message', () => {
  it('is a line of its own', () => {
    expect(idIn('NATS/1.0\r\nNats-Msg-Id: a\r\n\r\n')).toBe('a');
    expect(idIn('NATS/1.0\r\nOther: b\r\nNats-Msg-Id:  a \r\nNats-Msg-Id: c\r\n\r\n')).toBe('a ');
    expect(idIn('NATS/1.0\r\nNats-Msg-Id: a')).toBe('a');
  });

  it('does not come out of the value of another header', () => {
    expect(idIn('NATS/1.0\r\nOther: b\nNats-Msg-Id: a\r\n\r\n')).toBeNull();
    expect(idIn('NATS/1.0\r\nOther: Nats-Msg-Id: a\r\n\r\n')).toBeNull();
    expect(idIn('NATS/1.0\nNats-Msg-Id: a\n\n')).toBeNull();
  });
});

function idIn(block: string): string | null {
  const headers = new PublishHeaders();
  headers.read(Buffer.from(block, 'latin1'), 0, block.length);
  return headers.messageId;
}
