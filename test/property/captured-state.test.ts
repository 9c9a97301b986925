/** What is written of a state while things go on is the state as it was when it was captured. */
import { array, assert, constantFrom, nat, property, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import { PendingTable } from '../../jetstream/consumer/pending-table.ts';
import { DedupWindow } from '../../jetstream/stream/dedup-window.ts';
import { capturedBytes } from '../helpers/captured-bytes.ts';

const ROWS = 3000;
const change = tuple(constantFrom('remove', 'add', 'deadline', 'deliveries'), nat(2 * ROWS));

/** All bytes of the pieces; `between` runs before each. */
function written(pieces: Generator<Buffer>, between: () => void): Buffer {
  const out: Buffer[] = [];
  for (;;) {
    between();
    const piece = pieces.next();
    if (piece.done === true) return Buffer.concat(out);
    out.push(Buffer.from(piece.value));
  }
}

function alter(table: PendingTable, kind: string, sequence: number): void {
  const row = table.row(sequence);
  if (kind === 'add' && row < 0) table.add(sequence, sequence + 1, 7, 1);
  else if (row < 0) return;
  else if (kind === 'remove') table.remove(row);
  else if (kind === 'deadline') table.setDeadline(row, sequence + 5);
  else table.setDeliveryCount(row, table.deliveryCount(row) + 1);
}

it('a table of pending messages', () => {
  expect.hasAssertions();
  assert(
    property(array(change, { maxLength: 300 }), array(change, { maxLength: 300 }), (before, after) => {
      const table = new PendingTable();
      for (let i = 0; i < ROWS; i++) table.add(i * 2, i, i * 3, 1);
      for (const [kind, sequence] of before) alter(table, kind, sequence);
      const { size } = table;
      const first = table.capture();
      const expected = capturedBytes({ bytes: size * 22, pieces: () => first.pieces() });
      table.release();
      const snapshot = table.capture();
      const bytes = written(snapshot.pieces(), () => {
        for (const [kind, sequence] of after) alter(table, kind, sequence);
      });
      table.release();
      expect(bytes.equals(expected)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it('a large table of pending messages that is emptied and filled again meanwhile', () => {
  const table = new PendingTable();
  const rows = 30_000;
  for (let i = 0; i < rows; i++) table.add(i, i, i, 1);
  const expected = capturedBytes({ bytes: rows * 22, pieces: () => table.capture().pieces() });
  table.release();
  let calls = 0;
  const bytes = written(table.capture().pieces(), () => {
    if (calls++ > 0) return;
    table.removeUpTo(rows);
    for (let i = 0; i < 100; i++) table.add(rows + i, i, i, 1);
  });
  table.release();
  expect(bytes.equals(expected)).toBe(true);
  expect([table.size, table.sequence(table.firstRow), table.row(rows + 99) >= 0]).toEqual([100, rows, true]);
});

it('a duplicate window of which ids are forgotten meanwhile', () => {
  const window = new DedupWindow();
  for (let i = 1; i <= 40_000; i++) window.add(`id-${i}`, i, i);
  const expected = capturedBytes(window.capture(39_000));
  let time = 0;
  const bytes = written(window.capture(39_000).pieces(), () => {
    time += 10_000;
    window.expire(time, 10_000);
    for (let i = 1; i <= 2000; i++) window.add(`id-${time}-${i}`, 40_000 + time + i, 40_000 + time);
  });
  expect(bytes.equals(expected)).toBe(true);
  const restored = new DedupWindow();
  for (const _ of restored.decode(bytes));
  expect([restored.size, restored.find('id-39000', 0), restored.find('id-39001', 0)]).toEqual([39_000, 39_000, 0]);
});
