/**
 * The way in for clients where TLS is configured: what happens between accept and the first byte of the protocol.
 *
 *     accepted ─┬─ handshake first ───────────────────────────────► handshake ─► INFO, encrypted
 *               ├─ handshake first, with a delay: bytes within it ─► handshake ─► INFO, encrypted
 *               │                                 none ──┐
 *               └─ INFO in clear ◄───────────────────────┘
 *                    ├─ TLS required ─────────────────────────────► handshake
 *                    └─ allow_non_tls: first byte 0x16 ───────────► handshake;   any other ─► in clear
 *
 * Whoever has not finished the handshake after its timeout is closed without a word. Bounds: how many handshakes go on at
 * a time, and what part of the thread is theirs, is the queue's matter (`handshake-queue.ts`); `connection_rate_limit`
 * handshakes begin within a second, and others are told so.
 */

import type { TlsOptions } from '../config/transport-options.ts';
import type { Io, IoError, TlsContext, UndecidedSocket } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import { type ClosedReason, type PeerError, PeerErrors } from '../protocol/errors.ts';
import type { DeadlineWheel, WheelEntry } from './deadline-wheel.ts';
import { type HandshakeFailure, handshakeFailure } from './handshake-failure.ts';
import { type Handshake, HandshakeQueue } from './handshake-queue.ts';
import { isPinned } from './pinned-keys.ts';

/** The first byte of a TLS record that begins a handshake. */
const HANDSHAKE_BYTE = 0x16;
const RATE_WINDOW_MS = 1_000;

const HANDSHAKE_FAILED: ClosedReason = 'TLS Handshake Failure';

/** Whoever comes in: a client, or a leaf. */
export interface Entrant {
  readonly isClosed: boolean;
  readonly label: string;
  /** Nothing was said in clear before the handshake. */
  isTlsFirst: boolean;
  greetClient(): void;
  /** What it sends is the protocol from now on. */
  entered(): void;
  fail(error: PeerError): void;
  abort(reason: ClosedReason): void;
}

export interface EntranceHost {
  readonly io: Io;
  readonly log: Log;
  readonly wheel: DeadlineWheel;
}

/** What holds for those that come in now; a reload makes another. */
export interface EntrancePlan {
  readonly options: TlsOptions;
  readonly context: TlsContext;
  readonly allowsNonTls: boolean;
}

export class TlsEntrances {
  readonly host: EntranceHost;
  plan: EntrancePlan;
  readonly queue: HandshakeQueue;
  private windowEndMs = 0;
  private begunInWindow = 0;

  /** What the log calls the handshake. */
  readonly kind: 'client' | 'leafnode';

  constructor(host: EntranceHost, plan: EntrancePlan, kind: 'client' | 'leafnode' = 'client') {
    this.host = host;
    this.plan = plan;
    this.queue = new HandshakeQueue(host.io);
    this.kind = kind;
  }

  /** Takes a connection through; it is a client like any other afterwards. */
  enter(client: Entrant, socket: UndecidedSocket): void {
    new TlsEntrance(this, this.plan, client, socket).begin();
  }

  /** Whether another handshake may begin within this second. */
  allows(limit: number): boolean {
    if (limit === 0) return true;
    const now = this.host.io.clock.monotonicMs();
    if (now > this.windowEndMs) {
      this.begunInWindow = 0;
      this.windowEndMs = now + RATE_WINDOW_MS;
    } else this.begunInWindow++;
    return this.begunInWindow < limit;
  }
}

/** `first`: for a first byte, before INFO. `sniff`: for one after it. `handshake`: for its end. `over`: for nothing. */
type Awaited = 'first' | 'sniff' | 'handshake' | 'over';

class TlsEntrance implements WheelEntry, Handshake {
  dueMs = 0;
  wheelSlot = -1;
  wheelNext: WheelEntry | null = null;
  wheelPrevious: WheelEntry | null = null;
  private readonly all: TlsEntrances;
  private readonly plan: EntrancePlan;
  private readonly client: Entrant;
  private readonly socket: UndecidedSocket;
  private isGreeted = false;
  /** What the queue is to go on with; null: nothing yet. */
  private goesOn: (() => void) | null = null;
  private awaited: Awaited = 'over';

