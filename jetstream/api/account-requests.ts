/** `INFO`: what an account holds, and what it may. */

import { API_LEVEL } from '../../server/protocol/version.ts';
import { accountLimitsJson } from './account-limits.ts';
import type { ApiHandler } from './api-handler.ts';

export const accountInfo: ApiHandler = ({ jetstream, owner }, request) => {
  const { domain } = jetstream;
  request.respond('account_info_response', {
    memory: owner.bytes('memory'),
    storage: owner.bytes('file'),
    reserved_memory: owner.reservedBytes('memory'),
    reserved_storage: owner.reservedBytes('file'),
    streams: owner.streams.size,
    consumers: owner.consumerCount,
    limits: accountLimitsJson(owner.limits),
    domain: domain === '' ? undefined : domain,
    api: { level: API_LEVEL, total: owner.apiTotal, errors: owner.apiErrors },
  });
};
