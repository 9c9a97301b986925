/**
 * The spool of one remote: core messages that the hub would get if the link stood, kept on disk until it does, and sent
 * in order when it has come back, ahead of newer ones.
 *
 *     link down      published ─► own subscriptions, as the hub's were ─► stream
 *     link up        stream ─► link, WINDOW at a time; a message leaves the stream when the hub has taken it: the PONG to
 *                    a PING sent behind it has come. What is published meanwhile goes to the end of the stream.
 *     all is sent    published ─► link, and a copy into the window until the PONG has come; a window that is full goes
 *                    into the stream, and what is published after it too
 *     cut            the window goes to the stream, and all of it is sent again: at least once
 *
 * Who the hub has subscribers for is known only a while after a link was opened (Settling): until then the own
 * subscriptions stay, so that nothing falls in between, and what is in the stream waits for those who wanted it. What it
 * withdraws later is in doubt for a while, and messages for it are held: it may be about to end (WithdrawnInterest).
 *
 * What is promised: a message that was published while the link was down, or less than a window before it went down, is
 * with the hub at least once, if the spool had room for it and it did not grow too old. What was published while the
 * link was up is not on disk: when this server is killed with a window in flight, that window may be lost.
 *
 * Bounds: max_bytes and max_age on disk; the window (send-window.ts) and what is held (withdrawn-interest.ts) in memory.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../../server/account/account.ts';
import type { SpoolOptions } from '../../server/config/spool-options.ts';
import type { Io } from '../../server/io/io.ts';
import type { Log } from '../../server/io/log.ts';
import { NoticePace } from '../../server/io/notice-pace.ts';
import type { LinkSink, LinkSpool, SinkKind, SpooledLink, SpoolStatistics } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import type { Subscription } from '../../server/subject/subscription.ts';
import { RecordView } from '../store/record.ts';
import type { StoreListener } from '../store/store.ts';
import type { Stream } from '../stream/stream.ts';
import { HubInterest, wantedOf, type WantedSubject, wantedText } from './hub-interest.ts';
import { OldestMessage } from './oldest-message.ts';
import { OwnSubscriptions } from './own-subscriptions.ts';
import { SendWindow } from './send-window.ts';
import { Settling, type SettlingOwner } from './settling.ts';
import { fromKept, toKeep, withId } from './spool-message.ts';
import { WithdrawnInterest } from './withdrawn-interest.ts';

const NOTICE_INTERVAL_MS = 10_000;
const ID_BYTES = 9;

/** What a spool belongs to. */
export interface SpoolSite {
  readonly io: Io;
  readonly log: Log;
  /** Whose messages are spooled. */
  readonly account: Account;
  readonly stream: Stream;
  /** For the log: which remote, without its secrets. */
  readonly remote: string;
  /** Keeps on disk what the hub wants to hear. */
  keepInterest(text: string): void;
}

export class Spool implements LinkSpool, LinkSink, StoreListener, SettlingOwner {
  /** In the place of the link: a local member of a queue group goes before the hub's. */
  readonly sinkKind: SinkKind = 'leaf';
  readonly isSpoke = true;
  readonly remoteCluster = '';
  private readonly site: SpoolSite;
  private options: SpoolOptions;
  private readonly idPrefix: string;
  private nextId = 1;
  private link: SpooledLink | null = null;
  /** The one before it, which knows where the hub is; `null`: there was none since the start. */
  private lastLink: SpooledLink | null = null;
  private readonly settling: Settling;
  private readonly interest: HubInterest;
  private keptText: string;
  private readonly withdrawn: WithdrawnInterest;
  private readonly own: OwnSubscriptions;
  /** Queue groups of messages that are being collected: collections nest, as a link's. */
  private readonly groups: string[][] = [];
  private readonly window = new SendWindow();
  private isFenced = false;
  private isReading = false;
  /** The next sequence to send. */
  private cursor: number;
  private readonly view = new RecordView(Buffer.alloc(0));
  /** Messages in the stream when it was last looked at. */
  private known: number;
  private readonly oldest: OldestMessage;
  private spooled = 0;
  private forwarded = 0;
  private dropped = 0;
  private refused = 0;
  private readonly pace = new NoticePace(NOTICE_INTERVAL_MS);
  /** It takes nothing any more, whoever still holds it. */
  private isOver = false;
  /** Who hears when what it sent has arrived, or is in the stream. */
  private retired: (() => void) | null = null;
  /** Messages up to this sequence have arrived, and leave the stream. */
  private leavingSequence = 0;

  constructor(site: SpoolSite, options: SpoolOptions, wanted: readonly WantedSubject[]) {
    this.site = site;
    this.settling = new Settling(site.io, this);
    this.options = options;
    this.own = new OwnSubscriptions(site.account, this);
    this.withdrawn = new WithdrawnInterest(site.account, this);
    this.interest = new HubInterest(wanted);
    this.keptText = wantedText(wanted);
    this.idPrefix = site.io.random.bytes(ID_BYTES).toString('base64url');
    this.cursor = this.store.firstSequence;
    this.known = this.store.messages;
    this.oldest = new OldestMessage(this.store, site.io.clock);
    site.stream.observers.add(this);
    this.own.replace(this.interest.wanted);
  }

