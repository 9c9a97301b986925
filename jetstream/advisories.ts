/**
 * Advisories: what JetStream tells whoever listens about streams, consumers and requests. Each is one JSON object that
 * begins alike, published under `$JS.EVENT.…` into the account it is about, or into the system account.
 *
 *     {"type":"io.nats.jetstream.advisory.v1.stream_action","id":"jmy2f1Len1ro7ThCfWHjfX","timestamp":"…", fields …}
 *
 * Nobody listening is the usual case and costs one look at the account's interest: neither id nor fields are made then.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../server/account/account.ts';
import type { Io } from '../server/io/io.ts';
import { eventId } from '../server/protocol/event-id.ts';
import { encode } from '../server/protocol/go-json.ts';
import { Message } from '../server/protocol/message.ts';
import { millisecondsText } from '../server/protocol/wall-time.ts';

export class Advisories {
  /** The server's domain as advisories show it: left out where there is none. */
  readonly domain: string | undefined;
  readonly systemAccount: Account;
  private readonly io: Io;

  constructor(io: Io, domain: string, systemAccount: Account) {
    this.io = io;
    this.domain = domain === '' ? undefined : domain;
    this.systemAccount = systemAccount;
  }

  /**
   * Publishes under `subject`, if anybody in the account listens, an object of the kind `io.nats.jetstream.` + `type`
   * (`advisory.v1.nak`, `metric.v1.consumer_ack`) with these fields behind the common ones; undefined ones are left out.
   */
  advise(account: Account, subject: string, type: string, fields: () => object): void {
    const destination = Buffer.from(subject, 'latin1');
    if (!account.hasInterest(destination)) return;
    const common = {
      type: `io.nats.jetstream.${type}`,
      id: eventId(this.io.random),
      timestamp: millisecondsText(this.io.clock.wallMs()),
    };
    const body = Buffer.from(encode({ ...common, ...fields() }), 'latin1');
    const message = new Message();
    message.setSubject(destination, 0, destination.length);
    message.setBody(body, 0, 0, body.length);
    account.route(message);
  }
}
