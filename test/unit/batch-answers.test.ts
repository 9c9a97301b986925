/** Acknowledgements and other answers leave in the order in which they were made, when what they wait for is visible. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type AnswerSender, PendingAcks } from '../../jetstream/stream/pending-acks.ts';

class Sent implements AnswerSender {
  readonly lines: string[] = [];
  onSent: () => void = () => undefined;

  sendAck(buffer: Buffer, start: number, end: number, sequence: number, isDuplicate: boolean): void {
    this.lines.push(`${buffer.toString('latin1', start, end)} ${sequence}${isDuplicate ? ' again' : ''}`);
    this.onSent();
  }

  sendText(buffer: Buffer, start: number, end: number, textEnd: number): void {
    this.lines.push(`${buffer.toString('latin1', start, end)} | ${buffer.toString('latin1', end, textEnd)}`);
    this.onSent();
  }
}

describe('pending answers', () => {
  let pending: PendingAcks;
  let sent: Sent;

  function ack(gate: number, reply: string, sequence: number, isDuplicate = false): void {
    pending.add(gate, sequence, isDuplicate, Buffer.from(reply), 0, reply.length);
  }

  function text(gate: number, reply: string, body: string): void {
    pending.addText(gate, body, Buffer.from(reply), 0, reply.length);
  }

  beforeEach(() => {
    pending = new PendingAcks();
    sent = new Sent();
  });

  it('leave in their order, up to the gate', () => {
    ack(1, 'a', 1);
    text(1, 'b', '{"type":"ack"}');
    text(1, 'c', '');
    ack(2, 'd', 1, true);
    text(3, 'e', 'late \u00e9\u00ff');
    pending.release(0, sent);
    expect(sent.lines).toEqual([]);
    pending.release(1, sent);
    expect(sent.lines.splice(0)).toEqual(['a 1', 'b | {"type":"ack"}', 'c | ']);
    pending.release(3, sent);
    expect(sent.lines).toEqual(['d 1 again', 'e | late \u00e9\u00ff']);
    expect(pending.isEmpty).toBe(true);
  });

  it('may lead to more, which follow', () => {
    ack(1, 'a', 1);
    text(1, 'b', 'x'.repeat(2_000));
    ack(1, 'c', 2);
    let more = 3;
    sent.onSent = () => {
      if (more-- <= 0) return;
      text(1, `more${more}`, 'y'.repeat(3_000));
      pending.release(1, sent);
    };
    pending.release(1, sent);
    expect(sent.lines.map((line) => line.slice(0, 8))).toEqual([
      'a 1',
      'b | xxxx',
      'c 2',
      'more2 | ',
      'more1 | ',
      'more0 | ',
    ]);
    expect(sent.lines.every((line) => /^[abc] |^more\d \| y+$/.test(line))).toBe(true);
    expect(pending.isEmpty).toBe(true);
  });

  it('of all sizes keep their bytes while others come and go', () => {
    const expected: string[] = [];
    for (let i = 1; i <= 3_000; i++) {
      const body = `${i}:`.padEnd((i * 37) % 700, '.');
      text(i, `r${i}`, body);
      expected.push(`r${i} | ${body}`);
      if (i % 7 === 0) pending.release(i - 3, sent);
    }
    pending.release(3_000, sent);
    expect(sent.lines).toEqual(expected);
  });
});
