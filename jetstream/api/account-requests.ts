/** `INFO`: what an account holds, and what it may. */

import { API_LEVEL } from '../../server/protocol/version.ts';
import type { ApiHandler } from './api-handler.ts';

const NO_LIMITS = {
  max_memory: -1,
  max_storage: -1,
  max_streams: -1,
  max_consumers: -1,
  max_ack_pending: -1,
  memory_max_stream_bytes: -1,
  storage_max_stream_bytes: -1,
  max_bytes_required: false,
};

export const accountInfo: ApiHandler = ({ jetstream, owner }, request) => {
  const { domain } = jetstream;
  request.respond('account_info_response', {
    memory: owner.bytes('memory'),
    storage: owner.bytes('file'),
    reserved_memory: owner.reservedBytes('memory'),
    reserved_storage: owner.reservedBytes('file'),
    streams: owner.streams.size,
    consumers: owner.consumerCount,
    limits: NO_LIMITS,
    domain: domain === '' ? undefined : domain,
    api: { level: API_LEVEL, total: owner.apiTotal, errors: owner.apiErrors },
  });
};
