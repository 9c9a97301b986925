/** What a store ought to hold, by the plainest reckoning: an array of messages. */
import type { StoreLimits, StoreState } from '../../jetstream/store/store.ts';
import type { Stored } from './store-messages.ts';

export class StoreModel {
  messages: Stored[] = [];
  firstSequence = 1;
  lastSequence = 0;
  limits: StoreLimits = { maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: 0 };
  private readonly overhead: (message: Stored) => number;

  /** `overhead`: bytes that a message counts beyond subject, headers and payload. */
  constructor(overhead: (message: Stored) => number) {
    this.overhead = overhead;
  }

  get bytes(): number {
    return this.messages.reduce((sum, message) => sum + this.bytesOf(message), 0);
  }

  bytesOf(message: Stored): number {
    return message.subject.length + message.headers.length + message.payload.length + this.overhead(message);
  }

  /** The message is visible now; `replaces` as in `MessageStore.append`. */
  add(message: Stored, replaces = 0): void {
    if (this.messages.length === 0) this.firstSequence = message.sequence;
    this.messages.push(message);
    this.lastSequence = message.sequence;
    if (replaces === 3) {
      this.messages.pop();
      this.settleFirst();
      return;
    }
    this.enforce(message.subject);
    if (replaces === 0) return;
    this.messages = this.messages.filter(
      ({ sequence, subject }) => sequence === message.sequence || (replaces === 1 && subject !== message.subject),
    );
    this.settleFirst();
  }

  setLimits(limits: StoreLimits): void {
    this.limits = limits;
    this.enforce(null);
    for (const subject of new Set(this.messages.map((message) => message.subject))) this.enforce(subject);
  }

  remove(sequence: number): boolean {
    const at = this.messages.findIndex((message) => message.sequence === sequence);
    if (at >= 0) this.messages.splice(at, 1);
    this.settleFirst();
    return at >= 0;
  }

  purgeBelow(below: number): void {
    this.messages = this.messages.filter(({ sequence }) => sequence >= below);
    if (below > this.lastSequence) {
      this.lastSequence = below - 1;
      this.firstSequence = below;
    }
    this.settleFirst();
  }

  lastOf(subject: string, atMost: number): number {
    return this.messages.findLast((each) => each.subject === subject && each.sequence <= atMost)?.sequence ?? 0;
  }

  next(from: number, accepts: (subject: string) => boolean): number {
    return this.messages.find((each) => each.sequence >= from && accepts(each.subject))?.sequence ?? 0;
  }

  countOf(subject: string): number {
    return this.messages.filter((message) => message.subject === subject).length;
  }

  get state(): Omit<StoreState, 'lastTime' | 'lost'> {
    const { messages, firstSequence, lastSequence } = this;
    return {
      messages: messages.length,
      bytes: this.bytes,
      firstSequence,
      firstTime: messages[0]?.time ?? null,
      lastSequence,
      subjects: new Set(messages.map((message) => message.subject)).size,
      deleted: messages.length === 0 ? 0 : lastSequence - firstSequence + 1 - messages.length,
    };
  }

  private enforce(subject: string | null): void {
    const { maxMessages, maxBytes, maxMessagesPerSubject } = this.limits;
    if (subject !== null && maxMessagesPerSubject > 0) {
      while (this.countOf(subject) > maxMessagesPerSubject) {
        this.messages.splice(
          this.messages.findIndex((message) => message.subject === subject),
          1,
        );
      }
    }
    const isOver = (): boolean =>
      (maxMessages > 0 && this.messages.length > maxMessages) || (maxBytes > 0 && this.bytes > maxBytes);
    while (this.messages.length > 0 && isOver()) this.messages.shift();
    this.settleFirst();
  }

  private settleFirst(): void {
    this.firstSequence = this.messages[0]?.sequence ?? this.lastSequence + 1;
  }
}
