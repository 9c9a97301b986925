/**
 * What the reply subject of a message in a fast batch says about it:
 *
 *     <prefix>.<id>.<flow>.<gap>.<sequence>.<operation>.$FI
 *
 *     flow       how many messages there may be between two acknowledgements
 *     gap        ok, fail: whether the batch goes on when messages got lost
 *     operation  0 starts the batch, 1 adds to it, 2 is its last message, 3 ends it without being part of it, 4 asks
 *                how far it is
 *
 * Read byte by byte into one reused object, since it stands on every message.
 */

import type { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';

const DOT = 46;
const ZERO = 48;
/** `.$FI` */
const SUFFIX_BYTES = 4;
const FLOW_DEFAULT = 10;
const FLOW_MAX = 65_535;
const NOT_A_NUMBER = -1;

const GAP_OK = 'ok';
const GAP_FAIL = 'fail';
const START = 0;
const APPEND = 1;
const COMMIT = 2;
const END_OF_BATCH = 3;
const PING = 4;

/** Whether the message has such a reply subject. For most messages its length or its last byte tells. */
export function hasFastBatchReply(message: Message): boolean {
  const { reply, replyStart, replyEnd } = message;
  return (
    replyEnd - replyStart > SUFFIX_BYTES &&
    reply[replyEnd - 1] === 0x49 &&
    reply[replyEnd - 2] === 0x46 &&
    reply[replyEnd - 3] === 0x24 &&
    reply[replyEnd - 4] === DOT
  );
}

export class FastBatchReply {
  idStart = 0;
  idEnd = 0;
  sequence = 0;
  flow = 0;
  allowsGaps = false;
  isPing = false;
  /** It is the last message, or ends the batch. */
  isCommit = false;
  isEndOfBatch = false;

  /** Reads the reply subject of a message that has one of these; false when it is not in order. */
  read(message: Message): boolean {
    const { reply, replyStart: start } = message;
    const suffix = message.replyEnd - SUFFIX_BYTES;
    const operation = tokenStart(reply, start, suffix);
    const sequence = tokenStart(reply, start, operation - 1);
    const gap = tokenStart(reply, start, sequence - 1);
    const flow = tokenStart(reply, start, gap - 1);
    this.idStart = tokenStart(reply, start, flow - 1);
    this.idEnd = flow - 1;
    if (this.idStart <= start) return false;
    return (
      this.setOperation(numberIn(reply, operation, suffix)) &&
      this.setSequence(numberIn(reply, sequence, operation - 1), numberIn(reply, operation, suffix)) &&
      this.setGap(reply, gap, sequence - 1) &&
      this.setFlow(numberIn(reply, flow, gap - 1))
    );
  }

  private setOperation(operation: number): boolean {
    this.isPing = operation === PING;
    this.isEndOfBatch = operation === END_OF_BATCH;
    this.isCommit = this.isEndOfBatch || operation === COMMIT;
    return operation >= START && operation <= PING;
  }

  private setSequence(sequence: number, operation: number): boolean {
    this.sequence = sequence;
    if (sequence < 1) return false;
    if (operation === START) return sequence === 1;
    return sequence > 1 || (operation !== APPEND && operation !== END_OF_BATCH);
  }

  private setGap(reply: Buffer, start: number, end: number): boolean {
    this.allowsGaps = isWord(reply, start, end, GAP_OK);
    return this.allowsGaps || isWord(reply, start, end, GAP_FAIL);
  }

  private setFlow(flow: number): boolean {
    this.flow = flow <= 0 ? FLOW_DEFAULT : Math.min(flow, FLOW_MAX);
    return true;
  }
}

/** Where the token that ends at `end` begins; at or before `start` when there is none before it. */
function tokenStart(buffer: Buffer, start: number, end: number): number {
  let at = end;
  while (at > start && buffer[at - 1] !== DOT) at--;
  return at;
}

function isWord(buffer: Buffer, start: number, end: number, word: string): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (buffer[start + i] !== word.charCodeAt(i)) return false;
  return true;
}

/** The number written in `buffer[start, end)`, NOT_A_NUMBER when it is none or too large to count with. */
function numberIn(buffer: Buffer, start: number, end: number): number {
  if (start >= end) return NOT_A_NUMBER;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (buffer[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return NOT_A_NUMBER;
    value = value * 10 + digit;
  }
  return value < Number.MAX_SAFE_INTEGER ? value : NOT_A_NUMBER;
}
