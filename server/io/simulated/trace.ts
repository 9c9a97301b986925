/**
 * What happened in a simulated world, as a hash of everything and the last few entries in words. Two runs of one seed
 * must give the same hash; the entries show what led to a failure.
 */

const ENTRIES_KEPT = 40;
const LANE_SEEDS = [0x811c9dc5, 0x1b873593] as const;

interface TraceEntry {
  readonly timeUs: number;
  readonly what: string;
  readonly detail: number;
}

export class Trace {
  /** Hears every entry, for debugging. */
  onEntry: ((line: string) => void) | null = null;
  private left: number = LANE_SEEDS[0];
  private right: number = LANE_SEEDS[1];
  private readonly recent: TraceEntry[] = [];
  private count = 0;

  /** Something happened; `detail` tells it from others of its kind, and is a checksum where bytes are concerned. */
  record(timeUs: number, what: string, detail = 0): void {
    for (let i = 0; i < what.length; i++) this.mix(what.charCodeAt(i));
    this.mix(timeUs);
    this.mix(detail);
    const entry = { timeUs, what, detail };
    this.recent[this.count % ENTRIES_KEPT] = entry;
    this.count++;
    this.onEntry?.(inWords(entry));
  }

  get hash(): string {
    return [this.left, this.right].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** The last entries, the oldest first. */
  lines(): string[] {
    const oldest = this.count % ENTRIES_KEPT;
    return [...this.recent.slice(oldest), ...this.recent.slice(0, oldest)].map(inWords);
  }

  private mix(value: number): void {
    const low = value | 0;
    const high = Math.floor(value / 2 ** 32) | 0;
    this.left = Math.imul(this.left ^ low, 0x01000193) ^ (this.left >>> 15);
    this.right = Math.imul(this.right ^ low ^ Math.imul(high, 31), 0x85ebca6b) ^ (this.right >>> 13);
  }
}

function inWords({ timeUs, what, detail }: TraceEntry): string {
  const shown = detail === 0 ? '' : ` ${detail.toString(16)}`;
  return `${(timeUs / 1000).toFixed(3)} ms ${what}${shown}`;
}
