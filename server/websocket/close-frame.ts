/**
 * The content of a close frame (RFC 6455, 5.5.1): a status and, in UTF-8, why. Statuses that only stand for there having
 * been none (1005, 1006, 1015) are never sent, whatever the other end sends (nats-server#6260).
 */

import { Buffer, isUtf8 } from 'node:buffer';
import { CONTROL_BYTES_MAX } from './frame.ts';

export const CloseStatus = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  invalidData: 1007,
  policyViolation: 1008,
  tooBig: 1009,
  internalError: 1011,
} as const;

const STATUS_BYTES = 2;
const REASON_BYTES_MAX = CONTROL_BYTES_MAX - STATUS_BYTES;

/** A reason that is too long is cut short, and shows it. */
export function closeContent(status: number, reason: string): Buffer {
  const isCut = reason.length > REASON_BYTES_MAX;
  const shown = isCut ? `${reason.slice(0, REASON_BYTES_MAX - 3)}...` : reason;
  const content = Buffer.from(`..${shown}`, 'utf8').subarray(0, CONTROL_BYTES_MAX);
  content.writeUInt16BE(status, 0);
  return content;
}

/** What the other end is answered that closes with this content: the same, as far as it is right; a string says why not. */
export function closeAnswer(content: Buffer): Buffer | string {
  if (content.length === 0) return content;
  if (content.length < STATUS_BYTES) return 'close frame payload cannot be 1 byte';
  const status = content.readUInt16BE(0);
  if (!isValid(status)) return `invalid close status code ${status}`;
  if (isUtf8(content.subarray(STATUS_BYTES))) return content;
  return closeContent(CloseStatus.invalidData, 'invalid utf8 body in close frame');
}

/** 1016 to 2999 belong to nobody yet. */
function isValid(status: number): boolean {
  if (status === 1004 || status === 1005 || status === 1006 || status === 1015) return false;
  return (status >= 1000 && status < 1016) || (status >= 3000 && status < 5000);
}
