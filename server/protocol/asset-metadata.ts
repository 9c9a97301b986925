/**
 * What streams and consumers have in common in the JetStream API: which names they may have, how much description and
 * metadata, and the entries that the server itself keeps in their metadata.
 *
 *     _nats.req.level    stored     the API level that the asset's features need; whoever sends it is overruled
 *     _nats.ver          shown      what the server stands in for   } in answers only, never stored, and dropped
 *     _nats.level        shown      the API level that it has       } from what clients send back
 *
 * Names and texts are strings of bytes, so their lengths are what nats-server counts.
 */

import { API_LEVEL, NATS_VERSION } from './version.ts';

export const NAME_BYTES_MAX = 255;
export const DESCRIPTION_BYTES_MAX: number = 4 * 1024;
export const METADATA_BYTES_MAX: number = 128 * 1024;

export type Metadata = ReadonlyMap<string, string>;

/** Where a configuration is written to: in `full` it has what the server says of itself, in lists and stored not. */
export type ConfigForm = 'full' | 'list' | 'stored';

const REQUIRED_LEVEL = '_nats.req.level';
const SERVER_VERSION = '_nats.ver';
const SERVER_LEVEL = '_nats.level';

/** Whether a stream or consumer may have this name; how long it may be is another question. */
export function isAssetName(name: string): boolean {
  return name !== '' && !/[ \t\r\n\f.*>\\/]/.test(name);
}

/** What counts towards METADATA_BYTES_MAX. */
export function metadataBytes(metadata: Metadata | null): number {
  let bytes = 0;
  for (const [key, value] of metadata ?? []) bytes += key.length + value.length;
  return bytes;
}

/** The metadata to store of an asset that needs this API level. */
export function storedMetadata(metadata: Metadata | null, requiredLevel: number): Metadata {
  return new Map([...withoutShown(metadata), [REQUIRED_LEVEL, String(requiredLevel)]]);
}

/** An asset's configuration in full. */
export function withServerMetadata<T extends { readonly metadata: Metadata | null }>(config: T): T {
  const shown: Metadata = new Map([
    ...(config.metadata ?? []),
    [SERVER_VERSION, NATS_VERSION],
    [SERVER_LEVEL, String(API_LEVEL)],
  ]);
  return { ...config, metadata: shown };
}

/** `metadata` with the required level of `current`, so that the two differ only in what clients decide. */
export function metadataWithLevelOf(metadata: Metadata | null, current: Metadata | null): Metadata | null {
  const result = withoutShown(metadata);
  const level = current?.get(REQUIRED_LEVEL);
  if (level === undefined) result.delete(REQUIRED_LEVEL);
  else result.set(REQUIRED_LEVEL, level);
  return result.size === 0 ? null : result;
}

function withoutShown(metadata: Metadata | null): Map<string, string> {
  const result = new Map(metadata);
  result.delete(SERVER_VERSION);
  result.delete(SERVER_LEVEL);
  return result;
}
