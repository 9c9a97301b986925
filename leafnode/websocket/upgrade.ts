/**
 * How a connection to a hub becomes one that speaks WebSocket (RFC 6455, 4.1): what is asked, and whether the answer is
 * a yes. What is offered beside it the hub may leave out: permessage-deflate, without a memory from one message to the
 * next in either direction, and frames that are not masked, which is nats-server's own.
 */

import { createHash } from 'node:crypto';
import type { HttpResponse } from '../http-response.ts';

const SWITCHING_PROTOCOLS = 101;
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const DEFLATE = 'permessage-deflate';
const PARAMETERS = ['server_no_context_takeover', 'client_no_context_takeover'];
const NO_MASKING = 'Nats-No-Masking';

export interface UpgradeOffer {
  /** `host:port` of the hub. */
  readonly host: string;
  readonly path: string;
  readonly deflates: boolean;
  readonly leavesUnmasked: boolean;
}

/** What both ends will do. */
export interface UpgradeTerms {
  readonly deflates: boolean;
  readonly masks: boolean;
}

/** The request; `key` is 16 random bytes in base64. */
export function upgradeRequest({ host, path, deflates, leavesUnmasked }: UpgradeOffer, key: string): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'User-Agent: petiole',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    'Upgrade: websocket',
  ];
  if (deflates) lines.push(`Sec-WebSocket-Extensions: ${[DEFLATE, ...PARAMETERS].join('; ')}`);
  if (leavesUnmasked) lines.push(`${NO_MASKING}: true`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** What the answer to the offer comes to; a string says why it is a no. */
export function upgradeTerms(response: HttpResponse, offer: UpgradeOffer, key: string): UpgradeTerms | string {
  if (response.status !== SWITCHING_PROTOCOLS) return `invalid websocket connection: ${response.statusText}`;
  const isUpgraded =
    response.header('Upgrade').toLowerCase() === 'websocket' &&
    response.header('Connection').toLowerCase() === 'upgrade';
  if (!isUpgraded || response.header('Sec-WebSocket-Accept') !== acceptKey(key)) return 'invalid websocket connection';
  const masks = !(offer.leavesUnmasked && response.header(NO_MASKING) === 'true');
  const extension = deflateOf(response.header('Sec-WebSocket-Extensions'));
  if (!offer.deflates || extension === null) return { deflates: false, masks };
  if (!PARAMETERS.every((name) => extension.includes(name))) return 'compression negotiation error';
  return { deflates: true, masks };
}

function acceptKey(key: string): string {
  return createHash('sha1').update(key).update(MAGIC).digest('base64');
}

/** The parameters of permessage-deflate in a list of extensions; null when it is not there. */
function deflateOf(extensions: string): readonly string[] | null {
  for (const extension of extensions.split(',')) {
    const [name, ...parameters] = extension.split(';').map((part) => part.trim().toLowerCase());
    if (name === DEFLATE) return parameters;
  }
  return null;
}
