/**
 * The schedules of one stream with `allow_msg_schedules`: messages that are published under another subject later, once or
 * again and again. What was missed while nobody looked is published once.
 *
 *     Nats-Schedule ─► ScheduleTable, ExpiryQueue ─due─► scheduledMessage ─► the stream, as if it were published
 *                                                          Nats-Schedule-Next: when again, or purge: the schedule goes
 *
 * What is published says what becomes of its schedule, so that nothing but the messages has to survive: whatever the log
 * holds of them is noted again after a restart, and a message is published exactly once.
 *
 * Bounds: SLICE_MAX messages in a turn; the queue holds at most twice the schedules and SPARE_MAX entries.
 *
 * Source: ADR-51; nats-server's scheduler.go.
 */

import { Buffer } from 'node:buffer';
import type { Io, Timer } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { formatTime, parseTime } from '../../server/protocol/rfc3339.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, type MessageStore, NONE, type Time } from '../store/store.ts';
import { ExpiryQueue } from './expiry-queue.ts';
import { ttlSeconds } from './message-ttl.ts';
import { PublishHeaders } from './publish-headers.ts';
import { PURGE } from './schedule-check.ts';
import { dueAfter, dueAgain, parsePattern, type Pattern } from './schedule-pattern.ts';
import { SchedulePurges } from './schedule-purges.ts';
import { ScheduleTable } from './schedule-table.ts';
import { scheduledMessage } from './scheduled-message.ts';
import { timeMs } from './stream-clock.ts';

/** In place of the number of a subject: the message does not stand under one. */
export const NO_SUBJECT: number = -1;

const SLICE_MAX = 256;
const SLEEP_MS_MIN = 5;
/** No longer, since the wall clock may be set meanwhile. */
const SLEEP_MS_MAX = 60_000;
/** How soon it is tried again what could not be published. */
const RETRY_MS = 1000;
const SPARE_MAX = 1024;

interface Due {
  readonly subject: number;
  readonly sequence: number;
  readonly dueMs: number;
}

/** What became of a schedule that was due; a number: the sequence that has to be read first. */
type Outcome = 'done' | 'later' | number;

export class Schedules {
  private readonly io: Io;
  private readonly store: MessageStore;
  /** False: not now. */
  private readonly publish: (message: Message) => boolean;
  private readonly table: ScheduleTable;
  private readonly purges: SchedulePurges;
  /** When which subject is due. */
  private readonly queue = new ExpiryQueue();
  /** Due, in the order of their sequences. */
  private due: Due[] = [];
  private readonly schedule = new RecordView(Buffer.alloc(0));
  private readonly source = new RecordView(Buffer.alloc(0));
  private readonly headers = new PublishHeaders();
  private timer: Timer | null = null;
  private wakesAtMs = Infinity;
  private isRunning = false;
  private isWaiting = false;

  constructor(io: Io, store: MessageStore, publish: (message: Message) => boolean) {
    this.io = io;
    this.store = store;
    this.publish = publish;
    this.table = new ScheduleTable(store.subjects);
    this.purges = new SchedulePurges(store);
  }

  /** Everything is read: what is due is published from now on. */
  start(): void {
    this.isRunning = true;
    this.visible(this.store.lastSequence);
  }

  stop(): void {
    this.isRunning = false;
    this.due = [];
    this.sleepUntil(Infinity);
  }

  // ── what the stream says ─────────────────────────────────────────────────────────────────────────────────────────

  /** The message, whose headers are given if it has any, was appended; `isKept`: under its own subject. */
  appended(message: Message, isKept: boolean, sequence: number, time: Time, headers: PublishHeaders): void {
    const { subjects } = this.store;
    const { subject, subjectStart, subjectEnd } = message;
    const number = isKept ? subjects.find(subject, subjectStart, subjectEnd) : NO_SUBJECT;
    this.stored(sequence, number, time, message.payloadStart > message.bodyStart ? headers : null);
  }

