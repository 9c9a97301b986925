/**
 * Events in the order in which they happen: by time, then by a tie-break that the seed decides, then by age. A binary
 * heap in one array; O(log n) to add and to take. A cancelled event stays until its time comes and is then skipped.
 */

/** Whose events these are: a process that may be paused or gone. */
export interface EventOwner {
  readonly isAlive: boolean;
  /** Nothing of it happens before this time. */
  readonly pausedUntilUs: number;
}

export class SimulatedEvent {
  timeUs: number;
  readonly owner: EventOwner | null;
  readonly what: string;
  readonly run: () => void;
  isCancelled = false;
  readonly tieBreak: number;
  readonly age: number;

  constructor(timeUs: number, owner: EventOwner | null, what: string, run: () => void, tieBreak: number, age: number) {
    this.timeUs = timeUs;
    this.owner = owner;
    this.what = what;
    this.run = run;
    this.tieBreak = tieBreak;
    this.age = age;
  }

  cancel(): void {
    this.isCancelled = true;
  }
}

export class EventQueue {
  private readonly heap: SimulatedEvent[] = [];

  get length(): number {
    return this.heap.length;
  }

  /** The next event, which stays. */
  peek(): SimulatedEvent | undefined {
    return this.heap[0];
  }

  add(event: SimulatedEvent): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as SimulatedEvent;
      if (!isBefore(event, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = event;
  }

  take(): SimulatedEvent | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (last !== undefined && last !== first) this.sink(last);
    return first;
  }

  /** Puts an event in at the top and lets it find its place. */
  private sink(event: SimulatedEvent): void {
    const { heap } = this;
    const { length } = heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= length) break;
      const right = heap[below + 1];
      if (right !== undefined && isBefore(right, heap[below] as SimulatedEvent)) below++;
      const child = heap[below] as SimulatedEvent;
      if (!isBefore(child, event)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = event;
  }
}

function isBefore(a: SimulatedEvent, b: SimulatedEvent): boolean {
  if (a.timeUs !== b.timeUs) return a.timeUs < b.timeUs;
  if (a.tieBreak !== b.tieBreak) return a.tieBreak < b.tieBreak;
  return a.age < b.age;
}
