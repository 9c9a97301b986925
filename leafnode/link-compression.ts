/**
 * Compression of one link, from what it is set to until both ends compress (how they agree: compression.ts).
 *
 *     set ──agree──► none
 *              └───► agreed ──begin──► compressing ⟲ adjust, with each round trip that was measured
 *
 * Either end has one. The one that dialled begins behind its INFO, the other one before it.
 */

import type { CompressionLevel, CompressionMode, CompressionOptions } from '../server/config/compression.ts';
import { agreedMode, levelOf, wantsCompression } from './compression.ts';
import type { LinkSocket } from './link-socket.ts';

export class LinkCompression {
  /** What it came to, as monitoring and CONNECT tell it. */
  mode: CompressionMode = 'not supported';
  private readonly options: CompressionOptions;
  private readonly socket: LinkSocket;

  constructor(socket: LinkSocket, options: CompressionOptions) {
    this.socket = socket;
    this.options = options;
  }

  /** What this end is set to. */
  get own(): CompressionMode {
    return this.options.mode;
  }

  /** What INFO tells: a mode that goes by the round trip stays free to change. */
  get told(): CompressionMode {
    return this.options.mode === 's2_auto' ? 's2_auto' : this.mode;
  }

  /** Takes in what the peer is set to; whether both compress from here on, or `null` when nobody knows that mode. */
  agree(peer: string, rttMs: number): boolean | null {
    const agreed = agreedMode(this.options.mode, peer);
    if (agreed === null) return null;
    const compresses = wantsCompression(agreed);
    this.mode = compresses ? levelOf(agreed, rttMs, this.options.rttThresholdsMs) : agreed;
    return compresses;
  }

  /** Compresses what is written, and takes what is read as compressed; `corrupted` hears why it is not. */
  begin(corrupted: (failure: string) => void): void {
    this.socket.compress(this.mode as CompressionLevel);
    this.socket.decompress((failure) => corrupted(`compressed stream: ${failure}`));
  }

  /** The round trip has been measured. */
  adjust(rttMs: number): void {
    const { socket, options } = this;
    if (socket.level === null || options.mode !== 's2_auto') return;
    const level = levelOf('s2_auto', rttMs, options.rttThresholdsMs);
    this.mode = level;
    socket.compress(level);
  }
}
