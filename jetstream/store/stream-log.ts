/**
 * How the changes of one stream get into the commit log, and the steps that follow when they are durable.
 *
 *     message ─► frame with the record          large message ─► its block ─► frame with its place (`large-gate.ts`)
 *     removal ─► frame ─► step behind the messages logged so far
 *
 * The messages of a group count as logged when its end is (`message-group.ts`).
 */

import { strict as assert } from 'node:assert';
import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { Located } from './block-bytes.ts';
import type { BlockIndex } from './block-index.ts';
import type { LogParticipant } from './batch.ts';
import type { CommitLog } from './commit-log.ts';
import type { FileBlockBytes } from './file-block-bytes.ts';
import { FrameKind } from './frame.ts';
import { put32, put48 } from './integers.ts';
import { type GatedMessage, type GateOwner, LargeGate } from './large-gate.ts';
import type { MessageBlock } from './message-block.ts';
import { MessageGroup } from './message-group.ts';
import { RECORD_HEADER_BYTES } from './record.ts';
import type { Removal, StepQueue } from './step-queue.ts';
import type { Time } from './store.ts';
import type { StoreFiles } from './store-files.ts';
import { PLACE_HEAD_BYTES } from './stream-replay.ts';

/** Records above this go to their block first. */
const LARGE_BYTES = 32 * 1024;
const SEQUENCE_BYTES = 6;
/** A sequence, and whether the open block takes no more records, or the record is overwritten. */
const REMOVAL_BYTES = SEQUENCE_BYTES + 1;
const GROUP_END_BYTES = 2 * SEQUENCE_BYTES;
const EMPTY = Buffer.alloc(0);

export interface StreamLogContext {
  readonly files: StoreFiles;
  readonly log: CommitLog;
}

interface LoggedStream extends LogParticipant {
  readonly number: number;
  closeBelow(sequence: number): boolean;
  closeOpen(): boolean;
}

export class StreamLog implements GateOwner {
  readonly gate: LargeGate;
  private readonly context: StreamLogContext;
  private readonly stream: LoggedStream;
  private readonly steps: StepQueue;
  /** The last message that has its frame in the log, and its time. */
  private loggedSequence = 0;
  private loggedTime: Time = { seconds: 0, nanoseconds: 0 };
  private readonly located: Located = new Located(EMPTY);
  /** The group that is being appended. */
  private group: MessageGroup | null = null;
  /** Groups with frames in the log that have not happened yet, oldest first. */
  private readonly groups: MessageGroup[] = [];

  constructor(context: StreamLogContext, stream: LoggedStream, steps: StepQueue) {
    this.context = context;
    this.stream = stream;
    this.steps = steps;
    this.gate = new LargeGate(context.files, this);
  }

  /** Goes on behind this message. */
  continueAt(sequence: number, time: Time): void {
    this.loggedSequence = sequence;
    this.loggedTime = time;
  }

  /** The message was appended to its block: logs it, or sees to it that it will be. */
  append(message: Message, block: MessageBlock, sequence: number, bytes: number, time: Time): void {
    if (bytes > LARGE_BYTES || this.gate.isShut) this.waitForBlock(message, block, sequence, bytes, time);
    else {
      const isLogged = this.logRecord(block, sequence, bytes, time, this.group);
      assert(isLogged, 'a record just appended is in memory');
    }
    this.context.log.press(message.producer);
  }

  /** What is appended until `endGroup`, in this turn, counts together. */
  beginGroup(firstSequence: number): void {
    this.group = new MessageGroup(firstSequence);
  }

  /** The last message of the group has been appended. */
  endGroup(sequence: number): void {
    const { group } = this;
    assert(group !== null && sequence >= group.firstSequence, 'a group ends that has begun');
    this.group = null;
    group.lastSequence = sequence;
    // What waits at the gate includes the last message, which ends the group when it is logged.
    if (!this.gate.isShut) this.logGroupEnd(group);
  }

  /** Up to where the log is reflected by what has happened up to `appliedLsn`: no group is reflected in part. */
  reflectedLsn(appliedLsn: number): number {
    this.forgetGroups(appliedLsn);
    const [group] = this.groups;
    return group === undefined ? appliedLsn : Math.min(appliedLsn, group.startLsn);
  }

  /** Logs that everything below the sequence goes, with what was appended before and is not in the log yet. */
  purge(below: number): void {
    if (this.gate.isShut && below > this.loggedSequence + 1) this.gate.whenOpen(() => this.remove('purge', below));
    else this.remove('purge', below);
  }

