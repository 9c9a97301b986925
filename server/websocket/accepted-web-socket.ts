/**
 * A connection whose other end asked for WebSocket, and was taken on. Why it ends its owner knows, and so does the other
 * end then, by the status of the close frame.
 *
 * A message that inflates to more than INFLATED_FACTOR times max_payload ends the connection long before it is whole
 * (nats-server#7625); how long one is that is not compressed is the protocol's matter, which takes it as it comes. What is
 * inflated is handed on when it is the connection's turn: until then one piece is held, and no more is inflated.
 */

import { Buffer } from 'node:buffer';
import type { Connection } from '../connection/connection.ts';
import { HEADROOM_BYTES, type Io, type IoError, type Socket, type WebSocketPeer } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import { closeContent, CloseStatus } from './close-frame.ts';
import { FramedSocket } from './framed-socket.ts';
import type { InflationTurns, Waiting } from './inflation-turns.ts';
import type { Upgrade } from './upgrade.ts';

/** The largest payload comes with a line in front of it, and perhaps with others. */
const INFLATED_FACTOR = 2;

const STATUSES: ReadonlyMap<ClosedReason, number> = new Map<ClosedReason, number>([
  ['Client Closed', CloseStatus.normal],
  ['Authentication Timeout', CloseStatus.policyViolation],
  ['Authentication Failure', CloseStatus.policyViolation],
  ['Maximum Account Connections Exceeded', CloseStatus.policyViolation],
  ['Maximum Connections Exceeded', CloseStatus.policyViolation],
  ['Maximum Control Line Exceeded', CloseStatus.policyViolation],
  ['Maximum Subscriptions Exceeded', CloseStatus.policyViolation],
  ['Parse Error', CloseStatus.protocolError],
  ['Protocol Violation', CloseStatus.protocolError],
  ['Bad Client Protocol Version', CloseStatus.protocolError],
  ['Maximum Message Payload Exceeded', CloseStatus.tooBig],
  ['Read Error', CloseStatus.goingAway],
  ['Stale Connection', CloseStatus.goingAway],
  ['Server Shutdown', CloseStatus.goingAway],
]);

/** What an accepted connection shares with the others at its port. */
export interface AcceptedTerms {
  readonly maxPayloadBytes: number;
  readonly turns: InflationTurns;
}

export class AcceptedWebSocket extends FramedSocket implements Waiting {
  override readonly webSocket: WebSocketPeer;
  private owner: Connection | null = null;
  private readonly inflatedBytesMax: number;
  /** Of the message that comes. */
  private inflatedBytes = 0;
  /** The inflater has been given all of it. */
  private endsMessage = false;
  private readonly turns: InflationTurns;
  /** A piece that waits for its turn, behind headroom. */
  private held: Buffer | null = null;

  constructor(socket: Socket, io: Io, { peer, deflates, masks }: Upgrade, { maxPayloadBytes, turns }: AcceptedTerms) {
    super(socket, io);
    this.turns = turns;
    this.webSocket = peer;
    this.inflatedBytesMax = maxPayloadBytes * INFLATED_FACTOR;
    this.open({ deflates, masks: false, expectsMasks: masks });
  }

  /** Whose connection it is. */
  belongTo(owner: Connection, log: Log): void {
    this.owner = owner;
    this.onBroken = (failure) => {
      log.error(`${owner.label} - read error: ${failure}`);
      owner.close('Read Error');
    };
  }

  override content(buffer: Buffer, start: number, end: number, isCompressed: boolean, isLast: boolean): boolean {
    if (isCompressed) this.endsMessage = isLast;
    return super.content(buffer, start, end, isCompressed, isLast);
  }

  override inflated(buffer: Buffer, start: number, end: number): boolean {
    this.inflatedBytes += end - start;
    if (this.inflatedBytes > this.inflatedBytesMax) {
      this.break('maximum payload exceeded', CloseStatus.tooBig);
      return false;
    }
    if (this.turns.take(end - start)) return super.inflated(buffer, start, end);
    this.held = Buffer.allocUnsafe(HEADROOM_BYTES + end - start);
    buffer.copy(this.held, HEADROOM_BYTES, start, end);
    this.turns.wait(this);
    return false;
  }

  get heldBytes(): number {
    return this.held === null ? 0 : this.held.length - HEADROOM_BYTES;
  }

  turnCame(): void {
    const { held } = this;
    this.held = null;
    if (held !== null && super.inflated(held, HEADROOM_BYTES, held.length)) super.resume();
  }

  override resume(): void {
    // What is held comes first, and then goes on by itself.
    if (this.held === null) super.resume();
  }

  override destroy(): void {
    this.letGo();
    super.destroy();
  }

  override closed(error: IoError | null): void {
    this.letGo();
    super.closed(error);
  }

  private letGo(): void {
    this.held = null;
    this.turns.leave(this);
  }

  override taken(): void {
    if (this.endsMessage) this.inflatedBytes = 0;
    super.taken();
  }

  protected override farewell(): Buffer {
    const reason = this.owner?.closedReason ?? 'Client Closed';
    return closeContent(STATUSES.get(reason) ?? CloseStatus.internalError, reason);
  }
}