  private get store(): Stream['store'] {
    return this.site.stream.store;
  }

  get statistics(): SpoolStatistics {
    const { store, spooled, forwarded, dropped, refused } = this;
    const { messages, bytes } = store;
    return { messages, bytes, oldestWallMs: this.oldest.wallMs, spooled, forwarded, dropped, refused };
  }

  /** Other subjects, and other limits, from the next message on; the stream has them already. */
  reconfigure(options: SpoolOptions): void {
    this.options = options;
    this.interest.restrict(options.subjects);
    if (!this.own.isEmpty) this.own.replace(this.interest.wanted);
    if (this.link !== null && this.settling.isSettled) this.add(this.link);
  }

  /** Takes nothing more and sends nothing of what it holds; `done` when all it sent has arrived or is in the stream. */
  retire(done: () => void): void {
    this.isOver = true;
    this.retired = done;
    this.settling.cancel();
    this.own.replace([]);
    this.withdrawn.end();
    this.endRetirement();
  }

  /** Ends at once after `retire`, and tells nobody: what it sent last goes to the stream, and is sent again from there. */
  stop(): void {
    this.link = null;
    this.keepWindow();
    this.window.clear();
    this.retired = null;
    this.site.stream.observers.delete(this);
  }

  private endRetirement(): void {
    const { retired, leavingSequence, store } = this;
    const isLeaving = leavingSequence > 0 && leavingSequence >= store.firstSequence;
    if (retired === null || this.window.count > 0 || isLeaving) return;
    this.stop();
    retired();
  }

  // ── the link ─────────────────────────────────────────────────────────────────────────────────────────────────────

  opened(link: SpooledLink): void {
    if (this.isOver) return;
    this.link = link;
    this.settling.begin(link);
  }

  lost(): void {
    if (this.link === null) return;
    this.settling.cancel();
    this.add(this.link);
    this.lastLink = this.link;
    this.link = null;
    this.isFenced = false;
    this.keepWindow();
    this.window.clear();
    for (const { message, queueGroups } of this.withdrawn.end()) this.keep(message, queueGroups);
    this.cursor = this.store.firstSequence;
    if (this.isOver) this.endRetirement();
    else this.own.replace(this.interest.wanted);
  }

  interestChanged(subject: string, queueGroup: string, isWanted: boolean): void {
    if (this.isOver) return;
    const changed = { subject, queueGroup };
    if (isWanted) this.withdrawn.restrict((each) => each.subject !== subject || each.queueGroup !== queueGroup);
    else if (this.settling.isSettled && this.interest.counts(changed)) this.withdrawn.add(changed);
    this.settling.told();
  }

  isBack(): boolean {
    const { link, interest, options } = this;
    return link !== null && interest.isWithin(wantedOf(link.peerSubscriptions(), options.subjects));
  }

  ready(): void {
    this.proceed();
  }

  /** What the hub wants to hear is known: all of it for the first time, or what has changed. */
  settled(isFirst: boolean): void {
    const { link, interest, settling, options } = this;
    if (link === null) return;
    const present = wantedOf(link.peerSubscriptions(), options.subjects);
    if (isFirst) interest.begin(present);
    else if (interest.look(present, options.subjects)) settling.told();
    this.withdrawn.restrict((each) => interest.counts(each));
    this.keepInterest();
    this.own.replace([]);
  }

  private add(link: SpooledLink): void {
    const { subjects } = this.options;
    this.interest.add(wantedOf(link.peerSubscriptions(), subjects), subjects);
    this.keepInterest();
  }

  private keepInterest(): void {
    const text = wantedText(this.interest.wanted);
    if (text === this.keptText) return;
    this.keptText = text;
    this.site.keepInterest(text);
  }

  // ── while the link is down ───────────────────────────────────────────────────────────────────────────────────────

  deliver({ queueGroup }: Subscription, message: Message): boolean {
    if (!this.covers(message) || (this.link ?? this.lastLink)?.cameFrom(message) === true) return false;
    if (!message.isCollectedFor(this)) {
      message.collectFor(this);
      this.groups.push([]);
    }
    if (queueGroup !== '') this.groups.at(-1)?.push(queueGroup);
    return !this.isInDoubt;
  }

  sendCollected(message: Message): void {
    const queueGroups = this.groups.pop() ?? [];
    // The link has it too, and asks.
    if (this.link !== null && message.isCollectedFor(this.link.sink)) return;
    const own = withId(message, this.newId(), new Message());
    if (this.isInDoubt) this.withdrawn.hold(own, queueGroups);
    else this.keep(own, queueGroups);
  }

