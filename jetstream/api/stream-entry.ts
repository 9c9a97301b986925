/** A stream and its consumers, as an account holds them. */

import type { Consumer } from '../consumer/consumer.ts';
import type { Stream } from '../stream/stream.ts';
import type { StreamServices } from './stream-services.ts';

export interface StreamEntry {
  readonly stream: Stream;
  readonly consumers: Map<string, Consumer>;
  readonly services: StreamServices;
}
