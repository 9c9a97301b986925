/**
 * Messages of one stream that are there together or not at all. Their frames count only with the frame that ends the
 * group, wherever batches of the log or large messages separate them:
 *
 *     … │ message │ message │ place of a large message │ message │ end: first sequence, last sequence │ …
 *         startLsn                                                                                endLsn
 *
 * Between them only frames of other streams stand, and, while large messages wait for their block, removals of messages
 * before the group. A checkpoint never reflects a part of a group: it ends at `startLsn` until everything has happened.
 *
 * After a crash frames of a group may be left without an end. Their sequences are given anew then, so whatever comes next
 * in the log tells a group that was cut off from one whose end frame is damaged: see `GroupReplay`.
 */

import { Buffer } from 'node:buffer';
import type { Time } from './store.ts';

const NO_TIME: Time = { seconds: 0, nanoseconds: 0 };

export class MessageGroup {
  readonly firstSequence: number;
  /** 0 until every message is appended. */
  lastSequence = 0;
  lastTime: Time = NO_TIME;
  /** Position of its first frame; -1: there is none yet. */
  startLsn = -1;
  /** Position behind the frame that ends it. */
  endLsn: number = Infinity;

  constructor(firstSequence: number) {
    this.firstSequence = firstSequence;
  }
}

interface HeldFrame {
  readonly kind: number;
  readonly body: Buffer;
  readonly sequence: number;
}

/**
 * Frames of a group, read from the log at start, until it is known whether the group counts.
 *
 *     its end                                     it counts; messages that are missing are lost
 *     a message behind it, removal of one of it   it counts: its end is damaged
 *     a message with a sequence of it, a purge    it was cut off, and its sequences were given anew
 *     the end of the log                          it was cut off
 *
 * Bound: what one group holds, but for its large messages, of which only the heads are here.
 */
export class GroupReplay {
  private frames: HeldFrame[] = [];
  private readonly apply: (kind: number, body: Buffer) => void;

  constructor(apply: (kind: number, body: Buffer) => void) {
    this.apply = apply;
  }

  /** The first message that is held, Infinity when there is none. */
  get firstSequence(): number {
    return this.frames[0]?.sequence ?? Infinity;
  }

  /** A frame of a group; the bytes are copied. */
  hold(kind: number, sequence: number, buffer: Buffer, start: number, end: number): void {
    const last = this.frames.at(-1);
    if (last !== undefined && sequence <= last.sequence) this.drop();
    this.frames.push({ kind, sequence, body: Buffer.from(buffer.subarray(start, end)) });
  }

  /** The group ends; how many of its messages are missing. */
  end(firstSequence: number, lastSequence: number): number {
    const count = this.frames.filter(({ sequence }) => sequence >= firstSequence).length;
    this.take();
    return lastSequence - firstSequence + 1 - count;
  }

  /** A message that belongs to no group comes next. */
  message(sequence: number): void {
    const last = this.frames.at(-1);
    if (last !== undefined && sequence > last.sequence) this.take();
    else this.drop();
  }

  removed(sequence: number): void {
    const [first] = this.frames;
    if (first !== undefined && sequence >= first.sequence) this.take();
  }

  purged(below: number): void {
    const [first] = this.frames;
    if (first !== undefined && below > first.sequence) this.drop();
  }

  /** The group was cut off. */
  drop(): void {
    this.frames = [];
  }

  private take(): void {
    const { frames } = this;
    this.frames = [];
    for (const { kind, body } of frames) this.apply(kind, body);
  }
}
