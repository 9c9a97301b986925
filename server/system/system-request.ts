/**
 * A request to this server, with what outlives the message that it came in. Bound: BODY_BYTES_MAX of its payload. Options
 * are far shorter; of what is longer the end is missing, and it is answered as any text that ends too early.
 */

import type { Message } from '../protocol/message.ts';
import { headerValue } from '../account/request-header.ts';

const BODY_BYTES_MAX = 65_536;

export interface SystemRequest {
  /** The last token of its subject: `VARZ`. */
  readonly kind: string;
  /** The account that its subject is about; `null`: the server. */
  readonly account: string | null;
  /** '' if nobody waits for an answer. */
  readonly reply: string;
  /** The payload, as a string of bytes. */
  readonly body: string;
  /** How the answer may be compressed, as the requester says; '' if it says nothing. */
  readonly acceptedEncoding: string;
}

/** Copies what there is to know of the request. */
export function readRequest(kind: string, account: string | null, message: Message): SystemRequest {
  const { body, payloadStart, bodyEnd } = message;
  return {
    kind,
    account,
    reply: message.replyText(),
    body: body.toString('latin1', payloadStart, Math.min(bodyEnd, payloadStart + BODY_BYTES_MAX)),
    acceptedEncoding: headerValue(message, 'Accept-Encoding') ?? '',
  };
}
