/**
 * What a link does once it is known which account it joins, whichever side dialled: interest and messages, both ways.
 *
 *     joined ──begin──► tells all its interest ──told──► messages go out ──end──► over
 *       └ interest and messages of the peer are taken from here on
 *
 * Messages go out when all interest has been told, so that no request overtakes the interest in its reply. A message
 * crosses once, however many subscriptions of the peer match: `collect` collects, `send` sends (LinkOutbox). Nothing
 * goes back where it came from, nor from one link to another into the same cluster:
 *
 *     from a link of the same account     to no link of the same named cluster
 *     from a link of another account,     to all links, since that cluster never had it in this account; but from a hub
 *     by an import                        to none that may be the same hub, since it may import what goes to it there:
 *                                         with imports at both ends the message would go round
 *
 * What a peer may not do is dropped without a word when this side is the spoke: a hub was not told our permissions and
 * means no harm. A leaf was told, and is refused.
 */

import type { Account } from '../server/account/account.ts';
import type { ResponsePermits } from '../server/account/response-permits.ts';
import type { ConnectionLimits } from '../server/connection/connection-host.ts';
import type { Timers } from '../server/io/io.ts';
import type { LinkSink, LinkSpool, SpooledLink } from '../server/ports.ts';
import type { Message } from '../server/protocol/message.ts';
import { isLiteral, isSubscribableSubject } from '../server/subject/subject.ts';
import type { Subscription } from '../server/subject/subscription.ts';
import { type AccountInterest, isLoopSubject } from './account-interest.ts';
import { showDeliverSubject } from './deliver-subject.ts';
import { type AnnouncingLink, InterestAnnouncer } from './interest-announcer.ts';
import type { LeafPermissions } from './leaf-permissions.ts';
import { LinkOutbox, type OutboxLink } from './link-outbox.ts';
import { PeerInterest } from './peer-interest.ts';

/** The connection that a session is about. */
export interface SessionLink extends LinkSink, AnnouncingLink, OutboxLink {
  readonly limits: ConnectionLimits;
  /** Calls back when the peer has taken everything that was sent so far. */
  fence(done: () => void): void;
}

/** What became of interest that a peer told. `known`: taken. `unwanted`: dropped without a word. */
export type Taking = 'known' | 'unwanted' | 'loop' | 'forbidden' | 'too many' | 'invalid';

export class LeafSession implements SpooledLink {
  readonly interest: AccountInterest;
  /** What the peer wants to hear. */
  readonly peerInterest: PeerInterest;
  readonly outbox: LinkOutbox;
  private readonly link: SessionLink;
  /** Keeps messages while the link is down; null: nobody does. */
  spool: LinkSpool | null = null;
  /** What the peer may publish as an answer, where it may not otherwise; `null`: nothing. */
  permits: ResponsePermits | null = null;
  private announcer: InterestAnnouncer | null = null;
  /** All interest has been told: messages may go out. */
  private isTold = false;
  private isEnded = false;

  constructor(link: SessionLink, interest: AccountInterest, permissions: LeafPermissions) {
    this.link = link;
    this.interest = interest;
    this.peerInterest = new PeerInterest(link, interest.account);
    this.outbox = new LinkOutbox(link, permissions);
  }

  get account(): Account {
    return this.interest.account;
  }

  get permissions(): LeafPermissions {
    return this.outbox.permissions;
  }

  set permissions(permissions: LeafPermissions) {
    this.outbox.permissions = permissions;
  }

  /** Entries of interest that the peer has been told of. */
  get toldInterest(): number {
    return this.announcer?.told ?? 0;
  }

  /** Begins to tell what this side wants to hear. */
  begin(timers: Timers): void {
    this.announcer = new InterestAnnouncer(this.link, this.interest, timers);
    // The link may have ended over what was told at once, if it cannot hold that much.
    if (this.isEnded) this.announcer.stop();
  }

  /** Another spool from now on; that before has ended, or is about to. */
  useSpool(spool: LinkSpool): void {
    if (spool === this.spool) return;
    this.spool = spool;
    if (this.isTold) spool.opened(this);
  }

  /** Somebody here may wait for room in the queue. */
  get isWaiting(): boolean {
    return this.spool !== null || this.announcer?.isDone === false;
  }

  /** The queue has emptied a little. */
  proceed(): void {
    this.announcer?.proceed();
    this.spool?.proceed();
  }

