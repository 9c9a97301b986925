/**
 * What the commit log tells of each asset, asked at start while assets are brought back. Of a stream whose checkpoints
 * are both damaged it matters from which message on the log has every one:
 *
 *     blocks  │ 31 … 44 │ 45 │ 46 … 49 │ nothing got to the device │ 92 │
 *     log                  first: 46 ── 47 ── 48 ── … ── 90 ── 91 ───────► end
 *
 * The log is read for that once, whoever asks first; a number is kept for each stream in it.
 */

import type { Catalog } from './catalog.ts';
import { FrameKind, holdsRecord } from './frame.ts';
import { get48 } from './integers.ts';
import { type FrameVisitor, type ReadLog, readFrames } from './log-reader.ts';
import { SEQUENCE_AT } from './record.ts';
import { PLACE_HEAD_BYTES } from './stream-replay.ts';

export class LoggedPast {
  private readonly catalog: Catalog;
  private readonly log: ReadLog;
  private firsts: ReadonlyMap<number, number> | null = null;

  constructor(catalog: Catalog, log: ReadLog) {
    this.catalog = catalog;
    this.log = log;
  }

  /** Whether the log holds everything that ever happened to the asset. */
  holdsAll(asset: number): boolean {
    return !this.catalog.isCovered(asset);
  }

  /** The lowest sequence of a message of the stream that stands in the log, Infinity when there is none. */
  *firstOf(stream: number): Generator<void, number> {
    this.firsts ??= yield* this.read();
    return this.firsts.get(stream) ?? Infinity;
  }

  private *read(): Generator<void, Map<number, number>> {
    const firsts = new Map<number, number>();
    const visitor: FrameVisitor = {
      frame: (kind, asset, buffer, start) => {
        const isPlace = kind === FrameKind.largeMessage || kind === FrameKind.largeGroupMessage;
        if (!isPlace && !holdsRecord(kind)) return;
        const sequence = get48(buffer, start + (isPlace ? PLACE_HEAD_BYTES : 0) + SEQUENCE_AT);
        firsts.set(asset, Math.min(sequence, firsts.get(asset) ?? Infinity));
      },
    };
    yield* readFrames({ ...this.log }, visitor, true);
    return firsts;
  }
}
