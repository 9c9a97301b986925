/**
 * Requests of the API that petiole knows and does not have: refused by name, so that nobody waits in vain for an answer.
 * Those of a cluster get what nats-server says without one; the others say `not supported by petiole yet`, and a step
 * that brings one takes its row away.
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import type { ApiEntry } from './api-handler.ts';

const KIND_BY_CLUSTER_REQUEST: Readonly<Record<string, string>> = {
  'STREAM.LEADER.STEPDOWN.*': 'stream_leader_stepdown',
  'STREAM.PEER.REMOVE.*': 'stream_remove_peer',
  'STREAM.PEER.EVACUATE.*': 'stream_evacuate_peer',
  'STREAM.CANCEL_MOVE.*': 'stream_cancel_move',
  'CONSUMER.LEADER.STEPDOWN.*.*': 'consumer_leader_stepdown',
  'CONSUMER.PEER.REMOVE.*.*': 'consumer_remove_peer',
  'CONSUMER.PEER.EVACUATE.*.*': 'consumer_evacuate_peer',
};

const KIND_BY_STREAM_REQUEST: Readonly<Record<string, string>> = {
  'STREAM.SNAPSHOT.*': 'stream_snapshot',
  'STREAM.RESTORE.*': 'stream_restore',
};

export const absentHandlers: readonly ApiEntry[] = [
  ...refused(KIND_BY_CLUSTER_REQUEST, () => ApiErrors.clusterRequired),
  ...refused(KIND_BY_STREAM_REQUEST, (name) => ApiErrors.streamInvalidConfig(`${name} not supported by petiole yet`)),
];

function refused(kinds: Readonly<Record<string, string>>, error: (name: string) => ApiError): ApiEntry[] {
  return Object.entries(kinds).map(([pattern, kind]) => {
    const name = pattern.replaceAll('.*', '');
    const fields = kind === 'stream_restore' ? { deliver_subject: '' } : {};
    return [pattern, (_context, request) => request.refuse(`${kind}_response`, error(name), fields)];
  });
}
