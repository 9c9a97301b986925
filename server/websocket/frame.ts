/**
 * Frames of WebSocket (RFC 6455, 5.2).
 *
 *      byte 0            byte 1                                   then
 *     FIN RSV1 0 0 code  MASK length(7)  [length: 2 or 8 bytes]  [key: 4 bytes]  content
 *
 * RSV1 says that the message which the frame begins is compressed (RFC 7692). The end that dialled masks what it sends:
 * each byte is combined with one of the key, which nobody else can foresee.
 */

export const OpCode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
export type ControlCode = typeof OpCode.close | typeof OpCode.ping | typeof OpCode.pong;

export const FINAL = 0x80;
export const COMPRESSED = 0x40;
export const RESERVED = 0x30;
export const MASKED = 0x80;
export const CONTROL = 0x08;
export const CONTROL_BYTES_MAX = 125;
/** Length codes that stand for a length of 2 and of 8 bytes behind them. */
export const LENGTH_16 = 126;
export const LENGTH_64 = 127;
