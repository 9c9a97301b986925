/** A view of the same bytes for another account: what its receivers do to it leaves the first one alone. */

import type { Message } from '../protocol/message.ts';

/** Makes `copy` show what `message` does. Which links may get it is for the other account to find. */
export function copyMessage(message: Message, copy: Message): void {
  copy.setSubject(message.subject, message.subjectStart, message.subjectEnd);
  if (message.destination !== null) {
    copy.setDestination(message.destination, message.destinationStart, message.destinationEnd);
  }
  copy.setReply(message.reply, message.replyStart, message.replyEnd);
  copy.setBody(message.body, message.bodyStart, message.payloadStart, message.bodyEnd);
  copy.tailStart = message.tailStart;
  copy.source = message.source;
  copy.producer = message.producer;
  copy.queueGroups = null;
  copy.isFromOtherAccount = true;
}
