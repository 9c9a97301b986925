/**
 * Where a delivered message stands in its origin: read from the subject by which it could be acknowledged, in either form
 * (`ack-subject.ts`). The time is in nanoseconds, which no number holds.
 *
 * Source: nats-server's ackReplyInfo.
 */

import type { Message } from '../../server/protocol/message.ts';
import type { Time } from '../store/store.ts';

const SHORT_TOKENS = 9;
const LONG_TOKENS = 11;
/** The consumer's name stands behind `$JS.ACK.<stream>`, or two tokens later. */
const CONSUMER = 3;
const NANOSECOND_DIGITS = 9;
const NUMBER = /^\d{1,16}$/;
const TIME = /^\d{10,20}$/;

export class OriginPlace {
  consumer = '';
  deliveries = 0;
  sequence = 0;
  consumerSequence = 0;
  time: Time = { seconds: 0, nanoseconds: 0 };
  /** Messages that the consumer has yet to deliver, and this one. */
  pending = 0;

  /** Reads the reply subject of the message; false when it is none of a delivery. */
  read(message: Message): boolean {
    const tokens = message.replyText().split('.');
    if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return false;
    if (tokens.length !== SHORT_TOKENS && tokens.length < LONG_TOKENS) return false;
    const at = tokens.length === SHORT_TOKENS ? CONSUMER : CONSUMER + 2;
    const [consumer = '', deliveries = '', sequence = '', consumerSequence = '', time = '', pending = ''] =
      tokens.slice(at);
    if (![deliveries, sequence, consumerSequence, pending].every((each) => NUMBER.test(each))) return false;
    if (!TIME.test(time)) return false;
    this.consumer = consumer;
    this.deliveries = Number(deliveries);
    this.sequence = Number(sequence);
    this.consumerSequence = Number(consumerSequence);
    this.time = {
      seconds: Number(time.slice(0, -NANOSECOND_DIGITS)),
      nanoseconds: Number(time.slice(-NANOSECOND_DIGITS)),
    };
    this.pending = Number(pending);
    return true;
  }
}