  constructor(all: TlsEntrances, plan: EntrancePlan, client: Entrant, socket: UndecidedSocket) {
    this.all = all;
    this.plan = plan;
    this.client = client;
    this.socket = socket;
  }

  get isOver(): boolean {
    return this.client.isClosed;
  }

  begin(): void {
    const { isHandshakeFirst, fallbackDelayMs } = this.plan.options;
    if (!isHandshakeFirst) this.greetInClear();
    else if (fallbackDelayMs === 0) this.secure();
    else {
      this.await('first', fallbackDelayMs);
      this.peek();
    }
  }

  deadlinePassed(): void {
    if (this.isOver) return;
    if (this.awaited === 'first') this.greetInClear();
    // It says nothing, as clients without TLS may that wait for something.
    else if (this.awaited === 'sniff') this.enterInClear();
    else {
      this.debug('TLS handshake timeout');
      this.end();
      this.client.abort(HANDSHAKE_FAILED);
    }
  }

  private peek(): void {
    this.socket.peek((byte) => {
      if (this.isOver) return;
      if (this.awaited === 'first' || (this.awaited === 'sniff' && byte === HANDSHAKE_BYTE)) this.secure();
      else if (this.awaited === 'sniff') this.enterInClear();
    });
  }

  private greetInClear(): void {
    const { plan } = this;
    this.isGreeted = true;
    this.client.greetClient();
    if (!plan.allowsNonTls) {
      this.secure();
      return;
    }
    const isPeeking = this.awaited === 'first';
    this.await('sniff', plan.options.timeoutMs);
    if (!isPeeking) this.peek();
  }

  private enterInClear(): void {
    this.end();
    this.socket.readInClear();
    this.client.entered();
  }

  private secure(): void {
    const { options } = this.plan;
    if (this.all.allows(options.connectionRateLimit)) {
      this.await('handshake', options.timeoutMs);
      this.shake();
    } else {
      this.end();
      this.client.fail(PeerErrors.throttled);
    }
  }

  private shake(): void {
    this.debug(`Starting TLS ${this.all.kind === 'client' ? 'client connection' : 'leafnode server'} handshake`);
    const leave = (goOn: () => void): void => {
      if (this.awaited !== 'handshake') return;
      this.goesOn = goOn;
      this.all.queue.add(this);
    };
    this.socket.shakeHands(this.plan.context, leave, (error) => this.shaken(error));
  }

  goOn(): void {
    this.goesOn?.();
  }

  giveUp(): void {
    this.debug('TLS handshake given up, others wait');
    this.goesOn = null;
    this.end();
    this.client.abort(HANDSHAKE_FAILED);
  }

  private shaken(error: IoError | null): void {
    if (this.awaited !== 'handshake') return;
    this.end();
    const { client } = this;
    if (client.isClosed) return;
    const peer = this.socket.tls ?? null;
    if (error !== null || peer === null) this.failed(handshakeFailure(error, peer));
    else if (!isPinned(peer, this.plan.options.pinnedKeys))
      this.failed({ text: 'certificate not pinned', isProbe: false });
    else {
      client.isTlsFirst = !this.isGreeted;
      if (client.isTlsFirst) client.greetClient();
      client.entered();
      this.debug('TLS handshake complete');
      this.debug(`TLS version ${peer.version}, cipher suite ${peer.cipher}`);
    }
  }

  private failed({ text, isProbe }: HandshakeFailure): void {
    const line = `TLS ${this.all.kind === 'client' ? '' : 'leafnode '}handshake error: ${text}`;
    if (isProbe) this.debug(line);
    else this.all.host.log.error(`${this.client.label} - ${line}`);
    this.client.abort(HANDSHAKE_FAILED);
  }

  private await(what: Awaited, delayMs: number): void {
    const { io, wheel } = this.all.host;
    this.awaited = what;
    wheel.set(this, io.clock.monotonicMs() + delayMs);
  }

  /** Awaits nothing any more. */
  private end(): void {
    this.awaited = 'over';
    this.all.host.wheel.remove(this);
    if (this.goesOn === null) return;
    this.goesOn = null;
    this.all.queue.ended(this);
  }

  private debug(text: string): void {
    const { log } = this.all.host;
    if (log.debugEnabled) log.debug(`${this.client.label} - ${text}`);
  }
}