  /** The link stands and the hub is known: own subscriptions are for what it has just withdrawn. */
  private get isInDoubt(): boolean {
    return this.link !== null && this.settling.isSettled;
  }

  /** Whether it is spooled: core messages to the subjects that are. What JetStream delivers it can deliver again. */
  private covers(message: Message): boolean {
    if (message.destination !== null) return false;
    const subject = message.subjectText();
    return this.options.subjects.some((pattern) => subjectMatches(pattern, subject));
  }

  private newId(): string {
    return `${this.idPrefix}-${this.nextId++}`;
  }

  // ── while the link is up ─────────────────────────────────────────────────────────────────────────────────────────

  pass(message: Message, queueGroups: readonly string[]): Message | null {
    if (this.isOver || !this.covers(message)) return message;
    const own = withId(message, this.newId(), new Message());
    const hasBacklog = this.cursor <= this.store.appendedSequence;
    if (!hasBacklog && this.window.hasRoom(own.bodyBytes)) {
      this.window.addCopy(own, queueGroups);
      this.sent();
      return own;
    }
    this.keepWindow();
    this.keep(own, queueGroups);
    return null;
  }

  private sent(): void {
    this.forwarded++;
    if (this.isFenced) return;
    this.isFenced = true;
    // Behind what is sent in this turn.
    this.site.io.timers.afterTurn(() => this.fence());
  }

  private fence(): void {
    const { link } = this;
    if (link === null) return;
    const { count } = this.window;
    link.fence(() => {
      if (this.link !== link) return;
      this.isFenced = false;
      this.taken(count);
      this.proceed();
      this.endRetirement();
    });
  }

  /** The hub has got the first so many of what is in flight. */
  private taken(count: number): void {
    const last = this.window.take(count);
    if (this.window.count > 0) {
      this.isFenced = true;
      this.fence();
    }
    if (last === 0) return;
    this.leavingSequence = last;
    this.store.purgeBelow(last + 1);
  }

  /** Sends what is in the stream, as far as there is room. */
  proceed(): void {
    const { store, view } = this;
    if (this.isOver || !this.settling.isReady) return;
    while (this.link !== null && !this.link.isCongested && !this.isReading && this.window.hasRoom(0)) {
      const sequence = store.next(Math.max(this.cursor, store.firstSequence), null);
      const outcome = sequence > 0 ? store.read(sequence, view) : sequence < 0 ? 'loading' : 'missing';
      if (outcome === 'loading') {
        this.isReading = true;
        store.whenReadable(Math.max(this.cursor, store.firstSequence), () => {
          this.isReading = false;
          this.proceed();
        });
        return;
      }
      if (sequence <= 0) {
        this.cursor = store.lastSequence + 1;
        return;
      }
      this.cursor = sequence + 1;
      if (outcome === 'found') this.forward(this.link, sequence);
    }
  }

  /** Sends the message in `view`. */
  private forward(link: SpooledLink, sequence: number): void {
    const message = new Message();
    const queueGroups = fromKept(this.view, message);
    link.forward(message, queueGroups);
    this.window.addStored(sequence, queueGroups, message.bodyBytes);
    this.sent();
  }

  // ── the stream ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** What is in flight and only here goes into the stream; all of that has been sent. */
  private keepWindow(): void {
    const last = this.window.keepCopies((message, queueGroups) => this.keep(message, queueGroups));
    if (last > 0) this.cursor = last + 1;
  }

  /** The sequence that the message has in the stream; 0: it was not taken. */
  private keep(message: Message, queueGroups: readonly string[]): number {
    const { stream } = this.site;
    const { store } = stream;
    const kept = toKeep(message, queueGroups, new Message());
    const { whenFull, maxBytes } = this.options;
    const isFull = whenFull === 'refuse' && store.appendedBytes + store.countedBytes(kept) > maxBytes;
    const error = stream.intakeError();
    if (isFull || error !== null) {
      this.refused++;
      this.notice(error === null ? 'the spool is full' : error.description);
      return 0;
    }
    this.spooled++;
    return store.append(kept, stream.clock.next());
  }

  stored(): void {
    this.known = this.store.messages;
    this.oldest.changed();
    this.proceed();
  }

  removed(sequence: number): void {
    this.gone(sequence <= this.leavingSequence);
  }

  /** What the hub has taken leaves the stream like that, some time after it was asked to. */
  purged(belowSequence: number): void {
    this.gone(belowSequence <= this.leavingSequence + 1);
  }

  private gone(hasArrived: boolean): void {
    const { messages } = this.store;
    if (!hasArrived) this.dropped += Math.max(0, this.known - messages);
    this.known = messages;
    this.oldest.changed();
    this.endRetirement();
  }

  private notice(why: string): void {
    const { io, log } = this.site;
    if (!this.pace.isDue(io.clock.monotonicMs())) return;
    log.warn(`Message for ${this.site.remote} not spooled: ${why} (${this.refused} so far)`);
  }
}
