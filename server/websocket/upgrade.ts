/**
 * What somebody is answered who asks for WebSocket (RFC 6455, 4.2): a refusal, or the terms on which both ends go on. What
 * is looked at, and in which order, is nats-server's, and so are the texts for the log.
 *
 *     path ends in /leafnode: a leaf     /mqtt: nobody     anything else: a client
 */

import { createHash } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { CookieNames, WebSocketOptions } from '../config/websocket-options.ts';
import type { WebSocketPeer } from '../io/io.ts';
import { originFault } from './origin-policy.ts';
import type { HeadFault, RequestHead } from './request-head.ts';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY_BYTES = 16;
const DEFLATE = 'permessage-deflate';
const DEFLATE_ANSWER = `Sec-WebSocket-Extensions: ${DEFLATE}; server_no_context_takeover; client_no_context_takeover`;

export interface Refusal {
  readonly status: keyof typeof REASONS;
  /** For the log. */
  readonly fault: string;
}

export interface Upgrade {
  readonly kind: 'client' | 'leaf';
  readonly deflates: boolean;
  /** What the other end sends is masked. */
  readonly masks: boolean;
  readonly peer: WebSocketPeer;
  /** What it is answered. */
  readonly answer: string;
}

const REASONS = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
} as const;

/** Takes the request on, or says why not. */
export function decide(head: RequestHead, options: WebSocketOptions, isEncrypted: boolean): Upgrade | Refusal {
  const [path = ''] = head.target.split('?', 1);
  if (path.endsWith('/mqtt')) return refusal(404, 'mqtt websocket endpoint not enabled');
  if (head.method !== 'GET') return refusal(405, 'request method must be GET');
  if (head.first('host') === '') return refusal(400, `'Host' missing in request`);
  if (!head.lists('upgrade', 'websocket')) return refusal(400, `invalid value for header 'Upgrade'`);
  if (!head.lists('connection', 'upgrade')) return refusal(400, `invalid value for header 'Connection'`);
  const key = head.first('sec-websocket-key');
  if (key === '') return refusal(400, 'key missing');
  if (!isKey(key)) return refusal(400, 'invalid websocket key');
  if (!head.lists('sec-websocket-version', '13')) return refusal(400, 'invalid version');
  const fault = originFault(options, head, isEncrypted);
  if (fault !== null) return refusal(403, `origin not allowed: ${fault}`);
  const deflates = options.compresses && offersDeflate(head);
  const masks = head.first('nats-no-masking') !== 'true';
  return {
    kind: path.endsWith('/leafnode') ? 'leaf' : 'client',
    deflates,
    masks,
    peer: { forwardedFor: forwardedFor(head), cookies: cookiesOf(head, options.cookies) },
    answer: answerText(key, deflates, masks, options.headers),
  };
}

function refusal(status: Refusal['status'], fault: string): Refusal {
  return { status, fault };
}

/** The whole answer of a refusal, behind which the connection ends. */
export function refusalText({ status }: Refusal): string {
  const reason = REASONS[status];
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: text/plain; charset=utf-8',
    'Sec-Websocket-Version: 13',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    `Content-Length: ${reason.length + 1}`,
    '',
    `${reason}\n`,
  ].join('\r\n');
}

/** What is answered to what is no request at all. */
export function faultText(fault: HeadFault): string {
  return `HTTP/1.1 ${fault}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${fault}`;
}

function answerText(key: string, deflates: boolean, masks: boolean, headers: WebSocketOptions['headers']): string {
  const accept = createHash('sha1').update(key).update(MAGIC).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  lines.push(`Sec-WebSocket-Accept: ${accept}`);
  if (deflates) lines.push(DEFLATE_ANSWER);
  if (!masks) lines.push('Nats-No-Masking: true');
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** 16 bytes in base64, as it is written. */
function isKey(key: string): boolean {
  const bytes = Buffer.from(key, 'base64');
  return bytes.length === KEY_BYTES && bytes.toString('base64') === key;
}

function offersDeflate(head: RequestHead): boolean {
  const isDeflate = (text: string): boolean => text.trim().toLowerCase() === DEFLATE;
  return head.all('sec-websocket-extensions').some((line) => line.split(/[,;]/).some(isDeflate));
}

/** The address that a proxy says it speaks for, if that is one. */
function forwardedFor(head: RequestHead): string {
  const address = head.first('x-forwarded-for');
  return isAddress(address) ? address : '';
}

function isAddress(text: string): boolean {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return text.split('.').every((part) => Number(part) <= 255);
  return text.includes(':') && /^[0-9A-Fa-f:.]{2,45}$/.test(text);
}

/** What the cookies hold whose names are configured. */
function cookiesOf(head: RequestHead, names: CookieNames): CookieNames | null {
  const values: Record<keyof CookieNames, string> = { jwt: '', user: '', pass: '', token: '' };
  let isAny = false;
  for (const pair of head.all('cookie').flatMap((line) => line.split(';'))) {
    const [, name, quoted, plain = ''] = /^\s*([^=\s]+)=(?:"([^"]*)"|([^";,\\]*))\s*$/.exec(pair) ?? [];
    const which = (['jwt', 'user', 'pass', 'token'] as const).find(
      (each) => name !== undefined && names[each] === name,
    );
    if (which === undefined) continue;
    values[which] = quoted ?? plain;
    isAny = true;
  }
  return isAny ? values : null;
}
