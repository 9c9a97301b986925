/**
 * `STREAM.SNAPSHOT` and `STREAM.RESTORE`: requests that are wrong in any case are refused as by nats-server, the others
 * because petiole does not have them yet.
 */

import { goBool, goInt, goString } from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import { isValidPublishSubject } from '../../server/subject/subject.ts';
import { ApiErrors, isApiError } from '../errors.ts';
import { type ApiEntry, type ApiHandler, streamOf } from './api-handler.ts';
import { isEmptyBody, readBody } from './request-bodies.ts';

const SNAPSHOT = 'stream_snapshot_response';
const RESTORE = 'stream_restore_response';
const NO_SUBJECT = { deliver_subject: '' };
const NAME = 2;

interface SnapshotBody {
  deliverSubject: string;
  noConsumers: boolean;
  chunkSize: number;
  windowSize: number;
  checksMessages: boolean;
}

const snapshotBody: GoStruct<SnapshotBody> = new GoStruct('server.JSApiStreamSnapshotRequest', [
  field<SnapshotBody, 'deliverSubject'>('deliver_subject', 'deliverSubject', goString),
  field<SnapshotBody, 'noConsumers'>('no_consumers', 'noConsumers', goBool),
  field<SnapshotBody, 'chunkSize'>('chunk_size', 'chunkSize', goInt),
  field<SnapshotBody, 'windowSize'>('window_size', 'windowSize', goInt),
  field<SnapshotBody, 'checksMessages'>('jsck', 'checksMessages', goBool),
]);

const snapshotStream: ApiHandler = (context, request) => {
  if (isEmptyBody(request.body)) {
    request.refuse(SNAPSHOT, ApiErrors.badRequest);
    return;
  }
  if (streamOf(context, request, request.tokens[NAME], SNAPSHOT) === null) return;
  const body = readBody(request.body, snapshotBody, context.jetstream.options.isStrict);
  if (isApiError(body)) request.refuse(SNAPSHOT, body);
  else if (!isValidPublishSubject(body.deliverSubject)) {
    request.refuse(SNAPSHOT, ApiErrors.snapshotDeliverSubjectInvalid);
  } else request.refuse(SNAPSHOT, ApiErrors.streamInvalidConfig('STREAM.SNAPSHOT not supported by petiole yet'));
};

const restoreStream: ApiHandler = (_context, request) => {
  const error = isEmptyBody(request.body)
    ? ApiErrors.badRequest
    : ApiErrors.streamInvalidConfig('STREAM.RESTORE not supported by petiole yet');
  request.refuse(RESTORE, error, NO_SUBJECT);
};

export const snapshotHandlers: readonly ApiEntry[] = [
  ['STREAM.SNAPSHOT.*', snapshotStream],
  ['STREAM.RESTORE.*', restoreStream],
];
