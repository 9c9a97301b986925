/**
 * The names of the consumers from which a stream is fed, the same after every restart: an origin that keeps its messages
 * until they are acknowledged knows its reader again by them. nats-server's names, so that a stream can move.
 *
 * Source: nats-server's createStableConsumerHash and createSourcingConsumerHash.
 */

import { shortHash } from '../stream/short-hash.ts';
import { sourceIndexName } from '../stream/source-name.ts';
import type { StreamSource } from '../stream/stream-config-parts.ts';
import type { Stream } from '../stream/stream.ts';

export function mirrorConsumerName(stream: Stream): string {
  return `JS_MIRROR_${streamHash(stream)}`;
}

/** Where the stream draws from one origin several times, what it draws is part of the name. */
export function sourceConsumerName(stream: Stream, source: StreamSource): string {
  const sameOrigin = (stream.config.sources ?? []).filter((each) => each?.name === source.name);
  const id = streamHash(stream);
  return `JS_SRC_${shortHash(sameOrigin.length > 1 ? `${id} ${sourceIndexName(source)}` : id)}`;
}

/** What an origin shows of who is fed by the consumer. `kind`: `mirror` or `src`. */
export function consumerMetadata({ name, account, host }: Stream, kind: string): Record<string, string> {
  const metadata: Record<string, string> = {
    [`_nats.${kind}.acc`]: account.name,
    [`_nats.${kind}.stream`]: name,
  };
  if (host.domain !== '') metadata[`_nats.${kind}.domain`] = host.domain;
  return metadata;
}

function streamHash({ name, account, host }: Stream): string {
  const id = `${name} ${account.name}`;
  return shortHash(host.domain === '' ? id : `${id} ${host.domain}`);
}
