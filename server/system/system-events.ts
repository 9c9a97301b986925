/**
 * What this server tells of itself in the system account without being asked:
 *
 *     $SYS.ACCOUNT.<account>.CONNECT, .DISCONNECT     connections that come and go
 *     $SYS.SERVER.<id>.CLIENT.AUTH.ERR                clients that are refused; and for the owners of accounts
 *     $SYS.ACCOUNT.CLIENT.AUTH.ERR                    in the account that they would have been in
 *     $SYS.SERVER.<id>.STATSZ                         how it is, at intervals that grow from STATISTICS_MS_MIN
 *     $SYS.SERVER.<id>.LAMEDUCK, .SHUTDOWN            it goes
 *
 * Nobody listens to most of it on most servers. As long as nobody listens to any of it (`watchers` is 0), a connection
 * that comes or goes costs one comparison, and there is no timer.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { Connection } from '../connection/connection.ts';
import type { Timer } from '../io/io.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import type { InterestListener } from '../ports.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import { EVENT_ID_BYTES, eventId } from '../protocol/event-id.ts';
import { Message } from '../protocol/message.ts';
import { subjectMatches } from '../subject/subject.ts';
import type { Subscription } from '../subject/subscription.ts';
import { connectEvent, disconnectEvent, type EventStamp } from './connection-event.ts';
import type { ServerDescription } from './server-description.ts';

const STATISTICS_MS_MIN = 250;
const STATISTICS_MS_MAX = 10_000;

/** Subjects that some event may be published under. */
const OVERLAPS_EVENTS = /^(?:>|(?:\*|\$SYS)\.(?:>|(?:\*|ACCOUNT|SERVER)\.))/;

export class SystemEvents implements InterestListener {
  private readonly host: MonitorSource;
  private readonly description: ServerDescription;
  private readonly publishStatistics: () => void;
  private readonly statisticsSubject: string;
  private watchers = 0;
  private statisticsTimer: Timer | null = null;
  private isOpen = false;

  /** `publishStatistics` publishes the server's STATSZ. */
  constructor(host: MonitorSource, description: ServerDescription, publishStatistics: () => void) {
    this.host = host;
    this.description = description;
    this.publishStatistics = publishStatistics;
    this.statisticsSubject = `$SYS.SERVER.${host.id}.STATSZ`;
  }

  open(): void {
    this.isOpen = true;
    this.host.systemAccount.listen(this);
  }

  // ── who listens ──────────────────────────────────────────────────────────────────────────────────────────────────

  subscriptionAdded({ key }: Subscription): void {
    if (!OVERLAPS_EVENTS.test(key)) return;
    this.watchers++;
    const isTicking = this.statisticsTimer !== null;
    if (!isTicking && subjectMatches(key, this.statisticsSubject)) this.tickAfter(STATISTICS_MS_MIN);
  }

  subscriptionRemoved({ key }: Subscription): void {
    if (OVERLAPS_EVENTS.test(key)) this.watchers--;
  }

  private tickAfter(ms: number): void {
    this.statisticsTimer = this.host.io.timers.after(ms, () => {
      this.statisticsTimer = null;
      if (!this.isOpen || !this.host.systemAccount.hasInterest(Buffer.from(this.statisticsSubject))) return;
      this.publishStatistics();
      this.tickAfter(Math.min(ms * 2, STATISTICS_MS_MAX));
    });
  }

  // ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────────

  connected(connection: Connection, account: Account): void {
    if (this.watchers === 0 || !this.isOpen) return;
    this.publish(`$SYS.ACCOUNT.${account.name}.CONNECT`, () => connectEvent(this.stamp(), connection, account.name));
  }

  disconnected(connection: Connection, account: Account, reason: ClosedReason): void {
    if (this.watchers === 0 || !this.isOpen) return;
    this.publish(`$SYS.ACCOUNT.${account.name}.DISCONNECT`, () =>
      disconnectEvent(this.stamp(), connection, account.name, reason),
    );
  }

  /** `account`: the one in which its owners are told; `null` for none. */
  refused(connection: Connection, account: Account | null): void {
    if (!this.isOpen) return;
    const name = this.host.globalAccount.name;
    const event = (): string => disconnectEvent(this.stamp(), connection, name, 'Authentication Failure');
    if (account !== null) this.publish('$SYS.ACCOUNT.CLIENT.AUTH.ERR', event, account);
    if (this.watchers > 0) this.publish(`$SYS.SERVER.${this.host.id}.CLIENT.AUTH.ERR`, event);
  }

  lameDuck(): void {
    if (this.isOpen) this.publish(`$SYS.SERVER.${this.host.id}.LAMEDUCK`, () => this.description.next());
  }

  /** The last that is heard of this server. */
  close(): void {
    if (!this.isOpen) return;
    this.publish(`$SYS.SERVER.${this.host.id}.SHUTDOWN`, () => this.description.next());
    this.isOpen = false;
    this.statisticsTimer?.cancel();
  }

  private stamp(): EventStamp {
    const { random, clock } = this.host.io;
    return { id: eventId(random.bytes(EVENT_ID_BYTES)), wallMs: clock.wallMs(), server: this.description.next() };
  }

  /** Makes the event only if somebody listens. */
  private publish(subject: string, event: () => string, account: Account = this.host.systemAccount): void {
    const destination = Buffer.from(subject, 'latin1');
    if (!account.hasInterest(destination)) return;
    const body = Buffer.from(event(), 'latin1');
    const message = new Message();
    message.setSubject(destination, 0, destination.length);
    message.setBody(body, 0, 0, body.length);
    account.route(message);
  }
}
