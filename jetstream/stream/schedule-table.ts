/**
 * Which subjects of a stream have a schedule: the sequence of its message and when it is due, in columns by the number of
 * the subject, 16 bytes each.
 *
 *     schedule stored under S ─► S: sequence, due      another message under S ─► S: none
 *     published by it, due again ─► S: sequence, due   published by it for the last time ─► S: none
 *
 * A change counts from the moment when its message is appended. Until that is visible, what was before is kept too: should
 * the power go, it is what counts. A checkpoint holds what counts for the messages that it reflects:
 *
 *     u48 due, milliseconds since 1970 │ u48 sequence │ u16 bytes of the subject │ subject
 */

import { Buffer } from 'node:buffer';
import { get16, get48, put16, put48 } from '../store/integers.ts';
import type { SubjectIndex } from '../store/subject-index.ts';

const CAPACITY_MIN = 16;
const HEAD_BYTES = 14;
const NONE = 0;

interface Change {
  /** Of the message that made it. */
  readonly sequence: number;
  readonly subject: number;
  readonly before: number;
  readonly dueBefore: number;
}

export class ScheduleTable {
  /** Subjects that have a schedule. */
  size = 0;
  private readonly subjects: SubjectIndex;
  private sequences = new Float64Array(CAPACITY_MIN);
  private dues = new Float64Array(CAPACITY_MIN);
  /** Changes by messages that are not visible yet, oldest first. */
  private changes: Change[] = [];

  constructor(subjects: SubjectIndex) {
    this.subjects = subjects;
  }

  /** The sequence of the schedule under the subject with this number; 0: there is none. */
  sequence(subject: number): number {
    return this.sequences[subject] ?? NONE;
  }

  due(subject: number): number {
    return this.dues[subject] ?? NONE;
  }

  /** From the message `by` on, which is not visible yet unless it is 0, this holds; `sequence` 0: no schedule. */
  set(subject: number, sequence: number, dueMs: number, by: number): void {
    const before = this.sequence(subject);
    if (sequence === NONE && before === NONE) return;
    if (subject >= this.sequences.length) this.grow(subject);
    if (by > 0) this.changes.push({ sequence: by, subject, before, dueBefore: this.due(subject) });
    this.size += (sequence === NONE ? 0 : 1) - (before === NONE ? 0 : 1);
    this.sequences[subject] = sequence;
    this.dues[subject] = dueMs;
  }

  /** Everything up to this sequence is visible. */
  visible(sequence: number): void {
    const { changes } = this;
    let count = 0;
    while (count < changes.length && (changes[count] as Change).sequence <= sequence) count++;
    if (count > 0) this.changes = changes.slice(count);
  }

  /** What counts when messages up to `lastSequence` are there. */
  encode(lastSequence: number): Buffer {
    const entries: Buffer[] = [];
    const earlier = new Map<number, Change>();
    for (const change of this.changes) {
      if (change.sequence > lastSequence && !earlier.has(change.subject)) earlier.set(change.subject, change);
    }
    for (let subject = 0; subject < this.sequences.length; subject++) {
      const change = earlier.get(subject);
      const sequence = change === undefined ? this.sequence(subject) : change.before;
      const due = change === undefined ? this.due(subject) : change.dueBefore;
      if (sequence !== NONE && sequence <= lastSequence) entries.push(this.entry(subject, sequence, due));
    }
    return Buffer.concat(entries);
  }

  /** One entry of a checkpoint. */
  entry(subject: number, sequence: number, dueMs: number): Buffer {
    const text = this.subjects.text(subject);
    const entry = Buffer.allocUnsafe(HEAD_BYTES + text.length);
    put48(entry, 0, dueMs);
    put48(entry, 6, sequence);
    put16(entry, 12, text.length);
    entry.write(text, HEAD_BYTES, 'latin1');
    return entry;
  }

  /** Shows the entries of a checkpoint whose subjects are still there. */
  decode(encoded: Buffer, visit: (subject: number, sequence: number, dueMs: number) => void): void {
    for (let at = 0; at < encoded.length;) {
      const end = at + HEAD_BYTES + get16(encoded, at + 12);
      const subject = this.subjects.find(encoded, at + HEAD_BYTES, end);
      if (subject >= 0) visit(subject, get48(encoded, at + 6), get48(encoded, at));
      at = end;
    }
  }

  private grow(subject: number): void {
    const capacity = Math.max(this.sequences.length * 2, subject + 1);
    const { sequences, dues } = this;
    this.sequences = new Float64Array(capacity);
    this.dues = new Float64Array(capacity);
    this.sequences.set(sequences);
    this.dues.set(dues);
  }
}
