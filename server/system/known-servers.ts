/**
 * The other servers that this one hears of in the system account, over links that carry it: whoever publishes its state
 * there is one, until it says that it goes or is silent for SILENCE_MS_MAX. Operators' tools wait for as many answers as a
 * server knows of.
 *
 * Bound: SERVERS_MAX; beyond that further ones are not counted.
 */

import type { Clock } from '../io/io.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import type { Sink, SinkKind } from '../ports.ts';
import type { Message } from '../protocol/message.ts';
import { Subscription } from '../subject/subscription.ts';

const SILENCE_MS_MAX = 150_000;
const SERVERS_MAX = 10_000;
const STATE = 'STATSZ';
const ENDS: readonly string[] = ['SHUTDOWN', 'LAMEDUCK'];
const ID_TOKEN = 2;

export class KnownServers implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  private readonly clock: Clock;
  private readonly ownId: string;
  /** When each was heard last, in monotonic milliseconds. */
  private readonly heardMs = new Map<string, number>();

  constructor({ io, id }: Pick<MonitorSource, 'io' | 'id'>) {
    this.clock = io.clock;
    this.ownId = id;
  }

  /** Listens from now on. */
  open({ systemAccount }: Pick<MonitorSource, 'systemAccount'>): void {
    for (const kind of [STATE, ...ENDS]) {
      systemAccount.subscribe(new Subscription(this, `$SYS.SERVER.*.${kind}`, '', kind));
    }
  }

  /** How many there are besides this one. */
  get count(): number {
    const since = this.clock.monotonicMs() - SILENCE_MS_MAX;
    for (const [id, heard] of this.heardMs) if (heard < since) this.heardMs.delete(id);
    return this.heardMs.size;
  }

  deliver({ sid: kind }: Subscription, message: Message): boolean {
    const id = message.subjectText().split('.')[ID_TOKEN] ?? '';
    if (id === this.ownId) return true;
    if (kind !== STATE) this.heardMs.delete(id);
    else if (this.heardMs.has(id) || this.heardMs.size < SERVERS_MAX) this.heardMs.set(id, this.clock.monotonicMs());
    return true;
  }
}