  end(timers: Timers): void {
    this.isEnded = true;
    this.announcer?.stop();
    this.spool?.lost();
    this.peerInterest.clear(timers);
  }

  /** All interest has been told. */
  told(): void {
    if (this.isEnded) return;
    this.isTold = true;
    this.spool?.opened(this);
  }

  // ── what the peer says ───────────────────────────────────────────────────────────────────────────────────────────

  /** Routes a message of the peer; false when it should not have sent it. */
  take(message: Message): boolean {
    const { account } = this;
    const { subject, subjectStart, subjectEnd } = message;
    if (!this.permissions.mayReceive(subject, subjectStart, subjectEnd) && !this.isAnswer(message)) return false;
    if (account.mappings !== null) {
      account.applyMappings(message);
      // The peer knows nothing of the groups that subscribe to what the subject is mapped to.
      if (message.subject !== subject && message.queueGroups?.length === 0) message.queueGroups = null;
    }
    showDeliverSubject(message);
    account.route(message);
    return true;
  }

  private isAnswer(message: Message): boolean {
    return this.permits !== null && this.permits.use(message.subjectText());
  }

  subscribe(subject: string, queueGroup: string, weight: number): Taking {
    const { peerInterest, link } = this;
    if (subject === this.interest.loopSubject) return 'loop';
    if (!isFreeInterest(subject) && isLiteral(subject) && !this.permissions.maySendText(subject)) {
      return link.isSpoke ? 'unwanted' : 'forbidden';
    }
    const { maxSubscriptions } = link.limits;
    if (maxSubscriptions > 0 && peerInterest.size >= maxSubscriptions) return 'too many';
    if (!isSubscribableSubject(subject)) return 'invalid';
    peerInterest.set(subject, queueGroup, weight);
    this.spool?.interestChanged(subject, queueGroup, true);
    return 'known';
  }

  unsubscribe(subject: string, queueGroup: string): void {
    this.peerInterest.remove(subject, queueGroup);
    this.spool?.interestChanged(subject, queueGroup, false);
  }

  // ── what goes to the peer ────────────────────────────────────────────────────────────────────────────────────────

  /** Adds the message to what is sent; false if it does not go. */
  collect(subscription: Subscription, message: Message): boolean {
    const { outbox } = this;
    if (outbox.message !== message) {
      if (!this.isTold || this.cameFrom(message) || !outbox.begin(message)) return false;
      message.collectFor(this.link);
      if (this.permits !== null && message.hasReply) this.permits.permit(message.replyText());
    }
    if (subscription.queueGroup !== '') outbox.addQueueGroup(subscription.queueGroup);
    return true;
  }

  send(message: Message): void {
    const { outbox, spool } = this;
    const queueGroups = outbox.end();
    const passed = spool === null ? message : spool.pass(message, queueGroups);
    if (passed !== null) outbox.send(passed, queueGroups);
  }

  // ── what its spool asks of it ────────────────────────────────────────────────────────────────────────────────────

  get sink(): LinkSink {
    return this.link;
  }

  get isCongested(): boolean {
    return this.link.queue.isCongested;
  }

  peerSubscriptions(): Iterable<Subscription> {
    return this.peerInterest.all();
  }

  forward(message: Message, queueGroups: readonly string[]): boolean {
    const { outbox } = this;
    if (!outbox.begin(message)) return false;
    outbox.end();
    outbox.send(message, queueGroups);
    return true;
  }

  fence(done: () => void): void {
    this.link.fence(done);
  }

  cameFrom(message: Message): boolean {
    const { link } = this;
    const { source } = message;
    if (source === null || source.sinkKind !== 'leaf') return false;
    if (source === link) return true;
    const from = source as SessionLink;
    const isSameCluster = link.remoteCluster !== '' && from.remoteCluster === link.remoteCluster;
    if (!message.isFromOtherAccount) return isSameCluster;
    // Hubs need not say what their cluster is called.
    const isUnknown = link.remoteCluster === '' || from.remoteCluster === '';
    return link.isSpoke && from.isSpoke && (isSameCluster || isUnknown);
  }
}

/** Interest that permissions say nothing about: detection of loops, and replies routed between clusters. */
function isFreeInterest(subject: string): boolean {
  return isLoopSubject(subject) || subject.startsWith('_GR_.') || subject.startsWith('$GR.');
}
