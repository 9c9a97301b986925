/** Requests that only a cluster has: refused with what nats-server says without one. */

import { ApiErrors } from '../errors.ts';
import type { ApiEntry } from './api-handler.ts';

const KIND_BY_REQUEST: Readonly<Record<string, string>> = {
  'STREAM.LEADER.STEPDOWN.*': 'stream_leader_stepdown',
  'STREAM.PEER.REMOVE.*': 'stream_remove_peer',
  'STREAM.PEER.EVACUATE.*': 'stream_evacuate_peer',
  'STREAM.CANCEL_MOVE.*': 'stream_cancel_move',
  'CONSUMER.LEADER.STEPDOWN.*.*': 'consumer_leader_stepdown',
  'CONSUMER.PEER.REMOVE.*.*': 'consumer_remove_peer',
  'CONSUMER.PEER.EVACUATE.*.*': 'consumer_evacuate_peer',
};

export const absentHandlers: readonly ApiEntry[] = Object.entries(KIND_BY_REQUEST).map(([pattern, kind]) => [
  pattern,
  (_context, request) => request.refuse(`${kind}_response`, ApiErrors.clusterRequired),
]);
