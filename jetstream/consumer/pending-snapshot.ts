/**
 * The pending messages of a consumer as they were at one moment, for a checkpoint that is written while things go on. A
 * page of the table is copied just before a row on it changes; what does not change is read where it is.
 *
 *     table      │ page 0 │ page 1 │ page 2 │ …         ◄── reads, where there is no copy
 *     copies              │ page 1 │
 *
 * Bound: as much as the table takes, if everything changes before it is written.
 */

import { put32, put48 } from '../store/integers.ts';

/** Rows of a page: copying one takes some microseconds. */
const PAGE_ROWS = 512;
const PAGE_BITS = 9;
const COLUMNS = 5;
const PIECE_ROWS = 8192;
export const ROW_BYTES = 22;

/** The columns of a table that are kept. */
export interface PendingRows {
  readonly firstRow: number;
  nextRow(row: number): number;
  sequence(row: number): number;
  consumerSequence(row: number): number;
  deadlineMs(row: number): number;
  deliveryCount(row: number): number;
}

export class PendingSnapshot {
  /** Messages in it. */
  readonly size: number;
  private readonly rows: PendingRows;
  private readonly first: number;
  /** Rows from here on were not in use. */
  private readonly used: number;
  private readonly copies: (Float64Array | undefined)[] = [];

  constructor(rows: PendingRows, size: number, used: number) {
    this.rows = rows;
    this.size = size;
    this.used = used;
    this.first = rows.firstRow;
  }

  /** The row is about to change. */
  keep(row: number): void {
    if (row < this.used && this.copies[row >>> PAGE_BITS] === undefined) this.copy(row >>> PAGE_BITS);
  }

  /**
   * Every message in the order of the sequences: u48 stream sequence, u48 consumer sequence, u48 deadline, u32 deliveries.
   * A piece dies when the next one is asked for.
   */
  *pieces(): Generator<Buffer> {
    const { rows, copies } = this;
    const out = Buffer.allocUnsafeSlow(Math.min(this.size, PIECE_ROWS) * ROW_BYTES);
    let at = 0;
    for (let row = this.first; row >= 0;) {
      const copy = copies[row >>> PAGE_BITS];
      if (copy === undefined) {
        put48(out, at, rows.sequence(row));
        put48(out, at + 6, rows.consumerSequence(row));
        put48(out, at + 12, rows.deadlineMs(row));
        put32(out, at + 18, rows.deliveryCount(row));
        row = rows.nextRow(row);
      } else {
        const from = (row % PAGE_ROWS) * COLUMNS;
        put48(out, at, copy[from] as number);
        put48(out, at + 6, copy[from + 1] as number);
        put48(out, at + 12, copy[from + 2] as number);
        put32(out, at + 18, copy[from + 3] as number);
        row = copy[from + 4] as number;
      }
      at += ROW_BYTES;
      if (at < out.length) continue;
      yield out;
      at = 0;
    }
    if (at > 0) yield out.subarray(0, at);
  }

  private copy(page: number): void {
    const { rows } = this;
    const copy = new Float64Array(PAGE_ROWS * COLUMNS);
    const start = page * PAGE_ROWS;
    const end = Math.min(start + PAGE_ROWS, this.used);
    for (let row = start, at = 0; row < end; row++, at += COLUMNS) {
      copy[at] = rows.sequence(row);
      copy[at + 1] = rows.consumerSequence(row);
      copy[at + 2] = rows.deadlineMs(row);
      copy[at + 3] = rows.deliveryCount(row);
      copy[at + 4] = rows.nextRow(row);
    }
    this.copies[page] = copy;
  }
}
