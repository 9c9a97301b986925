/**
 * The subject transform of a stream: under which subject a message is stored. What does not match its source keeps its
 * subject. Everything that is checked and stored sees the new subject.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { compileTransform, type Transform } from '../../server/subject/transform.ts';
import type { FractionSource } from '../../server/subject/transform-token.ts';
import type { SubjectTransform } from './stream-config-parts.ts';

export class InboundTransform {
  private readonly transform: Transform;
  private readonly random: FractionSource;
  private readonly changed = new Message();

  private constructor(transform: Transform, random: FractionSource) {
    this.transform = transform;
    this.random = random;
  }

  /** `null`: subjects stay as they are. */
  static of(config: SubjectTransform | null, random: FractionSource): InboundTransform | null {
    if (config === null) return null;
    const { value } = compileTransform(config.source, config.destination);
    return value === null ? null : new InboundTransform(value, random);
  }

  /** The message as it is to be stored; the same bytes under its new subject, until the next call. */
  apply(message: Message): Message {
    const subject = this.transform.apply(message.subjectText(), this.random);
    if (subject === null) return message;
    const bytes = Buffer.from(subject, 'latin1');
    const { changed } = this;
    changed.setSubject(bytes, 0, bytes.length);
    changed.setReply(message.reply, message.replyStart, message.replyEnd);
    changed.setBody(message.body, message.bodyStart, message.payloadStart, message.bodyEnd);
    changed.source = message.source;
    changed.producer = message.producer;
    return changed;
  }
}
