/**
 * One direction of a connection, with what the kernels at both ends and the link between them do to bytes.
 *
 *     write(pieces) ─► send buffer ─► in flight ─► receive buffer ─► read()
 *           ▲                        (a link)            │
 *           └──── feedback: what arrived, what was read ─┘ (the link back)
 *
 * The receive buffer is the window: no more is in flight or unread than fits into it, as far as the sender knows. The
 * send buffer holds what the peer's kernel has not confirmed. Without one (0 bytes) the sender's own memory is read as
 * late as possible, on arrival, so that whoever changes it before the write is taken sees the damage.
 *
 * Controls (opening, the end, a reset) travel in line with the bytes. What finds its link cut waits; the sender gives
 * up after some 15 minutes, a dial after two.
 */

import { strict as assert } from 'node:assert';
import { ByteQueue } from './byte-queue.ts';
import type { Link } from './link.ts';
import type { Scheduler } from './scheduler.ts';

const GIVE_UP_US = 924_600_000;
const GIVE_UP_DIALLING_US = 127_000_000;

export type Control = 'open' | 'refuse' | 'end' | 'reset';

/** The end at which bytes leave. */
export interface PipeSender {
  /** The last write was wholly taken, later than at once. */
  writeTaken(): void;
  /** Nothing has been confirmed for too long. */
  gaveUp(): void;
}

/** The end at which bytes arrive. */
export interface PipeReceiver {
  bytesArrived(): void;
  controlArrived(control: Control): void;
  /** Something came for a receiver that is no more. */
  unwantedArrived(): void;
}

export interface BufferSizes {
  readonly sendBytes: number;
  readonly receiveBytes: number;
}

interface Segment {
  readonly arriveUs: number;
  readonly control: Control | null;
  readonly bytes: Uint8Array | null;
}

export class StreamPipe {
  private readonly scheduler: Scheduler;
  private readonly link: Link;
  private readonly linkBack: Link;
  private readonly buffers: BufferSizes;
  private readonly sender: PipeSender;
  private readonly receiver: PipeReceiver;

  private isOpen = false;
  private isFinishing = false;
  /** No bytes are sent any more: the end or a reset is on its way. */
  private isFinished = false;
  private isReset = false;
  private receiverGone = false;

  /** The write that is under way. */
  private readonly untaken = new ByteQueue();
  private isWriting = false;
  private readonly sendBuffer = new ByteQueue();
  private readonly inFlight: Segment[] = [];
  private readonly receiveBuffer = new ByteQueue();

  /** Totals since the beginning. */
  private taken = 0;
  private transmitted = 0;
  private arrived = 0;
  private consumed = 0;
  private knownArrived = 0;
  private knownConsumed = 0;

  private lastArrivalUs = 0;
  private arrivalScheduled = false;
  private isStalled = false;
  private feedbackUnderway = false;

  constructor(
    scheduler: Scheduler,
    links: { readonly there: Link; readonly back: Link },
    buffers: BufferSizes,
    sender: PipeSender,
    receiver: PipeReceiver,
  ) {
    this.scheduler = scheduler;
    this.link = links.there;
    this.linkBack = links.back;
    this.buffers = buffers;
    this.sender = sender;
    this.receiver = receiver;
  }

  // ── the sending end ──────────────────────────────────────────────────────────────────────────────────────────────

  /** Sends `control` in line with the bytes. */
  sendControl(control: Control): void {
    if (this.isFinished) return;
    if (control === 'end') this.isFinished = true;
    this.launch(control, null);
  }

  /** Sends a reset, also after the end, once; what waits is not sent any more. */
  sendReset(): void {
    if (this.isReset) return;
    this.isReset = true;
    this.isFinished = true;
    this.untaken.clear();
    this.sendBuffer.clear();
    this.launch('reset', null);
  }

  /** Bytes may go: the connection stands. */
  open(): void {
    this.isOpen = true;
    this.pump();
  }

  /** Sends the pieces after what was sent before; whether they were taken at once. */
  write(pieces: readonly Uint8Array[]): boolean {
    assert(!this.isWriting, 'the write before has been taken');
    for (const each of pieces) this.untaken.push(each);
    this.isWriting = true;
    this.pump();
    if (this.isWriting && this.isTaken) this.isWriting = false;
    return !this.isWriting;
  }

  get hasWriteUnderWay(): boolean {
    return this.isWriting;
  }

  /** The end follows what was taken. */
  finish(): void {
    this.isFinishing = true;
    this.pump();
  }

  /** The memory of the write under way is no longer to be touched; what was not taken is not sent. */
  dropUntaken(): void {
    this.untaken.clear();
    this.isWriting = false;
    if (this.buffers.sendBytes > 0) return;
    const kept = this.inFlight.filter((each) => each.bytes === null);
    this.inFlight.splice(0, this.inFlight.length, ...kept);
  }

