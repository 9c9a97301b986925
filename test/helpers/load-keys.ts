/**
 * A bucket of keys as clients make one: puts, deletes and purges, one after the other of each key. What the bucket holds of
 * a key is the end of its history; of the change that was under way when the server went, all or nothing.
 */
import type { Held } from './load-ledger.ts';
import type { LoadLink } from './load-link.ts';

const HISTORY = 3;
const KEYS = 5;
const PAUSE_MS_MAX = 80;
const WRONG_LAST_SEQUENCE = 10071;

export const BUCKET = 'KV_load';
export const BUCKET_CONFIG: object = {
  name: BUCKET,
  subjects: ['$KV.load.>'],
  max_msgs_per_subject: HISTORY,
  allow_rollup_hdrs: true,
  deny_delete: true,
  allow_direct: true,
  discard: 'new',
};

interface Change {
  readonly id: string;
  readonly isPurge: boolean;
  /** 0: not known. */
  sequence: number;
}

interface Key {
  /** What is stored for certain, the oldest first. */
  changes: Change[];
  /** What was sent and has no answer. */
  open: Change | null;
}

export class LoadKeys {
  readonly faults: string[] = [];
  changed = 0;
  private readonly keys: Key[] = Array.from({ length: KEYS }, () => ({ changes: [], open: null }));
  private count = 0;
  private isStopping = false;

  begin(link: LoadLink): void {
    this.isStopping = false;
    for (const index of this.keys.keys()) this.changeNext(link, index);
  }

  stop(): void {
    this.isStopping = true;
  }

  get isDone(): boolean {
    return this.isStopping && this.keys.every(({ open }) => open === null);
  }

  private changeNext(link: LoadLink, index: number): void {
    const key = this.keys[index] as Key;
    if (this.isStopping) return;
    const { random } = link;
    const operation = random.pick(['PUT', 'PUT', 'PUT', 'DEL', 'PURGE']);
    const change: Change = { id: `k${index}-${++this.count}`, isPurge: operation === 'PURGE', sequence: 0 };
    const headers = operation === 'PUT' ? [] : [`KV-Operation: ${operation}`];
    if (change.isPurge) headers.push('Nats-Rollup: sub');
    // As clients do that want to replace what they know.
    const revision = key.changes.at(-1)?.sequence ?? 0;
    const isCompared = random.chance(0.4);
    if (isCompared) headers.push(`Nats-Expected-Last-Subject-Sequence: ${revision}`);
    key.open = change;
    const payload = `${change.id} ${'.'.repeat(random.below(operation === 'PUT' ? 500 : 1))}`;
    link.ask(`$KV.load.${index}`, headers, payload, ({ seq, error }) => {
      key.open = null;
      if (error?.err_code === WRONG_LAST_SEQUENCE) this.faults.push(`${change.id} is refused: ${error.description}`);
      if (seq !== undefined && error === undefined) this.happened(key, change, seq);
      link.after(random.fraction() * PAUSE_MS_MAX, () => this.changeNext(link, index));
    });
  }

  private happened(key: Key, change: Change, sequence: number): void {
    const last = key.changes.at(-1)?.sequence ?? 0;
    if (sequence <= last) this.faults.push(`${change.id} got ${sequence} behind ${last}`);
    change.sequence = sequence;
    key.changes = change.isPurge ? [change] : [...key.changes, change].slice(-HISTORY);
    this.changed++;
  }

  /** Compares with all that the bucket holds. Afterwards it is known what became of the change that was under way. */
  check(held: readonly Held[] | null): void {
    if (held === null) {
      this.faults.push('the bucket is gone');
      return;
    }
    for (const [index, key] of this.keys.entries()) {
      const there = held.filter(({ subject }) => subject === `$KV.load.${index}`);
      const { open } = key;
      key.open = null;
      const stored = open === null ? undefined : there.find(({ id }) => id === open.id);
      if (open !== null && stored !== undefined) this.happened(key, open, stored.sequence);
      const expected = key.changes.map(({ id, sequence }) => `${id}@${sequence}`).join(' ');
      const found = there.map(({ id, sequence }) => `${id}@${sequence}`).join(' ');
      if (found !== expected) this.faults.push(`key ${index} holds ${found}, not ${expected}`);
    }
  }
}
