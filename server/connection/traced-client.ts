/**
 * A client all of whose lines are written to the log, in the format of nats-server:
 *
 *     127.0.0.1:5511 - cid:6 - <<- [PUB foo 5]                    what came
 *     127.0.0.1:5511 - cid:6 - <<- [MAPPING foo -> bar]
 *     127.0.0.1:5511 - cid:6 - <<- MSG_PAYLOAD: ["hello"]
 *     127.0.0.1:5511 - cid:6 - ->> [MSG bar 1 5]                  what went
 *     127.0.0.1:5511 - cid:6 - ->> MSG_PAYLOAD: ["hello"]
 *     127.0.0.1:5511 - cid:6 - <-> [DELSUB 1]                     subscriptions that end by themselves
 *
 * INFO and the 503 of requests without responders are not shown. Only servers that trace have such clients: others pay
 * nothing for it. A reload turns clients that are there into such ones and back, in place: they go on with all they have,
 * the parser in the middle of a message perhaps.
 */

import type { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import { ClientParser } from '../protocol/client-parser.ts';
import type { PeerError } from '../protocol/errors.ts';
import { goQuoteBytes } from '../protocol/go-quote.ts';
import type { Message } from '../protocol/message.ts';
import { TracedClientParser } from '../protocol/traced-client-parser.ts';
import type { Subscription } from '../subject/subscription.ts';
import { ClientConnection } from './client-connection.ts';

type Direction = '<<-' | '->>' | '<->';

/** Protocol bytes that are shown when they are sent, by their first byte. */
const SHOWN_SENT: ReadonlyMap<string, string> = new Map([
  ['PING\r\n', 'PING'],
  ['PONG\r\n', 'PONG'],
  ['+OK\r\n', 'OK'],
]);
const SHOWN_BYTES_MAX = 6;

export class TracedClient extends ClientConnection {
  /** While a message is delivered: subscriptions that ended with it, which are shown after it. */
  private endedNow: Subscription[] | null = null;

  /** Has the client traced from now on, or traced no more. */
  static follow(client: ClientConnection, isTraced: boolean): void {
    if (isTraced === client instanceof TracedClient) return;
    const { parser } = client as TracedClient;
    if (isTraced) {
      const traced = Object.setPrototypeOf(client, TracedClient.prototype) as TracedClient;
      traced.endedNow = null;
      if (parser !== null) TracedClientParser.goOn(parser, traced.host.inbound, traced.traceLine);
    } else {
      Object.setPrototypeOf(client, ClientConnection.prototype);
      if (parser !== null) Object.setPrototypeOf(parser, ClientParser.prototype);
    }
  }

  protected override newParser(): ClientParser {
    return new TracedClientParser(this, this.parserLimits, this.host.inbound, this.traceLine);
  }

  private get traceLine(): (text: string) => void {
    return (text) => this.trace('<<-', `[${text}]`);
  }

  override publish(message: Message): void {
    const { mappings } = this.account as Account;
    if (mappings !== null) {
      const before = subjectOf(message);
      (this.account as Account).applyMappings(message);
      const after = subjectOf(message);
      if (after !== before) this.trace('<<-', `[MAPPING ${before} -> ${after}]`);
    }
    this.tracePayload('<<-', message, message.bodyStart);
    this.publishMapped(message);
  }

  override deliver(subscription: Subscription, message: Message): boolean {
    const ended: Subscription[] = [];
    this.endedNow = ended;
    const isDelivered = super.deliver(subscription, message);
    this.endedNow = null;
    if (isDelivered) {
      this.trace('->>', `[${this.lineOf(subscription, message)}]`);
      this.tracePayload('->>', message, this.acceptsHeaders ? message.bodyStart : message.payloadStart);
    }
    for (const each of ended) this.traceEnd(each);
    return isDelivered;
  }

  protected override remove(subscription: Subscription): void {
    super.remove(subscription);
    if (this.endedNow === null) this.traceEnd(subscription);
    else this.endedNow.push(subscription);
  }

  protected override dropSubscriptions(): void {
    // Whoever goes because the server goes is not spoken of.
    if (this.closedReason !== 'Server Shutdown') for (const each of this.subscriptions.all()) this.traceEnd(each);
    super.dropSubscriptions();
  }

  override send(bytes: Uint8Array): void {
    if (bytes.length <= SHOWN_BYTES_MAX && !this.isClosed) {
      const shown = SHOWN_SENT.get(String.fromCharCode(...bytes));
      if (shown !== undefined) this.trace('->>', `[${shown}]`);
    }
    super.send(bytes);
  }

  override fail(error: PeerError): void {
    if (!this.isClosed) this.trace('->>', `[-ERR ${error.text}]`);
    super.fail(error);
  }

  private traceEnd(subscription: Subscription): void {
    this.trace('<->', `[DELSUB ${subscription.sid}]`);
  }

  /** The line in front of the message, as it is sent. */
  private lineOf(subscription: Subscription, message: Message): string {
    const withHeaders = this.acceptsHeaders && message.headerBytes > 0;
    const parts = [withHeaders ? 'HMSG' : 'MSG', subjectOf(message), subscription.sid];
    if (message.hasReply) parts.push(message.reply.toString('utf8', message.replyStart, message.replyEnd));
    if (withHeaders) parts.push(String(message.headerBytes));
    parts.push(String(withHeaders ? message.bodyBytes : message.payloadBytes));
    return parts.join(' ');
  }

  /** The body from `start` on, or its headers alone, as the configuration says; nothing if that is empty. */
  private tracePayload(direction: Direction, message: Message, start: number): void {
    const { tracedBytesMax: maxBytes, tracesHeadersOnly } = this.host.limits;
    // Of headers the ends of the last line and of the empty one behind it are not shown.
    const end = tracesHeadersOnly ? message.payloadStart - 4 : message.bodyEnd;
    if (end <= start) return;
    if (maxBytes === 0 || end - start <= maxBytes) {
      this.trace(direction, `MSG_PAYLOAD: [${quoted(message.body, start, end)}]`);
    } else this.trace(direction, `MSG_PAYLOAD: [${quoted(message.body, start, start + maxBytes).slice(0, -1)}..."]`);
  }

  private trace(direction: Direction, what: string): void {
    this.host.log.trace(`${this.label} - ${direction} ${what}`);
  }
}

function subjectOf(message: Message): string {
  return message.subject.toString('utf8', message.subjectStart, message.subjectEnd);
}

function quoted(bytes: Buffer, start: number, end: number): string {
  return goQuoteBytes(bytes.toString('latin1', start, end));
}
