/**
 * Somebody who has connected to the WebSocket port and has to ask for it yet.
 *
 *     accepted ──[TLS]──► reads the request ──yes──► 101 goes out ──► open: the connection it becomes has the socket
 *                              │ no                 (not read meanwhile)
 *                              └──────────► refusal goes out ──► closed
 *
 * All of it has to be done within one deadline. Of what comes before the answer only the request counts: whoever sends more
 * has not waited for it, and is closed without a word.
 */

import { Buffer } from 'node:buffer';
import type { WheelEntry } from '../connection/deadline-wheel.ts';
import { hostPort } from '../connection/listen-failure.ts';
import type { Entrant } from '../connection/tls-entrance.ts';
import type { IoError, Socket, SocketHandler } from '../io/io.ts';
import { RequestHead } from './request-head.ts';
import { faultText, type Refusal, refusalText, type Upgrade } from './upgrade.ts';

export interface ArrivalDesk {
  /** What the request comes to. */
  decide(head: RequestHead, arrival: Arrival): Upgrade | Refusal;
  /** So many bytes more are kept for those who have not asked in full; it may go over that. */
  keeps(arrival: Arrival, bytes: number): void;
  refused(arrival: Arrival, fault: string): void;
  /** Speaks WebSocket on the socket from now on; the answer hears everything about it. Null: nobody does. */
  serve(socket: Socket, upgrade: Upgrade): SocketHandler | null;
  /** It waits no longer, however that came. */
  left(arrival: Arrival): void;
}

export class Arrival implements SocketHandler, Entrant, WheelEntry {
  dueMs = 0;
  wheelSlot = -1;
  wheelNext: WheelEntry | null = null;
  wheelPrevious: WheelEntry | null = null;
  isTlsFirst = false;
  isClosed = false;
  readonly socket: Socket;
  private readonly desk: ArrivalDesk;
  private head: RequestHead | null = new RequestHead();
  private upgrade: Upgrade | null = null;
  /** Whose socket it is by now. */
  private owner: SocketHandler | null = null;
  private isLeaving = false;
  /** What the owner wrote has been taken, before it was known here. */
  private isWrittenUntold = false;

  constructor(socket: Socket, desk: ArrivalDesk) {
    this.socket = socket;
    this.desk = desk;
  }

  get label(): string {
    return hostPort(this.socket.remote);
  }

  get keptBytes(): number {
    return this.head?.keptBytes ?? 0;
  }

  /** Nothing is said before the request. */
  greetClient(): void {}

  entered(): void {}

  fail(): void {
    this.abort();
  }

  abort(): void {
    this.leave();
    this.socket.destroy();
  }

  /** It took too long. */
  deadlinePassed(): void {
    this.abort();
  }

  connected(): void {}

  data(buffer: Buffer, start: number, end: number): boolean {
    if (this.owner !== null) return this.owner.data(buffer, start, end);
    const { head, desk } = this;
    if (head === null || this.isClosed) return false;
    const before = head.keptBytes;
    const at = head.read(buffer, start, end);
    desk.keeps(this, head.keptBytes - before);
    if (head.fault !== null) this.say(faultText(head.fault));
    else if (head.isComplete && at < end) {
      desk.refused(this, 'client sent data before handshake is complete');
      this.abort();
    } else if (head.isComplete) this.answer(desk.decide(head, this));
    else return !this.isClosed;
    // What was opened inside goes on being read; otherwise reading goes on when it is.
    return this.owner !== null;
  }

  private answer(decision: Upgrade | Refusal): void {
    if ('fault' in decision) {
      this.desk.refused(this, decision.fault);
      this.say(refusalText(decision));
      return;
    }
    this.upgrade = decision;
    this.say(decision.answer);
  }

  /** The last word before the socket is somebody else's, or nobody's. */
  private say(text: string): void {
    this.head = null;
    this.isLeaving = true;
    this.socket.write([Buffer.from(text, 'latin1')]);
  }

  written(): void {
    const { upgrade, owner } = this;
    if (owner !== null) owner.written();
    else if (this.isClosed) this.isWrittenUntold = true;
    else if (upgrade !== null) this.handOver(upgrade);
    else if (this.isLeaving) this.socket.end();
  }

  private handOver(upgrade: Upgrade): void {
    this.upgrade = null;
    this.leave();
    this.owner = this.desk.serve(this.socket, upgrade);
    if (this.owner === null) this.socket.destroy();
    else {
      if (this.isWrittenUntold) this.owner.written();
      this.socket.resume();
    }
  }

  ended(): void {
    if (this.owner !== null) this.owner.ended();
    else this.abort();
  }

  closed(error: IoError | null): void {
    this.leave();
    this.owner?.closed(error);
  }

  private leave(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.desk.left(this);
  }
}
