/** What the reply subjects of fast batches say, and which reply subjects are of that kind at all. */
import { describe, expect, it } from 'vitest';
import { FastBatchReply, hasFastBatchReply } from '../../jetstream/stream/fast-batch-reply.ts';
import { Message } from '../../server/protocol/message.ts';

function messageTo(reply: string): Message {
  const bytes = Buffer.from(`<${reply}>`, 'latin1');
  const message = new Message();
  message.setReply(bytes, 1, bytes.length - 1);
  return message;
}

interface Said {
  readonly id: string;
  readonly flow: number;
  readonly gaps: boolean;
  readonly sequence: number;
  readonly operation: 'store' | 'commit' | 'end' | 'ping';
}

/** `null`: not in order. */
function said(reply: string): Said | null {
  const message = messageTo(reply);
  expect(hasFastBatchReply(message)).toBe(true);
  const read = new FastBatchReply();
  if (!read.read(message)) return null;
  const { flow, allowsGaps: gaps, sequence, isPing, isCommit, isEndOfBatch } = read;
  const id = message.reply.toString('latin1', read.idStart, read.idEnd);
  return {
    id,
    flow,
    gaps,
    sequence,
    operation: isPing ? 'ping' : isEndOfBatch ? 'end' : isCommit ? 'commit' : 'store',
  };
}

describe('a reply subject', () => {
  it.each(['', '$FI', '.$FI', 'a', 'a$FI', 'a.$FIX', 'a.$fi', 'a.$F', 'FI', 'I', 'a.$GI', 'a.XFI'])(
    '%j is not that of a fast batch',
    (reply) => expect(hasFastBatchReply(messageTo(reply))).toBe(false),
  );

  it('is told by its own bytes, not by those before it', () => {
    const bytes = Buffer.from('.$FI', 'latin1');
    const message = new Message();
    message.setReply(bytes, 3, 4);
    expect(hasFastBatchReply(message)).toBe(false);
    message.setReply(Buffer.alloc(0), 0, 0);
    expect(hasFastBatchReply(message)).toBe(false);
  });

  it.each<[string, Said]>([
    ['r.A.10.ok.1.0.$FI', { id: 'A', flow: 10, gaps: true, sequence: 1, operation: 'store' }],
    ['r.A.10.fail.2.1.$FI', { id: 'A', flow: 10, gaps: false, sequence: 2, operation: 'store' }],
    ['_INBOX.x.y.A.10.ok.7.2.$FI', { id: 'A', flow: 10, gaps: true, sequence: 7, operation: 'commit' }],
    ['r.A.10.ok.1.2.$FI', { id: 'A', flow: 10, gaps: true, sequence: 1, operation: 'commit' }],
    ['r.A.10.ok.2.3.$FI', { id: 'A', flow: 10, gaps: true, sequence: 2, operation: 'end' }],
    ['r.A.10.ok.1.4.$FI', { id: 'A', flow: 10, gaps: true, sequence: 1, operation: 'ping' }],
    ['r.A.0.ok.1.0.$FI', { id: 'A', flow: 10, gaps: true, sequence: 1, operation: 'store' }],
    ['r.A.x.ok.1.0.$FI', { id: 'A', flow: 10, gaps: true, sequence: 1, operation: 'store' }],
    ['r.A.70000.ok.1.0.$FI', { id: 'A', flow: 65_535, gaps: true, sequence: 1, operation: 'store' }],
    ['r.A.1.ok.9007199254740990.1.$FI', { id: 'A', flow: 1, gaps: true, sequence: 2 ** 53 - 2, operation: 'store' }],
    ['r..10.ok.01.02.$FI', { id: '', flow: 10, gaps: true, sequence: 1, operation: 'commit' }],
  ])('%s', (reply, expected) => expect(said(reply)).toEqual(expected));

  it.each([
    'a.$FI',
    '0.$FI',
    '1.0.$FI',
    'ok.1.0.$FI',
    '10.ok.1.0.$FI',
    'A.10.ok.1.0.$FI',
    'r.A.10.ok.1.5.$FI',
    'r.A.10.ok.1..$FI',
    'r.A.10.ok.1.x.$FI',
    'r.A.10.ok.0.0.$FI',
    'r.A.10.ok..0.$FI',
    'r.A.10.ok.-1.0.$FI',
    'r.A.10.ok.2.0.$FI',
    'r.A.10.ok.1.1.$FI',
    'r.A.10.ok.1.3.$FI',
    'r.A.10.OK.1.0.$FI',
    'r.A.10.o.1.0.$FI',
    'r.A.10..1.0.$FI',
    'r.A.10.failed.1.0.$FI',
    'r.A.1.ok.9007199254740991.1.$FI',
    'r.A.1.ok.18446744073709551615.1.$FI',
  ])('%s is not in order', (reply) => expect(said(reply)).toBeNull());
});
