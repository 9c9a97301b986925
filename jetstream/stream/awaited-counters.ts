/**
 * Messages for a stream of counters that have to wait: where their counter stands is on the disk. They are kept in the
 * order in which they came, and all that come meanwhile behind them, so that nothing overtakes; what they need is read
 * at the same time.
 *
 * Bounds: the messages and bytes that a stream may keep back, beyond which messages are refused.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { ApiErrors } from '../errors.ts';
import { NONE } from '../store/store.ts';
import type { BatchingStream } from './batching-stream.ts';

/** Others may need the memory for other blocks; then the message is refused. */
const READ_ATTEMPTS_MAX = 16;

interface Waiting {
  readonly message: Message;
  attempts: number;
  isLoading: boolean;
}

export class AwaitedCounters {
  private readonly stream: BatchingStream;
  private readonly take: (message: Message) => void;
  private waiting: Waiting[] = [];
  private bytes = 0;

  constructor(stream: BatchingStream, take: (message: Message) => void) {
    this.stream = stream;
    this.take = take;
  }

  /** Whether the message has to wait; it is taken, or refused, when its turn comes. */
  holds(message: Message): boolean {
    if (this.waiting.length === 0 && this.stream.check.counters.awaited(message) === NONE) return false;
    const { host, config, answers } = this.stream;
    const bytes = bytesOf(message);
    if (this.waiting.length >= host.maxBufferedMessages || this.bytes + bytes > host.maxBufferedBytes) {
      if (!config.noAck && message.hasReply) answers.refuse(message, ApiErrors.tooManyRequests);
      return true;
    }
    const kept: Waiting = { message: copyOf(message), attempts: 0, isLoading: false };
    this.waiting.push(kept);
    this.bytes += bytes;
    this.load(kept);
    return true;
  }

  /** Forgets all of them. */
  clear(): void {
    this.waiting = [];
    this.bytes = 0;
  }

  /** Has read what the message needs; false when that is there. */
  private load(kept: Waiting): boolean {
    const awaited = this.stream.check.counters.awaited(kept.message);
    if (awaited === NONE || kept.attempts === READ_ATTEMPTS_MAX) return false;
    kept.attempts++;
    kept.isLoading = true;
    this.stream.store.whenReadable(awaited, () => {
      kept.isLoading = false;
      this.goOn();
    });
    return true;
  }

  /** Takes those whose turn it is. */
  private goOn(): void {
    let next = this.waiting[0];
    while (next !== undefined && !next.isLoading && !this.load(next)) {
      this.waiting.shift();
      this.bytes -= bytesOf(next.message);
      this.take(next.message);
      next = this.waiting[0];
    }
  }
}

function bytesOf(message: Message): number {
  return (
    message.subjectEnd -
    message.subjectStart +
    message.replyEnd -
    message.replyStart +
    message.bodyEnd -
    message.bodyStart
  );
}

/** The message with bytes of its own. */
function copyOf(message: Message): Message {
  const { subjectStart, replyStart, bodyStart, bodyEnd } = message;
  const subjectBytes = message.subjectEnd - subjectStart;
  const replyEnd = subjectBytes + message.replyEnd - replyStart;
  const bytes = Buffer.concat([
    message.subject.subarray(subjectStart, message.subjectEnd),
    message.reply.subarray(replyStart, message.replyEnd),
    message.body.subarray(bodyStart, bodyEnd),
  ]);
  const copy = new Message();
  copy.setSubject(bytes, 0, subjectBytes);
  copy.setReply(bytes, subjectBytes, replyEnd);
  copy.setBody(bytes, replyEnd, replyEnd + message.payloadStart - bodyStart, bytes.length);
  copy.source = message.source;
  copy.producer = message.producer;
  return copy;
}
