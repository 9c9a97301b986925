/** A message as the spool keeps it, and back. */
import { describe, expect, it } from 'vitest';
import { readWanted, wantedOf, wantedText } from '../../jetstream/spool/hub-interest.ts';
import { fromKept, toKeep, withId } from '../../jetstream/spool/spool-message.ts';
import { recordBytes, RecordView, writeRecord } from '../../jetstream/store/record.ts';
import { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';

function messageOf(subject: string, reply: string, headers: string, payload: string): Message {
  const message = new Message();
  const [subjectBytes, replyBytes] = [Buffer.from(subject), Buffer.from(reply)];
  message.setSubject(subjectBytes, 0, subjectBytes.length);
  message.setReply(replyBytes, 0, replyBytes.length);
  const body = Buffer.from(`${headers}${payload}\r\n`, 'latin1');
  message.setBody(body, 0, headers.length, body.length - 2);
  return message;
}

function shown(message: Message): object {
  const { body, bodyStart, payloadStart, bodyEnd } = message;
  return {
    subject: message.subjectText(),
    reply: message.replyText(),
    headers: body.toString('latin1', bodyStart, payloadStart),
    payload: body.toString('latin1', payloadStart, bodyEnd),
    end: body.toString('latin1', bodyEnd, bodyEnd + 2),
  };
}

function stored(message: Message): RecordView {
  const buffer = Buffer.alloc(recordBytes(message));
  writeRecord(buffer, 0, message, 1, 1, 2, 0);
  const view = new RecordView(buffer);
  view.set(buffer, 0);
  return view;
}

describe('a spooled message', () => {
  it.each([
    ['a.b', '', '', 'payload'],
    ['a.b', 'reply.to', '', ''],
    ['a', 'r', 'NATS/1.0\r\nA: b\r\n\r\n', 'with\nlines and blanks'],
  ])('comes back as it was: %s %s', (subject, reply, headers, payload) => {
    const message = messageOf(subject, reply, headers, payload);
    const back = new Message();
    expect(fromKept(stored(toKeep(message, ['q', 'other'], new Message())), back)).toEqual(['q', 'other']);
    expect(shown(back)).toEqual({ subject, reply, headers, payload, end: '\r\n' });
    expect(fromKept(stored(toKeep(message, [], new Message())), back)).toEqual([]);
  });

  it('gets an id where it has none', () => {
    const plain = withId(messageOf('a', 'r', '', 'x'), 'id-1', new Message());
    expect(shown(plain)).toMatchObject({ headers: 'NATS/1.0\r\nNats-Msg-Id: id-1\r\n\r\n', payload: 'x', reply: 'r' });
    const other = withId(messageOf('a', '', 'NATS/1.0\r\nA: b\r\n\r\n', 'x'), 'id-2', new Message());
    expect(shown(other)).toMatchObject({ headers: 'NATS/1.0\r\nA: b\r\nNats-Msg-Id: id-2\r\n\r\n' });
    const named = withId(messageOf('a', '', 'NATS/1.0\r\nnats-msg-id: own\r\n\r\n', 'x'), 'id-3', new Message());
    expect(shown(named)).toMatchObject({ headers: 'NATS/1.0\r\nnats-msg-id: own\r\n\r\n' });
  });
});

describe('the interest of a hub', () => {
  const sink = { sinkKind: 'leaf' as const, deliver: () => true };
  const subscription = (subject: string, queue = ''): Subscription => new Subscription(sink, subject, queue, '');

  it('is that in spooled subjects, and has one text whatever the order', () => {
    const one = wantedOf([subscription('b.>', 'q'), subscription('c'), subscription('a.*')], ['a.>', 'b.x']);
    const other = wantedOf([subscription('a.*'), subscription('b.>', 'q')], ['a.>', 'b.x']);
    expect(one).toEqual([
      { subject: 'a.*', queueGroup: '' },
      { subject: 'b.>', queueGroup: 'q' },
    ]);
    expect(wantedText(one)).toBe(wantedText(other));
    expect(readWanted(wantedText(one))).toEqual(one);
    expect(readWanted(wantedText([]))).toEqual([]);
  });

  it('is everything where there is too much of it', () => {
    const many = Array.from({ length: 1_001 }, (_, i) => subscription(`a.${i}`));
    expect(wantedOf(many, ['a.*'])).toEqual([{ subject: 'a.*', queueGroup: '' }]);
  });
});
