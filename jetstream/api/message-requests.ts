/** `STREAM.MSG.GET` and `STREAM.MSG.DELETE`. */

import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import type { RecordView } from '../store/record.ts';
import type { Stream } from '../stream/stream.ts';
import { type ApiEntry, type ApiHandler, streamOf } from './api-handler.ts';
import { encodeTime } from './api-time.ts';
import { findMessage, type Wanted } from './message-search.ts';
import { isEmptyBody, type MessageGetBody, messageDeleteBody, messageGetBody, readBody } from './request-bodies.ts';

const GET = 'stream_msg_get_response';
const DELETE = 'stream_msg_delete_response';
const NAME = 3;

const getMessage: ApiHandler = (context, request) => {
  const entry = streamOf(context, request, request.tokens[NAME], GET);
  if (entry === null) return;
  const body = readBody(request.body, messageGetBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(GET, body);
    return;
  }
  const wanted = body.maxBytes > 0 ? null : wantedMessage(body);
  if (wanted === null) {
    request.refuse(GET, ApiErrors.badRequest);
    return;
  }
  findMessage(entry.stream.store, wanted, (message) => {
    if (message === null) request.refuse(GET, ApiErrors.noMessageFound);
    else request.respond(GET, { message: messageJson(message, body.noHeaders) });
  });
};

/** What one message the body asks for; `null` when it asks for none, several, or in more than one way. */
export function wantedMessage(body: MessageGetBody): Wanted | null {
  if (body.batch > 0 || body.multiLastFor !== null || body.upToSequence > 0 || body.upToTime !== null) return null;
  if (body.startTime !== null) return null;
  const { sequence, lastFor, nextFor } = body;
  if (lastFor !== '') return sequence > 0 || nextFor !== '' ? null : { kind: 'last', subject: lastFor };
  if (nextFor !== '') return { kind: 'next', subject: nextFor, from: sequence };
  return sequence > 0 ? { kind: 'sequence', sequence } : null;
}

function messageJson(message: RecordView, noHeaders: boolean): object {
  const { buffer, bodyStart, payloadStart, end } = message;
  const hasHeaders = payloadStart > bodyStart && !noHeaders;
  return {
    subject: message.subject,
    seq: message.sequence,
    hdrs: hasHeaders ? buffer.toString('base64', bodyStart, payloadStart) : undefined,
    data: end > payloadStart ? buffer.toString('base64', payloadStart, end) : undefined,
    time: encodeTime(message),
  };
}

const deleteMessage: ApiHandler = (context, request) => {
  const entry = streamOf(context, request, request.tokens[NAME], DELETE);
  if (entry === null) return;
  const { store, config } = entry.stream;
  const body = readBody(request.body, messageDeleteBody, context.jetstream.options.isStrict);
  if (isApiError(body)) request.refuse(DELETE, body);
  else if (isEmptyBody(request.body)) request.refuse(DELETE, ApiErrors.badRequest);
  else if (config.denyDelete)
    request.refuse(DELETE, ApiErrors.streamMessageDeleteFailed('message delete not permitted'));
  else if (!store.remove(body.sequence)) request.refuse(DELETE, missing(entry.stream, body.sequence));
  else entry.stream.whenDurable(() => request.respond(DELETE, { success: true }));
};

/** Why there is no such message to delete; what a file stream never had, or no longer knows of, it says otherwise. */
function missing({ config, store }: Stream, sequence: number): ApiError {
  if (config.storage === 'file') {
    if (sequence < Math.max(1, store.firstSequence)) return ApiErrors.streamMessageDeleteFailed('no message found');
    if (sequence > store.lastSequence) return ApiErrors.streamMessageDeleteFailed('stream store EOF');
  }
  return ApiErrors.sequenceNotFound(sequence);
}

export const messageHandlers: readonly ApiEntry[] = [
  ['STREAM.MSG.GET.*', getMessage],
  ['STREAM.MSG.DELETE.*', deleteMessage],
];
