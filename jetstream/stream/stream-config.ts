/**
 * A stream's configuration on its way from a request to an answer:
 *
 *     create   decodeStreamRequest ─► checkStreamCreate ─► createStreamConfig ─► sameStreamConfig? ─► streamConfigJson
 *     update   decodeStreamRequest ─► completeStreamConfig ─► updateStreamConfig ─► streamConfigJson
 *
 * Its fields stand in `stream-config-fields.ts`. Which values are allowed, and what becomes of those that were left
 * out, is decided by `stream-config-rules.ts`; what may change later by `stream-config-update.ts`; what petiole has by
 * `stream-config-support.ts`.
 */

import assert from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import {
  type ConfigForm,
  metadataWithLevelOf,
  storedMetadata,
  withServerMetadata,
} from '../../server/protocol/asset-metadata.ts';
import { decode, decodeRequest } from '../../server/protocol/go-json.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { type StreamConfig, streamConfigType, type StreamRequest, streamRequestType } from './stream-config-fields.ts';

export type { StreamConfig, StreamRequest } from './stream-config-fields.ts';

/** Reads the body of STREAM.CREATE or STREAM.UPDATE; the server's own metadata is in it then. Errors: 10025. */
export function decodeStreamRequest(text: string, isStrict: boolean): StreamRequest | ApiError {
  const { value, error } = decodeRequest(text, streamRequestType, isStrict);
  if (error !== null) return ApiErrors.invalidJson(error);
  const { config } = value;
  return { ...value, config: { ...config, metadata: storedMetadata(config.metadata, requiredLevel(config)) } };
}

/** The object to encode, in the API's order. */
export function streamConfigJson(config: StreamConfig, form: ConfigForm): Record<string, unknown> {
  return streamConfigType.toJson(form === 'full' ? withServerMetadata(config) : config);
}

/** Reads what was written of `streamConfigJson` in the form `stored`. */
export function storedStreamConfig(text: string): StreamConfig {
  const { value, error } = decode(text, streamConfigType);
  assert(error === null, `a stored stream configuration can't be read: ${error}`);
  return value;
}

/** Whether `wanted` asks for the stream that is there, so that creating it once more changes nothing. */
export function sameStreamConfig(current: StreamConfig, wanted: StreamConfig): boolean {
  const metadata = metadataWithLevelOf(wanted.metadata, current.metadata);
  return isDeepStrictEqual(current, { ...wanted, metadata });
}

/** The level of the API that first had all that `config` uses. */
function requiredLevel(config: StreamConfig): number {
  if (config.allowBatched) return 4;
  const isAsync = config.persistMode === 'async';
  if (config.allowMsgCounter || config.allowAtomic || config.allowMsgSchedules || isAsync) return 2;
  return config.allowMsgTtl || config.subjectDeleteMarkerTtlNs > 0 ? 1 : 0;
}
