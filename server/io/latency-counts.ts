/**
 * How long something took, each time it happened: counts in a fixed row of ranges, so that adding to it costs a few
 * comparisons and nothing is kept of the single times.
 *
 *     bounds   │ 0.1 │ 0.25 │ … │ 10000 │        milliseconds, each range up to and with its bound
 *     counts   │  n  │   n  │ … │   n   │  n     the last one: everything above
 */

export class LatencyCounts {
  readonly boundsMs: readonly number[];
  /** One more than there are bounds. */
  readonly counts: Float64Array;
  sumMs = 0;

  /** The bounds rise. */
  constructor(boundsMs: readonly number[]) {
    this.boundsMs = boundsMs;
    this.counts = new Float64Array(boundsMs.length + 1);
  }

  add(ms: number): void {
    const { boundsMs, counts } = this;
    let at = 0;
    while (at < boundsMs.length && ms > (boundsMs[at] as number)) at++;
    counts[at] = (counts[at] as number) + 1;
    this.sumMs += ms;
  }
}