  /** A message was appended, or read from the log. `subject`: the number of its subject; `headers`: `null`: none. */
  stored(sequence: number, subject: number, time: Time, headers: PublishHeaders | null): void {
    const by = this.isRunning ? sequence : 0;
    const pattern = headers === null ? null : parsePattern(headers.schedule, headers.scheduleTimeZone);
    const isSchedule = subject !== NO_SUBJECT && pattern !== null && typeof pattern !== 'string';
    if (isSchedule) this.add(subject, sequence, dueAfter(pattern, timeMs(time)), by);
    else if (subject !== NO_SUBJECT && (headers?.scheduler ?? null) === null) this.table.set(subject, 0, 0, by);
    const { scheduler, scheduleNext } = headers ?? { scheduler: null, scheduleNext: null };
    if (scheduler === null || scheduleNext === null) return;
    const scheduled = this.store.subjects.findText(scheduler);
    if (scheduled < 0) return;
    if (scheduleNext === PURGE) {
      this.table.set(scheduled, 0, 0, by);
      this.purges.add(scheduled, sequence);
    } else if (this.table.sequence(scheduled) !== 0) {
      const next = parseTime(scheduleNext);
      if (typeof next !== 'string') this.add(scheduled, this.table.sequence(scheduled), timeMs(next), by);
    }
  }

  /** Whether the last message under the subject is a schedule; also where there is none, or it is not known. */
  isSchedule(text: string): boolean {
    const { store, table, schedule, headers } = this;
    const subject = store.subjects.findText(text);
    if (subject < 0) return true;
    const appended = store.subjects.appendedLast(subject);
    const last = appended > store.lastSequence ? appended : store.lastOf(subject, store.lastSequence);
    if (last === NONE || last === LOADING || table.sequence(subject) === last) return true;
    if (last > store.lastSequence) return false;
    if (store.read(last, schedule) !== 'found') return true;
    headers.read(schedule.buffer, schedule.bodyStart, schedule.payloadStart);
    return headers.schedule !== null;
  }

  /** Everything up to this sequence is visible. */
  visible(sequence: number): void {
    this.table.visible(sequence);
    this.purges.visible(sequence);
    this.wake();
  }

  removed(sequence: number, subject: number): void {
    this.purges.removed(sequence, subject);
  }

  /** What a checkpoint that reflects messages up to `lastSequence` has to keep. */
  encode(lastSequence: number): Buffer {
    const purges = this.purges.unfinished(lastSequence);
    const leaving = purges.map(({ subject, before }) => this.table.entry(subject, before, 0));
    return Buffer.concat([this.table.encode(lastSequence), ...leaving]);
  }

  decode(encoded: Buffer): void {
    this.table.decode(encoded, (subject, sequence, dueMs) => {
      if (dueMs === 0) this.purges.add(subject, sequence);
      else this.add(subject, sequence, dueMs, 0);
    });
  }

  private add(subject: number, sequence: number, dueMs: number | null, by: number): void {
    this.table.set(subject, dueMs === null ? 0 : sequence, dueMs ?? 0, by);
    if (dueMs === null) return;
    this.queue.add(dueMs, subject);
    this.wake();
  }

  // ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  private wake(): void {
    if (!this.isRunning || this.isWaiting) return;
    const isCrowded = this.queue.isSweeping || this.queue.size > this.table.size * 2 + SPARE_MAX;
    this.sleepUntil(this.due.length > 0 || isCrowded ? this.io.clock.wallMs() : this.queue.nextMs);
  }

  /** Wakes up then, or a little later, but not later than planned before. */
  private sleepUntil(wakesAtMs: number): void {
    if (this.timer !== null && wakesAtMs >= this.wakesAtMs && wakesAtMs < Infinity) return;
    this.timer?.cancel();
    this.timer = null;
    this.wakesAtMs = wakesAtMs;
    if (wakesAtMs === Infinity) return;
    const ms = Math.min(Math.max(SLEEP_MS_MIN, wakesAtMs - this.io.clock.wallMs()), SLEEP_MS_MAX);
    this.timer = this.io.timers.after(ms, () => this.review());
  }

  private review(): void {
    this.timer = null;
    if (!this.isRunning) return;
    this.sweep();
    if (this.due.length === 0) this.collect();
    while (this.due.length > 0) {
      const outcome = this.publishDue(this.due[0] as Due);
      if (outcome === 'later') {
        this.sleepUntil(this.io.clock.wallMs() + RETRY_MS);
        return;
      }
      if (outcome !== 'done') {
        this.waitFor(outcome);
        return;
      }
      this.due.shift();
    }
    this.wake();
  }

  /** Forgets entries that have been overtaken, where there are many. */
  private sweep(): void {
    const { queue, table } = this;
    if (!queue.isSweeping && queue.size <= table.size * 2 + SPARE_MAX) return;
    queue.sweep(SLICE_MAX, (subject, dueMs) => table.due(subject) === dueMs && table.sequence(subject) !== 0);
  }

  private collect(): void {
    const { queue, table } = this;
    const now = this.io.clock.wallMs();
    while (this.due.length < SLICE_MAX && queue.nextMs <= now) {
      const { nextMs: dueMs, nextSequence: subject } = queue;
      queue.shift();
      const sequence = table.sequence(subject);
      if (sequence !== 0 && table.due(subject) === dueMs) this.due.push({ subject, sequence, dueMs });
    }
    this.due.sort((a, b) => a.sequence - b.sequence);
  }

  private waitFor(sequence: number): void {
    // `visible` comes back to what is not visible yet.
    if (sequence > this.store.lastSequence) return;
    this.isWaiting = true;
    this.store.whenReadable(sequence, () => {
      this.isWaiting = false;
      this.review();
    });
  }

  // ── publishing ───────────────────────────────────────────────────────────────────────────────────────────────────

  private publishDue({ subject, sequence, dueMs }: Due): Outcome {
    const { store, table, schedule, headers } = this;
    if (table.sequence(subject) !== sequence || table.due(subject) !== dueMs) return 'done';
    if (sequence > store.lastSequence) return sequence;
    const outcome = store.read(sequence, schedule);
    if (outcome === 'loading') return sequence;
    if (outcome === 'found') headers.read(schedule.buffer, schedule.bodyStart, schedule.payloadStart);
    const next = outcome === 'found' ? this.nextOf(dueMs) : null;
    if (next === null) {
      table.set(subject, 0, 0, 0);
      return 'done';
    }
    const content = this.content();
    if (typeof content === 'number') return content;
    return this.publish(scheduledMessage(schedule.subject, headers, content, next)) ? 'done' : 'later';
  }

  /** When the schedule in `headers` is due again, as it is written, or `purge`; `null`: it is none. */
  private nextOf(dueMs: number): string | null {
    const { schedule, scheduleTimeZone, scheduleTarget, scheduleTtl } = this.headers;
    const pattern = parsePattern(schedule, scheduleTimeZone);
    if (pattern === null || typeof pattern === 'string' || scheduleTarget === null) return null;
    if (Number.isNaN(ttlSeconds({ ttl: scheduleTtl }))) return null;
    if (pattern.kind === 'once') return PURGE;
    const nextMs = dueAgain(pattern, dueMs, this.io.clock.wallMs());
    return nextMs === null ? null : momentText(pattern, nextMs);
  }

  /** The message whose headers and payload are published; a number: that sequence has to be read first. */
  private content(): RecordView | number {
    const { store, headers, schedule, source } = this;
    if (headers.scheduleSource === null) return schedule;
    const subject = store.subjects.findText(headers.scheduleSource);
    const last = subject < 0 ? NONE : store.lastOf(subject, store.lastSequence);
    if (last === LOADING) return Math.max(1, store.lastSequence);
    if (last === NONE) return schedule;
    const outcome = store.read(last, source);
    if (outcome === 'loading') return last;
    return outcome === 'found' ? source : schedule;
  }
}

function momentText(pattern: Pattern, ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const offset = pattern.kind === 'cron' ? pattern.zone.offsetAt(seconds) : 0;
  const offsetMinutes = Math.round(offset / 60);
  return formatTime({ seconds, nanoseconds: Math.round((ms - seconds * 1000) * 1e6), offsetMinutes });
}
