/**
 * The one buffer that all sockets of the host read into, so that a read allocates nothing:
 *
 *     │ headroom 64 KiB │ read area 64 KiB │     its content dies when the handler returns
 */

import { HEADROOM_BYTES } from './io.ts';

export const READ_BYTES = 65_536;

export const readBuffer: Buffer = Buffer.allocUnsafeSlow(HEADROOM_BYTES + READ_BYTES);
/** The part that the system writes to. */
export const readArea: Buffer = readBuffer.subarray(HEADROOM_BYTES);
