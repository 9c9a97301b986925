/** Streams and consumers as entries of the catalog: their configurations as the API has them, and where a consumer began. */

import { encode } from '../../server/protocol/go-json.ts';
import { type ConsumerConfig, consumerConfigJson, storedConsumerConfig } from '../consumer/consumer-config.ts';
import type { ConsumerOrigin } from '../consumer/starting-sequence.ts';
import type { CatalogEntry } from '../store/catalog.ts';
import { storedStreamConfig, type StreamConfig, streamConfigJson } from '../stream/stream-config.ts';

export function encodeStreamEntry(
  number: number,
  account: string,
  config: StreamConfig,
  created: string,
): CatalogEntry {
  const text = encode(streamConfigJson(config, 'stored'));
  return { number, kind: 'stream', account, stream: config.name, consumer: '', config: text, created };
}

export function decodeStreamEntry(entry: CatalogEntry): StreamConfig {
  return storedStreamConfig(entry.config);
}

/** `origin`: where the consumer began. */
export function encodeConsumerEntry(
  number: number,
  account: string,
  stream: string,
  config: ConsumerConfig,
  origin: ConsumerOrigin,
  created: string,
): CatalogEntry {
  const text = encode({ ...origin, config: consumerConfigJson(config, 'stored') });
  return { number, kind: 'consumer', account, stream, consumer: config.name, config: text, created };
}

export function decodeConsumerEntry(entry: CatalogEntry): { config: ConsumerConfig; origin: ConsumerOrigin } {
  const { start, listUpTo = 0 } = JSON.parse(entry.config) as Partial<ConsumerOrigin> & { start: number };
  const config = entry.config.slice(entry.config.indexOf('"config":') + '"config":'.length, -1);
  return { origin: { start, listUpTo }, config: storedConsumerConfig(config) };
}
