/**
 * What this server tells of itself in the system account without being asked:
 *
 *     $SYS.ACCOUNT.<account>.CONNECT, .DISCONNECT     connections that come and go
 *     $SYS.ACCOUNT.<account>.SERVER.CONNS             how many an account has, when that changes and in between; also
 *     $SYS.SERVER.ACCOUNT.<account>.CONNS             by its old name
 *     $SYS.SERVER.<id>.CLIENT.AUTH.ERR                clients that are refused; and for the owners of accounts
 *     $SYS.ACCOUNT.CLIENT.AUTH.ERR                    in the account that they would have been in
 *     $SYS.SERVER.<id>.STATSZ                         how it is, at intervals that grow from STATISTICS_MS_MIN
 *     $SYS.SERVER.<id>.LAMEDUCK, .SHUTDOWN            it goes
 *
 * Nobody listens to most of it on most servers. As long as nobody listens to any of it (`watchers` is 0), a connection
 * that comes or goes costs one comparison, and there is no timer. Counting an account's connections means looking at all of
 * them: of changes within CHANGES_MS after one that was told only the last is told.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { Connection } from '../connection/connection.ts';
import { LeafConnection } from '../../leafnode/leaf-connection.ts';
import type { Timer } from '../io/io.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import type { InterestListener } from '../ports.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import { eventId } from '../protocol/event-id.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { Message } from '../protocol/message.ts';
import { subjectMatches } from '../subject/subject.ts';
import type { Subscription } from '../subject/subscription.ts';
import { connectEvent, disconnectEvent, type EventStamp } from './connection-event.ts';
import type { KnownServers } from './known-servers.ts';
import type { ServerDescription } from './server-description.ts';
import type { SystemAnswers } from './system-answers.ts';
import type { SystemRequests } from './system-requests.ts';

const STATISTICS_MS_MIN = 250;
const STATISTICS_MS_MAX = 10_000;
const CHANGES_MS = 100;
const HEARTBEAT_MS = 30_000;

/** Subjects that some event may be published under. */
const OVERLAPS_EVENTS = /^(?:>|(?:\*|\$SYS)\.(?:>|(?:\*|ACCOUNT|SERVER)\.))/;

export class SystemEvents implements InterestListener {
  private readonly host: MonitorSource;
  private readonly description: ServerDescription;
  private readonly requests: SystemRequests;
  private readonly known: KnownServers;
  private readonly statisticsSubject: string;
  private watchers = 0;
  /** How many of them listen to the summary. */
  private statisticsWatchers = 0;
  private statisticsTimer: Timer | null = null;
  private readonly changed = new Set<Account>();
  private changesTimer: Timer | null = null;
  private heartbeatTimer: Timer | null = null;
  private isOpen = false;

  /** `requests` has what is needed to describe more than one connection; `known` listens too, and counts for nobody. */
  constructor(host: MonitorSource, description: ServerDescription, requests: SystemRequests, known: KnownServers) {
    this.host = host;
    this.description = description;
    this.requests = requests;
    this.known = known;
    this.statisticsSubject = `$SYS.SERVER.${host.id}.STATSZ`;
  }

  open(): void {
    this.isOpen = true;
    this.host.systemAccount.listen(this);
  }

  // ── who listens ──────────────────────────────────────────────────────────────────────────────────────────────────

  subscriptionAdded({ key, sink }: Subscription): void {
    if (sink === this.known || !OVERLAPS_EVENTS.test(key)) return;
    this.watchers++;
    if (subjectMatches(key, this.statisticsSubject)) {
      this.statisticsWatchers++;
      if (this.statisticsTimer === null) this.tickAfter(STATISTICS_MS_MIN);
    }
    if (this.heartbeatTimer === null) this.beatLater();
  }

  subscriptionRemoved({ key, sink }: Subscription): void {
    if (sink === this.known || !OVERLAPS_EVENTS.test(key)) return;
    this.watchers--;
    if (subjectMatches(key, this.statisticsSubject)) this.statisticsWatchers--;
  }

  private tickAfter(ms: number): void {
    this.statisticsTimer = this.host.io.timers.after(ms, () => {
      this.statisticsTimer = null;
      if (!this.isOpen || this.statisticsWatchers === 0) return;
      this.requests.withAnswers((answers) => answers.publishStatistics());
      this.tickAfter(Math.min(ms * 2, STATISTICS_MS_MAX));
    });
  }

  private beatLater(): void {
    this.heartbeatTimer = this.host.io.timers.after(HEARTBEAT_MS, () => {
      this.heartbeatTimer = null;
      if (!this.isOpen || this.watchers === 0) return;
      for (const account of this.host.accounts.values()) {
        if (account.limits.clients > 0) this.connectionsChanged(account);
      }
      for (const link of this.host.leafNodes.links()) this.connectionsChanged(link.account);
      this.beatLater();
    });
  }

  // ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Of a link that comes only the side tells that has dialled it, as nats-server has it. */
  connected(connection: Connection, account: Account): void {
    if (this.watchers === 0 || !this.isOpen) return;
    if (connection instanceof LeafConnection && connection.introduction !== null) return;
    const name = bytesOfText(account.name);
    this.publish(`$SYS.ACCOUNT.${name}.CONNECT`, () => connectEvent(this.stamp(), connection, name));
  }

  disconnected(connection: Connection, account: Account, reason: ClosedReason): void {
    if (this.watchers === 0 || !this.isOpen) return;
    const name = bytesOfText(account.name);
    const event = (): string => disconnectEvent(this.stamp(), connection, name, reason);
    this.publish(`$SYS.ACCOUNT.${name}.DISCONNECT`, event);
  }

  /** Nobody is told of the account that is everybody's. */
  connectionsChanged(account: Account): void {
    if (this.watchers === 0 || !this.isOpen || account === this.host.globalAccount) return;
    this.changed.add(account);
    if (this.changesTimer !== null) return;
    this.changesTimer = this.host.io.timers.after(CHANGES_MS, () => {
      this.changesTimer = null;
      const [next] = this.changed;
      if (next !== undefined) this.connectionsChanged(next);
    });
    this.requests.withAnswers((answers) => this.tellChanges(answers));
  }

  private tellChanges(answers: SystemAnswers): void {
    const accounts = [...this.changed];
    this.changed.clear();
    if (this.isOpen) for (const account of accounts) answers.publishConnections(account);
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
    for (const timer of [this.statisticsTimer, this.changesTimer, this.heartbeatTimer]) timer?.cancel();
  }

  private stamp(): EventStamp {
    const { random, clock } = this.host.io;
    return { id: eventId(random), wallMs: clock.wallMs(), server: this.description.next() };
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
