/**
 * What every connection has, whatever its peer: a socket, an outbound queue, statistics, keepalive, and one way to end.
 *
 *     open ──fail(error)/close(reason)──► closing: nothing more is read or queued; what is queued still leaves
 *       │                                    │ queue empty, or CLOSE_LINGER_MS passed
 *       └──socket gone────────────────────► closed: memory given back, the server forgets it
 *
 * Deadlines (authentication, ping, write, hold review) share one entry on the server's wheel: the earliest of them.
 *
 * There can be very many connections, and most of what one has is for later: queue, traffic, keepalive and deadlines of
 * writes are made when they are first used. Whoever only looks asks for `trafficSoFar`, `pendingBytes` and `rttMs`.
 */

import type { IoError, Socket, SocketHandler } from '../io/io.ts';
import type { ClosedReason, PeerError } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import type { Sink, SinkKind } from '../ports.ts';
import type { Subscription } from '../subject/subscription.ts';
import type { ConnectionHost } from './connection-host.ts';
import type { WheelEntry } from './deadline-wheel.ts';
import { Keepalive } from './keepalive.ts';
import { OutboundQueue, type QueueOwner } from './outbound-queue.ts';
import { NO_TRAFFIC, Traffic } from './statistics.ts';
import { UnsentDeadlines } from './unsent-deadlines.ts';

const CLOSE_LINGER_MS = 1000;
const HOLD_REVIEW_MS = 25;
const NEVER = Number.POSITIVE_INFINITY;

export type ConnectionState = 'open' | 'closing' | 'closed';

export abstract class Connection implements SocketHandler, Sink, QueueOwner, WheelEntry {
  abstract readonly sinkKind: SinkKind;
  readonly id: number;
  readonly socket: Socket;
  readonly startWallMs: number;
  /** Monotonic milliseconds at the start. */
  readonly connectedMs: number;
  protected readonly host: ConnectionHost;

  state: ConnectionState = 'open';
  closedReason: ClosedReason | null = null;
  stopWallMs = 0;
  /** Monotonic milliseconds of the last read and the last write. */
  lastReadMs: number;
  lastWriteMs: number;
  /** Monotonic milliseconds of the last message or change of interest: pings are no activity. */
  lastActivityMs: number;

  dueMs = 0;
  wheelSlot = -1;
  wheelNext: WheelEntry | null = null;
  wheelPrevious: WheelEntry | null = null;
  /** Messages queued when the last write that carried new ones began. */
  private messagesWritten = 0;
  /** Bytes written past the queue, before there was one, that the socket has not taken yet. */
  private directBytes = 0;
  private ownQueue: OutboundQueue | null = null;
  private ownTraffic: Traffic | null = null;
  private ownKeepalive: Keepalive | null = null;
  private unsentDeadlines: UnsentDeadlines | null = null;

  protected constructor(host: ConnectionHost, socket: Socket, id: number) {
    this.host = host;
    this.socket = socket;
    this.id = id;
    const { clock } = host.io;
    this.startWallMs = clock.wallMs();
    this.connectedMs = clock.monotonicMs();
    this.lastReadMs = this.connectedMs;
    this.lastWriteMs = this.connectedMs;
    this.lastActivityMs = this.connectedMs;
  }

  abstract deliver(subscription: Subscription, message: Message): boolean;
  abstract connected(): void;
  /** Bytes of the peer. */
  protected abstract received(buffer: Buffer, start: number, end: number): void;
  /** The connection ended, or begins to: give up subscriptions. Called once. */
  protected abstract released(): void;
  /** Deadlines of the kind of connection, in monotonic milliseconds. */
  protected abstract nextOwnDeadlineMs(): number;
  protected abstract ownDeadlinePassed(nowMs: number): void;
  /** `127.0.0.1:5511 - cid:6`: the beginning of its log lines. */
  abstract get label(): string;

