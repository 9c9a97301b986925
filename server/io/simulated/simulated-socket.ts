/**
 * One end of a simulated connection: what a process owns and what the kernel does for it.
 *
 *     dialling ──'open' arrives──► open ──end(): all taken──► shut ──told──► gone
 *        │ refused, gave up          │ destroy(), reset, gave up ─► shut
 *        └───────────────────────────┴──► the process dies: the kernel closes for it, nobody is told
 *
 * What the owner is told comes one thing at a time, in an order that a host could produce too: first the connection,
 * then bytes and taken writes in any order, then the end, at last that it is gone. As on a host, a stopped socket
 * notices neither the peer's end nor a reset until it goes on or writes, and closing with bytes unread resets the
 * connection.
 *
 * Bytes are handed over in the one read buffer of all sockets of the world, in pieces that the seed decides, and are
 * overwritten with 0xDD when the owner returns, the scratch space in front of them too.
 */

import { crc32 } from 'node:zlib';
import { type Address, HEADROOM_BYTES, type IoError, type Socket, type SocketHandler } from '../io.ts';
import type { EventOwner } from './event-queue.ts';
import { READ_BYTES, ReadSizes } from './read-sizes.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Control, PipeReceiver, PipeSender, StreamPipe } from './stream-pipe.ts';
import { SystemError } from './system-error.ts';

const DEAD_BYTE = 0xdd;
/** A process comes to a socket at once or some of these later. */
const WAKE_STEP_US = 20;
const WAKE_STEPS_MAX = 5;

/** What all sockets of a world share. */
export interface SocketWorld {
  readonly scheduler: Scheduler;
  readonly readBuffer: Buffer;
  /** The largest piece in which a connection's bytes come at first; `null` lets the seed choose for each. */
  readonly largestPiece: number | null;
  socketGone(socket: SimulatedSocket): void;
}

export function makeReadBuffer(): Buffer {
  return Buffer.alloc(HEADROOM_BYTES + READ_BYTES, DEAD_BYTE);
}

export class SimulatedSocket implements Socket, PipeSender, PipeReceiver {
  readonly id: number;
  readonly local: Address;
  readonly remote: Address;
  /** Called when a dial arrives at this end, which nobody owns yet. */
  onOpened: (() => void) | null = null;
  private readonly world: SocketWorld;
  private readonly random: SeededRandom;
  private readonly readSizes: ReadSizes;
  private outgoing!: StreamPipe;
  private incoming!: StreamPipe;
  private owner: EventOwner | null = null;
  private handler: SocketHandler | null = null;

  private wakeScheduled = false;
  private isDialling = false;
  private isReading = true;
  private isEnding = false;
  private isShut = false;
  private isTold = false;
  private endArrived = false;
  private endTold = false;
  private resetArrived = false;
  private connectedUntold = false;
  private writtenUntold = false;
  private error: IoError | null = null;

  constructor(world: SocketWorld, random: SeededRandom, id: number, local: Address, remote: Address) {
    this.world = world;
    this.random = random;
    this.readSizes = new ReadSizes(random, world.largestPiece);
    this.id = id;
    this.local = local;
    this.remote = remote;
  }

  /** Joins the two directions on; once, before anything else. */
  join(outgoing: StreamPipe, incoming: StreamPipe): void {
    this.outgoing = outgoing;
    this.incoming = incoming;
  }

  /** Whose it is: it goes with its owner. */
  own(owner: EventOwner): void {
    this.owner = owner;
  }

  /** Who hears of it from now on. */
  attach(handler: SocketHandler): void {
    this.handler = handler;
    this.wake();
  }

  /** Whether bytes and calls still lead anywhere. */
  get isLive(): boolean {
    return !this.isTold;
  }

  belongsTo(owner: EventOwner): boolean {
    return this.owner === owner;
  }

  // ── what the owner calls ─────────────────────────────────────────────────────────────────────────────────────────

  write(pieces: readonly Uint8Array[]): void {
    if (this.isShut || this.isEnding) return;
    if (this.resetArrived) {
      this.fail(new SystemError('EPIPE', 'write'));
      return;
    }
    if (!this.outgoing.write(pieces)) return;
    // The system took it at once. Whether the owner hears of it inside its call is left open, so both happen.
    if (this.handler !== null && this.random.chance(0.25)) this.handler.written();
    else this.writeTaken();
  }

  resume(): void {
    if (this.isReading || this.isShut) return;
    this.isReading = true;
    this.wake();
  }

  end(): void {
    if (this.isShut || this.isEnding) return;
    this.isEnding = true;
    this.shutWhenTaken();
  }

  destroy(): void {
    if (this.isShut) return;
    this.outgoing.dropUntaken();
    this.shut();
  }

  /** Closes the sending side only, as some other programs do; petiole does not. */
  halfClose(): void {
    this.outgoing.finish();
  }

  // ── what befalls it ──────────────────────────────────────────────────────────────────────────────────────────────

  /** The connection breaks, for this end. */
  fail(error: IoError): void {
    if (this.isShut) return;
    this.error = error;
    this.isShut = true;
    this.outgoing.dropUntaken();
    this.outgoing.sendReset();
    this.incoming.abandon();
    this.wake();
  }

  /** The process is gone: its kernel closes the socket. */
  orphan(): void {
    this.handler = null;
    this.destroy();
    this.forget();
  }

