/**
 * What of a stream's configuration may change while the stream is there: nats-server's rules in nats-server's order.
 */

import { isDeepStrictEqual } from 'node:util';
import { type ApiError, ApiErrors } from '../errors.ts';
import type { StreamConfig } from './stream-config-fields.ts';
import { unsupportedStreamField } from './stream-config-support.ts';

const invalid = ApiErrors.streamInvalidConfig;

/** `wanted`, which is complete, if the stream may have it from now on. Errors: 10052, 10074. */
export function updateStreamConfig(current: StreamConfig, wanted: StreamConfig): StreamConfig | ApiError {
  const config = wanted.sealed ? sealed(wanted) : wanted;
  return checkUpdate(current, wanted) ?? unsupportedStreamField(config) ?? config;
}

/** A sealed stream takes and loses nothing any more. */
function sealed(config: StreamConfig): StreamConfig {
  return { ...config, maxAgeNs: 0, discard: 'new', denyDelete: true, denyPurge: true, allowRollupHdrs: false };
}

function checkUpdate(current: StreamConfig, wanted: StreamConfig): ApiError | null {
  if (wanted.name !== current.name) return invalid('stream configuration name must match original');
  if (wanted.numReplicas > 1) return ApiErrors.streamReplicasNotSupported;
  if (wanted.storage !== current.storage) {
    return invalid('stream configuration update can not change storage type');
  }
  if (wanted.retention !== current.retention && [wanted.retention, current.retention].includes('workqueue')) {
    return invalid('stream configuration update can not change retention policy to/from workqueue');
  }
  if (current.sealed && !wanted.sealed) {
    return invalid('stream configuration update can not unseal a sealed stream');
  }
  if (current.denyDelete && !wanted.denyDelete) {
    return invalid('stream configuration update can not cancel deny message deletes');
  }
  if (current.denyPurge && !wanted.denyPurge) {
    return invalid('stream configuration update can not cancel deny purge');
  }
  return checkFeatureUpdate(current, wanted);
}

function checkFeatureUpdate(current: StreamConfig, wanted: StreamConfig): ApiError | null {
  if (wanted.mirror !== null && !isDeepStrictEqual(wanted.mirror, current.mirror)) {
    return ApiErrors.streamMirrorNotUpdatable;
  }
  if (current.allowMsgTtl && !wanted.allowMsgTtl) return invalid('message TTL status can not be disabled');
  if (wanted.allowMsgCounter !== current.allowMsgCounter) {
    return invalid('stream configuration update can not change message counter setting');
  }
  if (current.allowMsgSchedules && !wanted.allowMsgSchedules) return invalid('message schedules can not be disabled');
  if (wanted.persistMode !== current.persistMode) {
    return invalid('stream configuration update can not change persist mode');
  }
  return null;
}
