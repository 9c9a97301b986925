/** A stream's subjects are found again, with what is counted of them, however many and however long they are. */
import { expect, it } from 'vitest';
import { CHUNK_SUBJECTS } from '../../jetstream/store/subject-chunk.ts';
import { SubjectIndex } from '../../jetstream/store/subject-index.ts';

const SUBJECTS = CHUNK_SUBJECTS * 2 + 100;

function textOf(number: number): string {
  return `sensor.${'x'.repeat(number % 50)}.${number}`;
}

function filled(): SubjectIndex {
  const index = new SubjectIndex();
  for (let i = 0; i < SUBJECTS; i++) {
    const bytes = Buffer.from(`..${textOf(i)}..`);
    expect(index.intern(bytes, 2, bytes.length - 2)).toBe(i);
    index.appended(i, i + 1);
    index.added(i, i + 1);
  }
  return index;
}

it('each subject keeps its number, its text and its messages', () => {
  const index = filled();
  const out = Buffer.alloc(100);
  for (let i = 0; i < SUBJECTS; i++) {
    const text = textOf(i);
    const known = [index.findText(text), index.text(i), index.bytes(i), index.count(i), index.first(i), index.last(i)];
    expect(known).toEqual([i, text, text.length, 1, i + 1, i + 1]);
    expect([index.appendedLast(i), out.toString('latin1', 3, index.copyTo(i, out, 3))]).toEqual([i + 1, text]);
  }
  expect(index.findText('sensor..')).toBe(-1);
  expect([index.size, index.live]).toEqual([SUBJECTS, SUBJECTS]);
});

it('what goes is counted in each part of it', () => {
  const index = filled();
  for (let i = 0; i < SUBJECTS; i += 2) index.removed(i, i + 1);
  for (let i = 0; i < SUBJECTS; i++) expect(index.count(i)).toBe(i % 2);
  expect(index.live).toBe(SUBJECTS / 2);
  index.clearCounts();
  for (let i = 0; i < SUBJECTS; i++) expect(index.count(i)).toBe(0);
  expect([index.size, index.live]).toEqual([SUBJECTS, 0]);
});

it('one subject may take more than a chunk begins with', () => {
  const index = new SubjectIndex();
  const long = Buffer.from('a.'.repeat(20_000) + 'b');
  expect([index.intern(long, 0, 3), index.intern(long, 0, long.length), index.intern(long, 0, 5)]).toEqual([0, 1, 2]);
  expect([index.text(0), index.text(1), index.text(2)]).toEqual(['a.a', long.toString(), 'a.a.a']);
});
