/**
 * The headers of a published message that mean something to a stream, found in one pass over the header block. Names are
 * compared byte by byte, as nats-server does: `nats-msg-id` is somebody else's header.
 *
 * Source: docs.nats.io JetStream headers; ADR-22, 37, 43, 49, 50, 51.
 */

import type { Buffer } from 'node:buffer';

const CR = 13;
const LF = 10;
const COLON = 58;
const SPACE = 32;
/** All names begin with `Nats-`; the first byte is asked before anything else. */
const FIRST_BYTE = 0x4e;
const PREFIX = 'Nats-';
/** Who published a message that came from another account; not stored. */
export const REQUEST_INFO = 'Nats-Request-Info';

/**
 * Values as they came, without the blanks in front of them; `null` for what is absent or empty. The first of several
 * lines with a name counts.
 */
export class PublishHeaders {
  messageId: string | null = null;
  expectedStream: string | null = null;
  expectedLastSequence: string | null = null;
  expectedLastSubjectSequence: string | null = null;
  expectedLastSubjectSequenceSubject: string | null = null;
  expectedLastMessageId: string | null = null;
  rollup: string | null = null;
  ttl: string | null = null;
  increment: string | null = null;
  batchId: string | null = null;
  batchSequence: string | null = null;
  /** Empty when the header is there without a value. */
  batchCommit: string | null = null;
  requiredLevel: string | null = null;
  schedule: string | null = null;
  scheduleNext: string | null = null;
  scheduler: string | null = null;
  scheduleTtl: string | null = null;
  scheduleRollup: string | null = null;
  scheduleTarget: string | null = null;
  scheduleSource: string | null = null;
  /** Empty when the header is there without a value. */
  scheduleTimeZone: string | null = null;
  streamSource: string | null = null;
  counterSources: string | null = null;
  requestInfo: string | null = null;

  /** Reads the header block `buffer[start, end)`. */
  read(buffer: Buffer, start: number, end: number): void {
    this.clear();
    // The first line is the version.
    let at = lineEnd(buffer, start, end) + 1;
    while (at < end) {
      const eol = lineEnd(buffer, at, end);
      if (buffer[at] === FIRST_BYTE) this.readLine(buffer, at, eol);
      at = eol + 1;
    }
  }

  private readLine(buffer: Buffer, start: number, end: number): void {
    let colon = start;
    while (colon < end && buffer[colon] !== COLON) colon++;
    if (colon === end) return;
    const name = buffer.toString('latin1', start, colon);
    if (!name.startsWith(PREFIX)) return;
    const field = FIELDS.get(name);
    if (field === undefined || this[field] !== null) return;
    let from = colon + 1;
    const to = end > from && buffer[end - 1] === CR ? end - 1 : end;
    while (from < to && buffer[from] === SPACE) from++;
    if (from < to || field === 'batchCommit' || field === 'scheduleTimeZone')
      this[field] = buffer.toString('latin1', from, to);
  }

  /** Field by field, since every message with headers begins with this. */
  private clear(): void {
    this.messageId = null;
    this.expectedStream = null;
    this.expectedLastSequence = null;
    this.expectedLastSubjectSequence = null;
    this.expectedLastSubjectSequenceSubject = null;
    this.expectedLastMessageId = null;
    this.rollup = null;
    this.ttl = null;
    this.increment = null;
    this.batchId = null;
    this.batchSequence = null;
    this.batchCommit = null;
    this.requiredLevel = null;
    this.schedule = null;
    this.scheduleNext = null;
    this.scheduler = null;
    this.scheduleTtl = null;
    this.scheduleRollup = null;
    this.scheduleTarget = null;
    this.scheduleSource = null;
    this.scheduleTimeZone = null;
    this.streamSource = null;
    this.counterSources = null;
    this.requestInfo = null;
  }
}

type Field = Exclude<keyof PublishHeaders, 'read'>;

const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['Nats-Msg-Id', 'messageId'],
  ['Nats-Expected-Stream', 'expectedStream'],
  ['Nats-Expected-Last-Sequence', 'expectedLastSequence'],
  ['Nats-Expected-Last-Subject-Sequence', 'expectedLastSubjectSequence'],
  ['Nats-Expected-Last-Subject-Sequence-Subject', 'expectedLastSubjectSequenceSubject'],
  ['Nats-Expected-Last-Msg-Id', 'expectedLastMessageId'],
  ['Nats-Rollup', 'rollup'],
  ['Nats-TTL', 'ttl'],
  ['Nats-Incr', 'increment'],
  ['Nats-Batch-Id', 'batchId'],
  ['Nats-Batch-Sequence', 'batchSequence'],
  ['Nats-Batch-Commit', 'batchCommit'],
  ['Nats-Required-Api-Level', 'requiredLevel'],
  ['Nats-Schedule', 'schedule'],
  ['Nats-Schedule-Next', 'scheduleNext'],
  ['Nats-Scheduler', 'scheduler'],
  ['Nats-Schedule-TTL', 'scheduleTtl'],
  ['Nats-Schedule-Rollup', 'scheduleRollup'],
  ['Nats-Schedule-Target', 'scheduleTarget'],
  ['Nats-Schedule-Source', 'scheduleSource'],
  ['Nats-Schedule-Time-Zone', 'scheduleTimeZone'],
  ['Nats-Stream-Source', 'streamSource'],
  ['Nats-Counter-Sources', 'counterSources'],
  [REQUEST_INFO, 'requestInfo'],
]);

/** Offset of the LF that ends the line, or `end`. One without a CR in front of it is part of a value. */
function lineEnd(buffer: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && (buffer[i] !== LF || buffer[i - 1] !== CR)) i++;
  return i;
}
