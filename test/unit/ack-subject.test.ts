/** The subjects by which messages are acknowledged: written as nats-server writes them, read in both forms. */
import { describe, expect, it } from 'vitest';
import { AckFields, AckSubject } from '../../jetstream/consumer/ack-subject.ts';

function read(subject: string): readonly number[] | null {
  const fields = new AckFields();
  const buffer = Buffer.from(`xx${subject}yy`, 'latin1');
  if (!fields.read(buffer, 2, buffer.length - 2)) return null;
  return [fields.deliveries, fields.streamSequence, fields.consumerSequence];
}

describe('an acknowledgement subject', () => {
  it('says deliveries, sequences, time and what is pending', () => {
    const subject = new AckSubject('S', 'C');
    const length = subject.write(2, 7, 12, 1_700_000_000, 5_000_001, 3);
    const text = subject.buffer.toString('latin1', 0, length);
    expect(text).toBe('$JS.ACK.S.C.2.7.12.1700000000005000001.3');
    expect(read(text)).toEqual([2, 7, 12]);
  });

  it('never says that less than nothing is pending', () => {
    const subject = new AckSubject('S', 'C');
    expect(subject.buffer.toString('latin1', 0, subject.write(1, 1, 1, 1, 0, -1))).toBe(
      '$JS.ACK.S.C.1.1.1.1000000000.0',
    );
  });

  it.each([
    ['with numbers as names', '$JS.ACK.1.2.3.4.5.6.7', [3, 4, 5]],
    ['in the longer form', '$JS.ACK._.hash.S.C.3.4.5.6.7', [3, 4, 5]],
    ['in the longer form with more behind it', '$JS.ACK.hub.hash.S.C.3.4.5.6.7.more.to.come', [3, 4, 5]],
  ])('%s is understood', (_, subject, numbers) => {
    expect(read(subject)).toEqual(numbers);
  });

  it.each(['$JS.ACK.S.C.x.4.5.6.7', '$JS.ACK.S.C.3..5.6.7', '$JS.ACK.S.C', '$JS.ACK.S.C.3.4.5', ''])(
    'is not %s',
    (subject) => {
      expect(read(subject)).toBeNull();
    },
  );
});
