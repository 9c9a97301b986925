/**
 * `Nats-Rollup`: a message that takes the place of the others under its subject (`sub`), or of all others (`all`).
 *
 * Source: ADR-37.
 */

import { quotedBytes } from '../../server/protocol/go-json-reader.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { REPLACES_ALL, REPLACES_NOTHING, REPLACES_SUBJECT } from '../store/record.ts';
import type { PublishHeaders } from './publish-headers.ts';
import type { StreamConfig } from './stream-config.ts';

/** Why the message can't roll up what it wants to; `null` also when it wants nothing. */
export function rollupRefusal({ rollup }: PublishHeaders, config: StreamConfig): ApiError | null {
  if (rollup === null) return null;
  if (!config.allowRollupHdrs || config.denyPurge) return ApiErrors.rollupFailed('rollup not permitted');
  const word = rollup.toLowerCase();
  if (word === 'sub' || word === 'all') return null;
  return ApiErrors.rollupFailed(`rollup value invalid: ${quotedBytes(word)}`);
}

/** What the message replaces, which may do so. */
export function replacedBy({ rollup }: PublishHeaders): number {
  if (rollup === null) return REPLACES_NOTHING;
  return rollup.toLowerCase() === 'all' ? REPLACES_ALL : REPLACES_SUBJECT;
}
