/** `STREAM.MSG.GET` and `STREAM.MSG.DELETE`. */

import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import type { RecordView } from '../store/record.ts';
import type { Stream } from '../stream/stream.ts';
import { type ApiEntry, type ApiHandler, streamOf } from './api-handler.ts';
import { encodeTime } from './api-time.ts';
import { findMessage, type Wanted } from './message-search.ts';
import { runPaced } from '../store/paced-work.ts';
import { isEmptyBody, type MessageGetBody, messageDeleteBody, messageGetBody, readBody } from './request-bodies.ts';

const GET = 'stream_msg_get_response';
const DELETE = 'stream_msg_delete_response';
const NAME = 3;

const getMessage: ApiHandler = (context, request) => {
  const { jetstream } = context;
  if (isEmptyBody(request.body)) {
    request.refuse(GET, ApiErrors.badRequest);
    return;
  }
  const body = readBody(request.body, messageGetBody, jetstream.options.isStrict);
  const wanted = isApiError(body) ? body : (wantedMessage(body) ?? ApiErrors.badRequest);
  if (isApiError(body) || isApiError(wanted)) {
    request.refuse(GET, wanted as ApiError);
    return;
  }
  const entry = streamOf(context, request, request.tokens[NAME], GET);
  if (entry === null) return;
  const { store } = entry.stream;
  const isOver = (): boolean => false;
  entry.stream.whenVisible(() => {
    runPaced(jetstream.io, store, findMessage(store, wanted), isOver, (message) => {
      if (message === null) request.refuse(GET, ApiErrors.noMessageFound);
      else request.respond(GET, { message: messageJson(message, body.noHeaders) });
    });
  });
};

/** What one message the body asks for; `null` when it asks for none, several, or in more than one way. */
function wantedMessage(body: MessageGetBody): Wanted | null {
  const { sequence, lastFor, nextFor, startTime, batch, maxBytes } = body;
  if (batch > 0 || maxBytes > 0 || (sequence > 0 && startTime !== null)) return null;
  if (lastFor !== '') {
    const isMore = sequence > 0 || nextFor !== '' || startTime !== null;
    return isMore ? null : { kind: 'last', subject: lastFor };
  }
  if (startTime !== null) return { kind: 'since', subject: nextFor, moment: startTime };
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
  if (isEmptyBody(request.body)) {
    request.refuse(DELETE, ApiErrors.badRequest);
    return;
  }
  const body = readBody(request.body, messageDeleteBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(DELETE, body);
    return;
  }
  const entry = streamOf(context, request, request.tokens[NAME], DELETE);
  if (entry === null) return;
  const { store, config } = entry.stream;
  if (config.sealed) request.refuse(DELETE, ApiErrors.streamSealed);
  else if (config.denyDelete)
    request.refuse(DELETE, ApiErrors.streamMessageDeleteFailed('message delete not permitted'));
  else if (!store.remove(body.sequence, !body.noErase)) request.refuse(DELETE, missing(entry.stream, body.sequence));
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
