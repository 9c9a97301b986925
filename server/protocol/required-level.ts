/**
 * `Nats-Required-Api-Level`: the level of the JetStream API that a client counts on. A server below it must refuse, since
 * it would ignore what it does not know. What is no number is refused too.
 *
 * Source: ADR-44.
 */

import type { Message } from './message.ts';
import { API_LEVEL } from './version.ts';

/** As it stands in a header block, behind the line before it. */
const LINE_START = '\r\nNats-Required-Api-Level:';

/** Whether a client that sent the header with this value is not to be served. */
export function isLevelTooHigh(required: string): boolean {
  return !/^[-+]?\d{1,18}$/.test(required) || Number(required) > API_LEVEL;
}

/** Whether the message has the header, with a level that this server does not have. */
export function asksTooHighLevel({ body, bodyStart, payloadStart }: Message): boolean {
  if (payloadStart === bodyStart) return false;
  const block = body.toString('latin1', bodyStart, payloadStart);
  const at = block.indexOf(LINE_START);
  if (at < 0) return false;
  const value = block.slice(at + LINE_START.length, block.indexOf('\r\n', at + LINE_START.length)).replace(/^ +/, '');
  return value !== '' && isLevelTooHigh(value);
}