  /** The sender's machine is without power: only what has left it may still arrive. */
  vanish(): void {
    this.dropUntaken();
    this.isFinished = true;
    this.sendBuffer.clear();
    if (this.isStalled) this.inFlight.length = 0;
  }

  // ── the receiving end ────────────────────────────────────────────────────────────────────────────────────────────

  get unreadBytes(): number {
    return this.receiveBuffer.length;
  }

  /** Moves up to `bytesMax` arrived bytes to `target[at]`; how many these were. */
  read(target: Uint8Array, at: number, bytesMax: number): number {
    const read = this.receiveBuffer.read(target, at, bytesMax);
    this.consumed += read;
    this.sendFeedback();
    return read;
  }

  /** Nobody reads any more. */
  abandon(): void {
    this.receiverGone = true;
    this.receiveBuffer.clear();
  }

  // ── between them ─────────────────────────────────────────────────────────────────────────────────────────────────

  private get isTaken(): boolean {
    if (this.untaken.length > 0) return false;
    return this.buffers.sendBytes > 0 || this.knownArrived === this.transmitted;
  }

  /** Moves on what can move. */
  private pump(): void {
    if (this.isFinished || !this.isOpen) return;
    if (this.buffers.sendBytes > 0) this.fillSendBuffer();
    const source = this.buffers.sendBytes > 0 ? this.sendBuffer : this.untaken;
    for (;;) {
      const room = this.buffers.receiveBytes - (this.transmitted - this.knownConsumed);
      const bytes = source.shift(room);
      if (bytes === null) break;
      this.transmitted += bytes.length;
      this.launch(null, bytes);
    }
    if (this.isFinishing && source.length === 0) this.sendControl('end');
  }

  private fillSendBuffer(): void {
    for (;;) {
      const bytes = this.untaken.shift(this.buffers.sendBytes - (this.taken - this.knownArrived));
      if (bytes === null) return;
      this.taken += bytes.length;
      this.sendBuffer.push(Uint8Array.from(bytes));
    }
  }

  private launch(control: Control | null, bytes: Uint8Array | null): void {
    const arriveUs = Math.max(this.lastArrivalUs, this.link.arrivalUs());
    this.lastArrivalUs = arriveUs;
    this.inFlight.push({ arriveUs, control, bytes });
    this.scheduleArrival();
  }

  private scheduleArrival(): void {
    const [first] = this.inFlight;
    if (first === undefined || this.arrivalScheduled || this.isStalled) return;
    this.arrivalScheduled = true;
    this.scheduler.at(first.arriveUs, null, 'arrival', () => {
      this.arrivalScheduled = false;
      if (this.link.isCut) this.stall(first.control === 'open');
      else this.deliver();
      this.scheduleArrival();
    });
  }

  /** What should have arrived was lost: it is sent again when the link is whole. */
  private stall(isDialling: boolean): void {
    this.isStalled = true;
    const patienceUs = isDialling ? GIVE_UP_DIALLING_US : GIVE_UP_US;
    const givingUp = this.scheduler.after(patienceUs, null, 'give up', () => this.sender.gaveUp());
    this.link.whenWhole(() => {
      givingUp.cancel();
      this.isStalled = false;
      this.scheduleArrival();
    });
  }

  private deliver(): void {
    const { inFlight, scheduler, receiver } = this;
    while (inFlight.length > 0 && (inFlight[0] as Segment).arriveUs <= scheduler.nowUs) {
      const { control, bytes } = inFlight.shift() as Segment;
      if (bytes !== null) this.arrived += bytes.length;
      if (this.receiverGone) {
        if (control !== 'reset') receiver.unwantedArrived();
        continue;
      }
      if (control !== null) receiver.controlArrived(control);
      if (bytes === null) continue;
      this.receiveBuffer.push(this.buffers.sendBytes > 0 ? bytes : Uint8Array.from(bytes));
      assert(this.receiveBuffer.length <= this.buffers.receiveBytes, 'the receive buffer holds what was sent');
      receiver.bytesArrived();
      this.sendFeedback();
    }
  }

  private sendFeedback(): void {
    if (this.feedbackUnderway) return;
    this.feedbackUnderway = true;
    const { arrived, consumed } = this;
    this.scheduler.at(this.linkBack.arrivalUs(), null, 'feedback', () => this.takeFeedback(arrived, consumed));
  }

  private takeFeedback(arrived: number, consumed: number): void {
    if (this.linkBack.isCut) {
      this.linkBack.whenWhole(() => this.takeFeedback(arrived, consumed));
      return;
    }
    this.feedbackUnderway = false;
    this.knownArrived = arrived;
    this.knownConsumed = consumed;
    this.pump();
    if (this.isWriting && this.isTaken) {
      this.isWriting = false;
      this.sender.writeTaken();
    }
    if (this.arrived > arrived || this.consumed > consumed) this.sendFeedback();
  }
}
