/**
 * A connection whose other end asked for WebSocket, and was taken on. Why it ends its owner knows, and so does the other
 * end then, by the status of the close frame.
 *
 * A message that inflates to more than INFLATED_FACTOR times max_payload ends the connection long before it is whole
 * (nats-server#7625); how long one is that is not compressed is the protocol's matter, which takes it as it comes.
 */

import type { Buffer } from 'node:buffer';
import type { Connection } from '../connection/connection.ts';
import type { Io, Socket, WebSocketPeer } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import { closeContent, CloseStatus } from './close-frame.ts';
import { FramedSocket } from './framed-socket.ts';
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

export class AcceptedWebSocket extends FramedSocket {
  override readonly webSocket: WebSocketPeer;
  private owner: Connection | null = null;
  private readonly inflatedBytesMax: number;
  /** Of the message that comes. */
  private inflatedBytes = 0;
  /** The inflater has been given all of it. */
  private endsMessage = false;

  constructor(socket: Socket, io: Io, { peer, deflates, masks }: Upgrade, maxPayloadBytes: number) {
    super(socket, io);
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
    if (this.inflatedBytes <= this.inflatedBytesMax) return super.inflated(buffer, start, end);
    this.break('maximum payload exceeded', CloseStatus.tooBig);
    return false;
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