  get queue(): OutboundQueue {
    return this.ownQueue ?? this.makeQueue();
  }

  get traffic(): Traffic {
    this.ownTraffic ??= new Traffic();
    return this.ownTraffic;
  }

  get trafficSoFar(): Traffic {
    return this.ownTraffic ?? NO_TRAFFIC;
  }

  get keepalive(): Keepalive {
    this.ownKeepalive ??= this.makeKeepalive();
    return this.ownKeepalive;
  }

  /** When the next ping is due; null as long as nothing says otherwise than at the start. */
  protected get pingDueMs(): number | null {
    return this.ownKeepalive === null ? null : this.ownKeepalive.dueMs;
  }

  get rttMs(): number {
    return this.ownKeepalive === null ? 0 : this.ownKeepalive.rttMs;
  }

  /** Bytes that the peer has not taken yet. */
  get pendingBytes(): number {
    return this.ownQueue === null ? this.directBytes : this.ownQueue.pendingBytes;
  }

  get isClosed(): boolean {
    return this.state !== 'open';
  }

  get isCongested(): boolean {
    return this.ownQueue !== null && this.ownQueue.isCongested;
  }

  get maxPendingBytes(): number {
    return this.host.limits.maxPendingBytes;
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    if (this.state !== 'open') return false;
    this.lastReadMs = this.host.io.clock.monotonicMs();
    this.received(buffer, start, end);
    return this.continuesReading();
  }

  /** Whether the socket may be read further after a read. */
  protected continuesReading(): boolean {
    return this.state === 'open';
  }

  written(): void {
    this.directBytes = 0;
    this.ownQueue?.written();
    if (this.state === 'closing' && this.pendingBytes === 0) this.socket.end();
  }

  ended(): void {
    this.close('Client Closed');
  }

  closed(error: IoError | null): void {
    if (this.state === 'open') this.beginClosing(error === null ? 'Client Closed' : 'Read Error');
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.host.wheel.remove(this);
    this.ownQueue?.discard();
    this.host.connectionGone(this);
  }

  /** Sends the first bytes of a connection, at once: a queue is for those that go on. */
  protected greet(bytes: Uint8Array): void {
    this.directBytes = bytes.length;
    this.socket.write([bytes]);
  }

  /** Queues protocol bytes. */
  send(bytes: Uint8Array): void {
    if (this.state === 'open') this.queue.append(bytes, 0, bytes.length);
  }

  /** Tells the peer of an error, and ends the connection if that is what the error means. */
  fail(error: PeerError): void {
    if (this.state !== 'open') return;
    const bytes = Buffer.from(`-ERR '${error.text}'\r\n`);
    if (error.closes !== null && this.ownQueue === null && this.directBytes === 0) {
      this.closeWith(bytes, error.closes);
      return;
    }
    this.send(bytes);
    if (error.closes !== null) this.close(error.closes);
  }

  /** Ends the connection after what is queued has gone out. */
  close(reason: ClosedReason): void {
    if (this.state !== 'open') return;
    this.beginClosing(reason);
    if (this.pendingBytes === 0) this.socket.end();
    else {
      this.ownQueue?.flush();
      this.linger();
    }
  }

  /** Ends a connection that needed no queue so far after these bytes: it needs none for them either. */
  private closeWith(bytes: Uint8Array, reason: ClosedReason): void {
    this.directBytes = bytes.length;
    this.beginClosing(reason);
    this.socket.write([bytes]);
    this.linger();
  }

  /** What is unsent has this long to go out. */
  private linger(): void {
    if (this.pendingBytes === 0) return;
    this.unsent.lingerMs = this.host.io.clock.monotonicMs() + CLOSE_LINGER_MS;
    this.armDeadline();
  }

  /** Ends the connection at once; what is queued is lost. */
  abort(reason: ClosedReason): void {
    if (this.state === 'open') this.beginClosing(reason);
    this.ownQueue?.stop();
    this.socket.destroy();
  }

