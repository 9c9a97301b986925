/** JSON without the blanks that make it readable. It is valid, so that blanks outside its strings mean nothing. */

import { Buffer } from 'node:buffer';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BLANK_MAX = 0x20;
/** Bytes looked at between two yields. */
const STEP = 65_536;

export function* compactJson(json: Uint8Array): Generator<void, Buffer> {
  const compact = Buffer.allocUnsafe(json.length);
  let length = 0;
  let isInString = false;
  let pauseAt = STEP;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (!isInString && byte <= BLANK_MAX) continue;
    compact[length++] = byte;
    if (byte === QUOTE) isInString = !isInString;
    // What it escapes is copied as it is, so that an escaped quote ends nothing.
    else if (byte === BACKSLASH) compact[length++] = json[++at] as number;
    if (at >= pauseAt) {
      pauseAt = at + STEP;
      yield;
    }
  }
  return compact.subarray(0, length);
}
