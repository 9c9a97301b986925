/**
 * Flow control of a push consumer on the wire: requests to the receiver, told apart by a random end of their reply
 * subject, and its answers to the newest of them.
 *
 *     NATS/1.0 100 FlowControl Request      reply $JS.FC.<stream>.<consumer>.<id>
 */

import { Buffer } from 'node:buffer';
import { CallbackSink } from './consumer-sinks.ts';
import type { DeliveryHost } from './delivery.ts';
import { FlowWindow } from './flow-window.ts';
import { sendStatus } from './push-status.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 4;

export class PushFlow {
  /** The reply subject of the open request; '' without one. */
  openRequest = '';
  private readonly host: DeliveryHost;
  private readonly window = new FlowWindow();
  private readonly prefix: string;

  constructor(host: DeliveryHost) {
    this.host = host;
    this.prefix = `$JS.FC.${host.stream.name}.${host.name}.`;
  }

  start(): void {
    const answers = new CallbackSink((message) => this.answered(message.subjectText()));
    this.host.subscribe(answers, `${this.prefix}*`);
  }

  get isFull(): boolean {
    return this.window.isFull;
  }

  /** A message of `bytes` went to `subject`. */
  sent(bytes: number, subject: Buffer): void {
    if (!this.window.sent(bytes)) return;
    const { account, host } = this.host.stream;
    this.openRequest = this.prefix;
    for (let i = 0; i < ID_LENGTH; i++) {
      this.openRequest += BASE62[Math.floor(host.io.random.fraction() * BASE62.length)];
    }
    this.window.requested();
    sendStatus(account, subject, '100 FlowControl Request\r\n', Buffer.from(this.openRequest, 'latin1'));
  }

  private answered(subject: string): void {
    if (subject !== this.openRequest) return;
    this.openRequest = '';
    this.window.answered();
    this.host.wake();
  }
}