  pendingExceeded(): void {
    if (this.state !== 'open') return;
    this.host.slowConsumer(this, `MaxPending of ${this.maxPendingBytes} Exceeded`);
    this.abort('Slow Consumer (Pending Bytes)');
  }

  writeStarts(): void {
    this.lastWriteMs = this.host.io.clock.monotonicMs();
    const { outMessages } = this.trafficSoFar;
    if (outMessages === this.messagesWritten) return;
    this.messagesWritten = outMessages;
    this.lastActivityMs = this.lastWriteMs;
  }

  writeWaits(): void {
    const due = this.lastWriteMs + this.writeLimitMs;
    this.unsent.writeMs = due;
    // Usually the wheel already holds something earlier, so a busy connection moves its entry once per deadline.
    if (this.wheelSlot < 0 || this.dueMs > due) this.host.wheel.set(this, due);
  }

  writeDone(): void {
    if (this.unsentDeadlines !== null) this.unsentDeadlines.writeMs = NEVER;
  }

  holdsBegan(): void {
    this.unsent.holdReviewMs = this.host.io.clock.monotonicMs() + HOLD_REVIEW_MS;
    this.armDeadline();
  }

  deadlinePassed(nowMs: number): void {
    const { unsentDeadlines } = this;
    if (unsentDeadlines !== null && unsentDeadlines.nextMs <= nowMs) this.unsentDeadlinePassed(unsentDeadlines, nowMs);
    if (this.state === 'open') this.ownDeadlinePassed(nowMs);
    this.armDeadline();
  }

  private unsentDeadlinePassed(unsent: UnsentDeadlines, nowMs: number): void {
    if (unsent.lingerMs <= nowMs) {
      unsent.lingerMs = NEVER;
      this.socket.destroy();
      return;
    }
    if (unsent.writeMs <= nowMs) {
      if (this.waitsFurther(nowMs)) unsent.writeMs = nowMs + this.writeLimitMs;
      else this.writeDeadlinePassed();
    }
    if (unsent.holdReviewMs <= nowMs) {
      unsent.holdReviewMs = this.queue.reviewHolds() ? nowMs + HOLD_REVIEW_MS : NEVER;
    }
  }

  /** Puts the earliest deadline on the wheel. */
  protected armDeadline(): void {
    if (this.state === 'closed') return;
    let due = this.unsentDeadlines === null ? NEVER : this.unsentDeadlines.nextMs;
    if (this.state === 'open') due = Math.min(due, this.nextOwnDeadlineMs());
    if (due < NEVER) this.host.wheel.set(this, due);
  }

  /** How long one write may take. */
  protected get writeLimitMs(): number {
    return this.host.limits.writeDeadlineMs;
  }

  /** A write takes longer than it may: whether to wait as long again instead of closing. */
  protected waitsFurther(_nowMs: number): boolean {
    return false;
  }

  private writeDeadlinePassed(): void {
    const pending = this.pendingBytes;
    this.host.slowConsumer(this, `WriteDeadline of ${this.writeLimitMs}ms exceeded with ${pending} total bytes.`);
    this.abort('Slow Consumer (Write Deadline)');
  }

  private get unsent(): UnsentDeadlines {
    this.unsentDeadlines ??= new UnsentDeadlines();
    return this.unsentDeadlines;
  }

  private makeQueue(): OutboundQueue {
    this.ownQueue = new OutboundQueue(this.host.outbound, this, this.directBytes > 0);
    return this.ownQueue;
  }

  protected makeKeepalive(): Keepalive {
    return new Keepalive();
  }

  private beginClosing(reason: ClosedReason): void {
    this.state = 'closing';
    this.closedReason = reason;
    this.stopWallMs = this.host.io.clock.wallMs();
    // The host looks at what the connection was about; then that is given up.
    this.host.connectionClosing(this, reason);
    this.released();
  }
}