  remove(kind: Removal, sequence: number, erases = false): void {
    const { log } = this.context;
    // What is appended and not logged, or in a group without its end, is unknown here when the log is replayed.
    const closesBlock = kind === 'purge' && this.closesBlock(sequence);
    const at = log.begin(REMOVAL_BYTES);
    put48(log.buffer, at, sequence);
    log.buffer[at + SEQUENCE_BYTES] = closesBlock || erases ? 1 : 0;
    const lsn = log.end(at + REMOVAL_BYTES, FrameKind[kind], this.stream.number, this.stream);
    const removal = { kind, sequence, erases };
    this.steps.push({ lsn, sequence: this.loggedSequence, time: this.loggedTime, removal, limits: null });
  }

  /** The open block takes no more records, unless some wait that are not in the log yet: a purge of nothing says so. */
  closeBlock(): void {
    if (!this.gate.isShut) this.remove('purge', 0);
  }

  private closesBlock(purgedBelow: number): boolean {
    return purgedBelow === 0 ? this.stream.closeOpen() : this.stream.closeBelow(purgedBelow);
  }

  /** The frames so far lie below `lsn` and leave together. */
  sealed(lsn: number): void {
    this.steps.push({ lsn, sequence: this.loggedSequence, time: this.loggedTime, removal: null, limits: null });
  }

  /** Copies the record into a frame of the log; false when it is not in memory. */
  private logRecord(
    block: MessageBlock,
    sequence: number,
    bytes: number,
    time: Time,
    group: MessageGroup | null,
  ): boolean {
    const { log } = this.context;
    const { located } = this;
    if (!block.bytes.locate((block.index as BlockIndex).offset(sequence), bytes, located)) return false;
    if (group !== null) this.logsIn(group, time);
    const at = log.begin(bytes);
    located.buffer.copy(log.buffer, at, located.at, located.at + bytes);
    const kind = group === null ? FrameKind.message : FrameKind.groupMessage;
    log.end(at + bytes, kind, this.stream.number, this.stream);
    if (group === null) this.continueAt(sequence, time);
    else if (sequence === group.lastSequence) this.logGroupEnd(group);
    return true;
  }

  /** The message gets its frame when its block, or that of a large one before it, is on the device. */
  private waitForBlock(message: Message, block: MessageBlock, sequence: number, bytes: number, time: Time): void {
    const { located } = this;
    const offset = (block.index as BlockIndex).offset(sequence);
    assert(block.bytes.locate(offset, bytes, located), 'a record just appended is in memory');
    const headBytes = RECORD_HEADER_BYTES + message.subjectEnd - message.subjectStart + message.headerBytes;
    const place = Buffer.allocUnsafe(PLACE_HEAD_BYTES + headBytes);
    put32(place, 0, block.number);
    put32(place, 4, offset);
    located.buffer.copy(place, PLACE_HEAD_BYTES, located.at, located.at + headBytes);
    // Should its block not get to the device as it is, this is all there is of it.
    (block.bytes as FileBlockBytes).keepUntilSynced();
    this.gate.add({ block, sequence, time, isLarge: bytes > LARGE_BYTES, group: this.group, place });
  }

  logPlace({ place, sequence, time, group }: GatedMessage): void {
    const { log } = this.context;
    if (group !== null) this.logsIn(group, time);
    const at = log.begin(place.length);
    place.copy(log.buffer, at);
    const kind = group === null ? FrameKind.largeMessage : FrameKind.largeGroupMessage;
    log.end(at + place.length, kind, this.stream.number, this.stream);
    if (group === null) this.continueAt(sequence, time);
    else if (sequence === group.lastSequence) this.logGroupEnd(group);
  }

  logWhole({ block, sequence, time, group }: GatedMessage): boolean {
    return this.logRecord(block, sequence, block.recordBytes(sequence), time, group);
  }

  // ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The next frame is about a message of the group that has this time. */
  private logsIn(group: MessageGroup, time: Time): void {
    group.lastTime = time;
    if (group.startLsn >= 0) return;
    group.startLsn = this.context.log.nextLsn;
    this.forgetGroups(this.steps.appliedLsn);
    this.groups.push(group);
  }

  private logGroupEnd(group: MessageGroup): void {
    const { log } = this.context;
    const at = log.begin(GROUP_END_BYTES);
    put48(log.buffer, at, group.firstSequence);
    put48(log.buffer, at + SEQUENCE_BYTES, group.lastSequence);
    group.endLsn = log.end(at + GROUP_END_BYTES, FrameKind.groupEnd, this.stream.number, this.stream);
    this.continueAt(group.lastSequence, group.lastTime);
  }

  private forgetGroups(appliedLsn: number): void {
    const { groups } = this;
    while (groups.length > 0 && (groups[0] as MessageGroup).endLsn <= appliedLsn) groups.shift();
  }
}
