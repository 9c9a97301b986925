/**
 * Flow control of a push consumer on the wire: requests to the receiver, told apart by a random end of their reply
 * subject, and its answers to the newest of them. An answer may say up to where the receiver is done, which is an
 * acknowledgement where the consumer takes it for one; then requests are made also when too much is unacknowledged.
 *
 *     NATS/1.0 100 FlowControl Request      reply $JS.FC.<stream>.<consumer>.<id>
 */

import { Buffer } from 'node:buffer';
import { CallbackSink } from './consumer-sinks.ts';
import type { DeliveryHost } from './delivery.ts';
import { FlowWindow } from './flow-window.ts';
import type { Message } from '../../server/protocol/message.ts';
import { sendStatus } from './push-status.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 4;

/** What flow control needs of its consumer. */
export interface FlowHost extends DeliveryHost {
  /** Too much is unacknowledged for new messages. */
  readonly isFull: boolean;
  /** The receiver is done with all messages up to these sequences. */
  acknowledgeUpTo(consumerSequence: number, streamSequence: number): void;
}

export class PushFlow {
  /** The reply subject of the open request; '' without one. */
  openRequest = '';
  private readonly host: FlowHost;
  private readonly window = new FlowWindow();
  private readonly prefix: string;

  constructor(host: FlowHost) {
    this.host = host;
    this.prefix = `$JS.FC.${host.stream.name}.${host.name}.`;
  }

  start(): void {
    const answers = new CallbackSink((message) => this.answered(message));
    this.host.subscribe(answers, `${this.prefix}*`);
  }

  get isFull(): boolean {
    return this.window.isFull;
  }

  /** A message of `bytes` went to `subject`. */
  sent(bytes: number, subject: Buffer): void {
    if (this.window.sent(bytes) || (this.acknowledges && this.host.isFull)) this.request(subject);
  }

  /** The last messages are not acknowledged yet, and none follow that would make the receiver say so. */
  askForRest(subject: Buffer): void {
    if (this.acknowledges && this.host.state.pending.size > 0) this.request(subject);
  }

  private get acknowledges(): boolean {
    return this.host.config.ackPolicy === 'flow_control';
  }

  private request(subject: Buffer): void {
    if (this.openRequest !== '') return;
    const { account, host } = this.host.stream;
    this.openRequest = this.prefix;
    for (let i = 0; i < ID_LENGTH; i++) {
      this.openRequest += BASE62[Math.floor(host.io.random.fraction() * BASE62.length)];
    }
    this.window.requested();
    sendStatus(account, subject, '100 FlowControl Request\r\n', Buffer.from(this.openRequest, 'latin1'));
  }

  private answered(message: Message): void {
    if (message.subjectText() !== this.openRequest) return;
    this.openRequest = '';
    this.window.answered();
    if (this.acknowledges) this.acknowledge(message);
    this.host.wake();
  }

  private acknowledge({ body, bodyStart, payloadStart }: Message): void {
    const headers = body.toString('latin1', bodyStart, payloadStart);
    const streamSequence = numberIn(headers, 'Nats-Last-Stream');
    if (streamSequence > 0) this.host.acknowledgeUpTo(numberIn(headers, 'Nats-Last-Consumer'), streamSequence);
  }
}

/** The number in the header; 0: there is none. */
function numberIn(headers: string, name: string): number {
  const found = new RegExp(`\\r\\n${name}: *(\\d{1,15})\\r\\n`).exec(headers);
  return found === null ? 0 : Number(found[1]);
}
