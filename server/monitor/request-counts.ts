/**
 * How often each endpoint was asked, as /varz shows it. Bound: one count per endpoint, whatever paths are asked for.
 */

export class RequestCounts {
  private readonly counts = new Map<string, number>();

  count(path: string): void {
    this.counts.set(path, (this.counts.get(path) ?? 0) + 1);
  }

  /** By path, in the order of the paths. */
  toObject(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