  /** The machine is without power: nothing is sent any more, not even that. */
  vanish(): void {
    this.handler = null;
    this.isShut = true;
    this.outgoing.vanish();
    this.incoming.abandon();
    this.forget();
  }

  writeTaken(): void {
    this.writtenUntold = true;
    this.wake();
  }

  gaveUp(): void {
    this.fail(new SystemError('ETIMEDOUT', this.isDialling ? 'connect' : 'read'));
  }

  bytesArrived(): void {
    this.wake();
  }

  controlArrived(control: Control): void {
    switch (control) {
      case 'open':
        this.opened();
        break;
      case 'refuse':
        this.fail(new SystemError('ECONNREFUSED', `connect ${this.remote.host}:${this.remote.port}`));
        break;
      case 'end':
        this.endArrived = true;
        this.wake();
        break;
      case 'reset':
        this.resetArrived = true;
        // Who waits to write hears of it even when not reading.
        if (this.outgoing.hasWriteUnderWay) this.fail(new SystemError('ECONNRESET', 'write'));
        else this.wake();
        break;
      default:
        control satisfies never;
    }
  }

  unwantedArrived(): void {
    this.outgoing.sendReset();
  }

  // ── what the network does with it ────────────────────────────────────────────────────────────────────────────────

  /** This end has dialled, and hears of the outcome. */
  dial(): void {
    this.isDialling = true;
    this.outgoing.sendControl('open');
  }

  /** The kernel at the dialled end takes the connection. */
  admit(owner: EventOwner): void {
    this.own(owner);
    this.outgoing.sendControl('open');
    this.outgoing.open();
  }

  /** The kernel at the dialled end does not take the connection, or takes it back. */
  refuse(control: 'refuse' | 'reset'): void {
    if (control === 'reset') this.outgoing.sendReset();
    else this.outgoing.sendControl(control);
    this.isShut = true;
    this.incoming.abandon();
    this.forget();
  }

  // ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────────

  private opened(): void {
    if (this.onOpened !== null) {
      this.onOpened();
      return;
    }
    this.isDialling = false;
    this.connectedUntold = true;
    this.outgoing.open();
    this.wake();
  }

  private shutWhenTaken(): void {
    if (this.isEnding && !this.isShut && !this.outgoing.hasWriteUnderWay && !this.writtenUntold) this.shut();
  }

  /** The kernel closes: in order, or with a reset when something was not read. */
  private shut(): void {
    this.isShut = true;
    if (this.incoming.unreadBytes > 0) this.outgoing.sendReset();
    else this.outgoing.finish();
    this.incoming.abandon();
    this.wake();
  }

  private forget(): void {
    if (this.isTold) return;
    this.isTold = true;
    this.world.socketGone(this);
  }

  private wake(): void {
    if (this.wakeScheduled || this.handler === null || this.isTold || !this.hasSomethingToTell) return;
    this.wakeScheduled = true;
    const steps = this.random.chance(0.5) ? 0 : this.random.between(1, WAKE_STEPS_MAX);
    this.world.scheduler.after(steps * WAKE_STEP_US, this.owner, 'socket', () => {
      this.wakeScheduled = false;
      if (this.handler !== null) this.tell(this.handler);
      this.wake();
    });
  }

  private get hasSomethingToTell(): boolean {
    if (this.isShut || this.connectedUntold || this.writtenUntold) return true;
    if (!this.isReading) return false;
    return this.incoming.unreadBytes > 0 || this.resetArrived || (this.endArrived && !this.endTold);
  }

  /** Tells the owner the next thing. */
  private tell(handler: SocketHandler): void {
    const mayRead = this.isReading && this.incoming.unreadBytes > 0;
    if (this.isShut) this.tellClosed(handler);
    else if (this.connectedUntold) {
      this.connectedUntold = false;
      this.record('connected');
      handler.connected();
    } else if (this.writtenUntold && (!mayRead || this.random.chance(0.5))) {
      this.writtenUntold = false;
      this.record('written');
      handler.written();
      this.shutWhenTaken();
    } else if (mayRead) this.tellBytes(handler);
    else if (!this.isReading) return;
    else if (this.resetArrived) this.fail(new SystemError('ECONNRESET', 'read'));
    else if (this.endArrived && !this.endTold) {
      this.endTold = true;
      this.record('ended');
      handler.ended();
    }
  }

  private tellClosed(handler: SocketHandler): void {
    this.record(`closed ${this.error?.code ?? 'in order'}`);
    this.handler = null;
    this.forget();
    handler.closed(this.error);
  }

  private tellBytes(handler: SocketHandler): void {
    const { readBuffer } = this.world;
    const read = this.incoming.read(readBuffer, HEADROOM_BYTES, this.readSizes.next());
    const end = HEADROOM_BYTES + read;
    this.record(`read ${read}`, crc32(readBuffer.subarray(HEADROOM_BYTES, end)));
    const goesOn = handler.data(readBuffer, HEADROOM_BYTES, end);
    readBuffer.fill(DEAD_BYTE, 0, end);
    if (!goesOn) this.isReading = false;
  }

  private record(what: string, checksum = 0): void {
    const { scheduler } = this.world;
    scheduler.trace.record(scheduler.nowUs, `socket ${this.id} ${what}`, checksum);
  }
}
