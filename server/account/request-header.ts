/**
 * One header in the header block of a message on its way.
 *
 *     NATS/1.0 CR LF   Name: value CR LF   …   CR LF
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../protocol/message.ts';

const FIRST_LINE = 'NATS/1.0\r\n';
const CR_LF = '\r\n';

/** The value of the header; `null` if the message has none by exactly this name. */
export function headerValue(message: Message, name: string): string | null {
  const line = linesOf(message).find((each) => each.startsWith(`${name}:`));
  return line === undefined ? null : line.slice(name.length + 1).trim();
}

/** Gives `target` the body of `message` with this header, in the place of what it had by the name. */
export function withHeader(message: Message, name: string, value: string, target: Message): void {
  const lines = linesOf(message);
  const [first, ...others] = lines.length === 0 ? [FIRST_LINE.trim()] : lines;
  const kept = others.filter((line) => !line.startsWith(`${name}:`));
  const block = Buffer.from(`${[first, ...kept, `${name}: ${value}`].join(CR_LF)}${CR_LF}${CR_LF}`, 'latin1');
  const body = Buffer.allocUnsafe(block.length + message.payloadBytes + CR_LF.length);
  block.copy(body, 0);
  message.body.copy(body, block.length, message.payloadStart, message.bodyEnd);
  body.write(CR_LF, body.length - CR_LF.length, 'latin1');
  target.setBody(body, 0, block.length, body.length - CR_LF.length);
}

/** All headers, by names in the capitals of HTTP, each with its values in their order. */
export function canonicalHeaders(message: Message): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of linesOf(message).slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const canonical = name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
    const value = line.slice(colon + 1).trim();
    const values = headers.get(canonical);
    if (values === undefined) headers.set(canonical, [value]);
    else values.push(value);
  }
  return headers;
}

function linesOf({ body, bodyStart, payloadStart }: Message): string[] {
  if (payloadStart === bodyStart) return [];
  return body
    .toString('latin1', bodyStart, payloadStart)
    .split(CR_LF)
    .filter((line) => line !== '');
}
