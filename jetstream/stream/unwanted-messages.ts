/**
 * Messages that nobody wants when they are published, where that decides what is kept. Each uses up a sequence,
 * under the name of the stream. Headers stay, since they may name an id.
 *
 * A roll-up of everything counts all the same: as with nats-server, nothing is left then. Under the message's own subject
 * there is nothing to roll up: what nobody wants is not there.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { REPLACES_ALL, REPLACES_ITSELF } from '../store/record.ts';
import type { MessageStore, Time } from '../store/store.ts';
import type { PublishHeaders } from './publish-headers.ts';
import { replacedBy } from './rollup.ts';

export class UnwantedMessages {
  private readonly store: MessageStore;
  private readonly subject: Buffer;
  private readonly stored = new Message();

  constructor(store: MessageStore, streamName: string) {
    this.store = store;
    this.subject = Buffer.from(streamName, 'latin1');
  }

  /** The sequence that the message uses up. */
  append(message: Message, time: Time): number {
    const { stored, subject } = this;
    stored.setSubject(subject, 0, subject.length);
    stored.setBody(message.body, message.bodyStart, message.payloadStart, message.payloadStart);
    stored.producer = message.producer;
    return this.store.append(stored, time, REPLACES_ITSELF);
  }

  /** Does what the headers of the message that was appended under this sequence say of all others. */
  rollUp(sequence: number, headers: PublishHeaders): void {
    if (replacedBy(headers) === REPLACES_ALL) this.store.purgeBelow(sequence + 1);
  }
}
