/**
 * How the two ends of a link agree on compression, and how much of it there is.
 *
 *     dialling end                                    accepting end
 *         ◄── INFO {compression: what it is set to} ──
 *         both know now whether there will be any, by the same table
 *         ── INFO {compression: …} ──────────────────►      the last bytes in clear from this end
 *         ◄══ INFO, compressed ══════════════════════      the last ones from the other were its first INFO
 *         ══ CONNECT, compressed ════════════════════►
 *
 *     own \ peer     unknown, not supported    off    accept     s2_…
 *     accept         not supported             off    off        the peer's; s2_fast for s2_auto
 *     s2_…           not supported             off    own        own
 *
 * Each end compresses as much as it wants: s2_auto goes by the round trip, and again whenever that is measured.
 */

import type { CompressionLevel, CompressionMode } from '../server/config/compression.ts';

const LEVELS: readonly CompressionLevel[] = ['s2_uncompressed', 's2_fast', 's2_better', 's2_best'];
const COMPRESSED: ReadonlySet<string> = new Set<CompressionMode>(['s2_auto', ...LEVELS]);

/** Whether a mode that both ends came to means that they compress. */
export function wantsCompression(mode: CompressionMode): boolean {
  return mode !== 'off' && mode !== 'not supported';
}

/** What this end does when it is set to `own` and its peer says `peer`; `null`: it says what nobody knows. */
export function agreedMode(own: CompressionMode, peer: string): CompressionMode | null {
  if (own === 'not supported' || peer === '' || peer === 'not supported') return 'not supported';
  if (own === 'off' || peer === 'off') return 'off';
  if (peer === 'accept') return own === 'accept' ? 'off' : own;
  if (!COMPRESSED.has(peer)) return null;
  if (own !== 'accept') return own;
  return peer === 's2_auto' ? 's2_fast' : (peer as CompressionLevel);
}

/** The level of a mode that is compressed, at this round trip. */
export function levelOf(mode: CompressionMode, rttMs: number, rttThresholdsMs: readonly number[]): CompressionLevel {
  if (mode !== 's2_auto') return mode as CompressionLevel;
  const step = rttThresholdsMs.findIndex((threshold) => rttMs <= threshold);
  if (step >= 0) return LEVELS[step] as CompressionLevel;
  // Beyond the last threshold: the last level if all were given, else the last that was.
  return LEVELS[rttThresholdsMs.length >= 3 ? 3 : rttThresholdsMs.length - 1] as CompressionLevel;
}
