/** What atomic and fast batches need of the stream they are published to. */

import type { Account } from '../../server/account/account.ts';
import type { Message } from '../../server/protocol/message.ts';
import type { MessageStore } from '../store/store.ts';
import type { PublishAnswers } from './publish-answers.ts';
import type { PublishCheck } from './publish-check.ts';
import type { StreamConfig } from './stream-config.ts';
import type { StreamHost } from './stream-host.ts';

export interface BatchingStream {
  readonly account: Account;
  readonly host: StreamHost;
  readonly config: StreamConfig;
  readonly store: MessageStore;
  readonly check: PublishCheck;
  readonly answers: PublishAnswers;
  /** Stores the message, which was checked; its sequence. */
  append(message: Message): number;
  /** The same outside an atomic batch. */
  appendAlone(message: Message): number;
  /** Answers the message, if it has a reply subject, behind all answers before it. `text`: a string of bytes. */
  answer(message: Message, text: string): void;
}
