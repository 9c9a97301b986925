/**
 * Whether some consumer of a stream wants messages of a subject: asked for every message that is published where nothing
 * else is kept. There may be many consumers, so what they say is remembered, by the number of a subject that has one and
 * by the text of others, until consumers change.
 *
 * Bound: a byte for each subject of the stream, TEXTS_MAX texts.
 */

import type { Message } from '../../server/protocol/message.ts';
import type { MessageStore } from '../store/store.ts';

const UNKNOWN = 0;
const WANTED = 1;
const UNWANTED = 2;
const NUMBERS_MIN = 64;
const TEXTS_MAX = 1024;

/** A consumer, as far as subjects go. Those that have messages are numbers of the store's subject index. */
export interface SubjectConsumer {
  /** Whether its filter lets every subject through. */
  readonly wantsAll: boolean;
  wants(subject: number): boolean;
  /** The same of a subject that has no number yet. */
  wantsText(subject: string): boolean;
}

export class WantedSubjects {
  private readonly store: MessageStore;
  private readonly consumers: ReadonlySet<SubjectConsumer>;
  private isAll: boolean | null = null;
  private numbers = new Uint8Array(NUMBERS_MIN);
  private readonly texts = new Map<string, boolean>();

  constructor(store: MessageStore, consumers: ReadonlySet<SubjectConsumer>) {
    this.store = store;
    this.consumers = consumers;
  }

  /** Consumers came, went, or want something else. */
  forget(): void {
    this.isAll = null;
    this.numbers.fill(UNKNOWN);
    this.texts.clear();
  }

  /** Whether somebody wants the message. */
  has(message: Message): boolean {
    this.isAll ??= [...this.consumers].some(({ wantsAll }) => wantsAll);
    if (this.isAll) return true;
    if (this.consumers.size === 0) return false;
    const subject = this.store.subjects.find(message.subject, message.subjectStart, message.subjectEnd);
    return subject < 0 ? this.hasText(message.subjectText()) : this.hasNumber(subject);
  }

  private hasNumber(subject: number): boolean {
    if (subject >= this.numbers.length) this.grow(subject);
    const known = this.numbers[subject] as number;
    if (known !== UNKNOWN) return known === WANTED;
    let isWanted = false;
    for (const consumer of this.consumers) isWanted ||= consumer.wants(subject);
    this.numbers[subject] = isWanted ? WANTED : UNWANTED;
    return isWanted;
  }

  private hasText(subject: string): boolean {
    const known = this.texts.get(subject);
    if (known !== undefined) return known;
    let isWanted = false;
    for (const consumer of this.consumers) isWanted ||= consumer.wantsText(subject);
    if (this.texts.size === TEXTS_MAX) this.texts.clear();
    this.texts.set(subject, isWanted);
    return isWanted;
  }

  private grow(subject: number): void {
    let length = this.numbers.length;
    while (length <= subject) length *= 2;
    const numbers = new Uint8Array(length);
    numbers.set(this.numbers);
    this.numbers = numbers;
  }
}
