/** What the receivers of a push consumer are told besides messages: header lines without a payload. */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import { Message } from '../../server/protocol/message.ts';

const NO_REPLY: Buffer = Buffer.alloc(0);

/** Sends `NATS/1.0 <lines>` to `subject`, each line ending with CR LF, with `reply` if there is one. */
export function sendStatus(account: Account, subject: Buffer, lines: string, reply: Buffer = NO_REPLY): void {
  const body = Buffer.from(`NATS/1.0 ${lines}\r\n`, 'latin1');
  const message = new Message();
  message.setSubject(subject, 0, subject.length);
  message.setReply(reply, 0, reply.length);
  message.setBody(body, 0, body.length, body.length);
  account.route(message);
}
