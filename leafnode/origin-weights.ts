/**
 * Weights by where they come from, and their sum: what all but one of the origins weigh is one subtraction, however many
 * there are. Most entries have one origin, which takes no map.
 */

/** A cluster's name, or a link whose peer has none. */
export type Origin = string | object;

export class OriginWeights {
  total = 0;
  private first: Origin | null = null;
  private firstWeight = 0;
  /** All but the first. */
  private others: Map<Origin, number> | null = null;

  /** How many origins there are. */
  get count(): number {
    return (this.first === null ? 0 : 1) + (this.others?.size ?? 0);
  }

  add(origin: Origin, delta: number): void {
    this.total += delta;
    const { others } = this;
    if (this.first === origin || (this.first === null && others?.has(origin) !== true)) {
      this.firstWeight += delta;
      this.first = this.firstWeight === 0 ? null : origin;
      return;
    }
    const weight = (others?.get(origin) ?? 0) + delta;
    if (weight !== 0) this.others = (others ?? new Map<Origin, number>()).set(origin, weight);
    else if (others !== null) {
      others.delete(origin);
      if (others.size === 0) this.others = null;
    }
  }

  /** What all weigh but this one. */
  without(origin: Origin): number {
    return this.total - (this.first === origin ? this.firstWeight : (this.others?.get(origin) ?? 0));
  }
}
