/** The two subscriptions of a pull consumer: acknowledgements, and requests for messages. */

import type { Message } from '../../server/protocol/message.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';

/** A sink that hands every message to one function. */
export class CallbackSink implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  private readonly take: (message: Message) => void;

  constructor(take: (message: Message) => void) {
    this.take = take;
  }

  deliver(_subscription: unknown, message: Message): boolean {
    this.take(message);
    return true;
  }
}
