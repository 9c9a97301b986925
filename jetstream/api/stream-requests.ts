/** `STREAM.CREATE`, `UPDATE`, `INFO`, `NAMES`, `LIST`, `DELETE` and `PURGE`. */

import { subjectsCollide } from '../../server/subject/subject.ts';
import { SubjectCollisions } from '../../server/subject/subject-collisions.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import {
  checkStreamCreate,
  completeStreamConfig,
  createStreamConfig,
  type StreamLimits,
} from '../stream/stream-config-rules.ts';
import { updateStreamConfig } from '../stream/stream-config-update.ts';
import { decodeStreamRequest, sameStreamConfig, type StreamConfig } from '../stream/stream-config.ts';
import { checkStreamCount, checkStreamRoom } from './account-limits.ts';
import { type ApiContext, type ApiEntry, type ApiHandler, streamOf } from './api-handler.ts';
import type { ApiRequest } from './api-request.ts';
import { nowText } from './api-time.ts';
import { runPaced } from '../store/paced-work.ts';
import { purgeRefusal, purgeStream } from './purge.ts';
import { infoBody, isEmptyBody, listBody, namesBody, purgeBody, readOptions } from './request-bodies.ts';
import type { StreamEntry } from './stream-entry.ts';
import { SUBJECTS_LIMIT, stateDetails } from './state-details.ts';
import { streamInfo, whenVisible } from './stream-info.ts';

const CREATE = 'stream_create_response';
const UPDATE = 'stream_update_response';
const INFO = 'stream_info_response';
const NAMES = 'stream_names_response';
const LIST = 'stream_list_response';
const DELETE = 'stream_delete_response';
const PURGE = 'stream_purge_response';
const NAME = 2;
const NAMES_LIMIT = 1024;
const LIST_LIMIT = 256;
/** So many streams are described in one turn. */
const LIST_PER_TURN = 64;
const TOO_LARGE = 'stream configuration too large';
const NO_PAGE = { total: 0, offset: 0, limit: 0 };

const createStream: ApiHandler = (context, request) => {
  const { jetstream, owner } = context;
  const decoded = decodeStreamRequest(request.body, jetstream.options.isStrict);
  if (isApiError(decoded)) {
    request.refuse(CREATE, decoded);
    return;
  }
  const { config: asked, isPedantic } = decoded;
  const config =
    checkStreamCreate(asked, request.tokens[NAME] ?? '') ??
    checkStreamCount(owner, asked.name) ??
    createStreamConfig(asked, limitsOf(context), isPedantic);
  if (isApiError(config)) {
    request.refuse(CREATE, config);
    return;
  }
  const existing = owner.streams.get(config.name);
  if (existing !== undefined) {
    if (sameStreamConfig(existing.stream.config, config)) answerWithInfo(existing, request, CREATE);
    else request.refuse(CREATE, ApiErrors.streamNameExist);
    return;
  }
  const error = checkStreamRoom(context, config, null) ?? overlap(context, config);
  if (error !== null) {
    request.refuse(CREATE, error);
    return;
  }
  const isPut = jetstream.putStream(owner.account.name, config, null, nowText(jetstream.io.clock), () => {
    answerWithInfo(owner.streams.get(config.name) as StreamEntry, request, CREATE);
  });
  if (!isPut) request.refuse(CREATE, ApiErrors.streamCreateFailed(TOO_LARGE));
};

const updateStream: ApiHandler = (context, request) => {
  const { jetstream, owner } = context;
  const decoded = decodeStreamRequest(request.body, jetstream.options.isStrict);
  if (isApiError(decoded)) {
    request.refuse(UPDATE, decoded);
    return;
  }
  const complete = completeStreamConfig(decoded.config, limitsOf(context), decoded.isPedantic);
  const isNamed = isApiError(complete) || complete.name === request.tokens[NAME];
  const wanted = isNamed ? complete : ApiErrors.streamMismatch;
  if (isApiError(wanted)) {
    request.refuse(UPDATE, wanted);
    return;
  }
  const entry = streamOf(context, request, wanted.name, UPDATE);
  if (entry === null) return;
  const config = changedConfig(context, entry, wanted);
  if (isApiError(config)) {
    request.refuse(UPDATE, config);
    return;
  }
  const isPut = jetstream.putStream(owner.account.name, config, entry.stream, entry.stream.created, () => {
    entry.stream.whenReviewed(() => answerWithInfo(entry, request, UPDATE));
  });
  if (!isPut) request.refuse(UPDATE, ApiErrors.streamUpdateFailed(TOO_LARGE));
};

/** `wanted`, which is complete, as the stream may have it from now on. */
function changedConfig(context: ApiContext, entry: StreamEntry, wanted: StreamConfig): StreamConfig | ApiError {
  const { stream } = entry;
  const config = updateStreamConfig(stream.config, wanted);
  if (isApiError(config)) return config;
  return (
    checkStreamRoom(context, config, stream) ??
    violatedConsumerLimits(entry, config) ??
    overlap(context, config) ??
    config
  );
}

/** Consumers that have more than new limits allow. */
function violatedConsumerLimits({ stream, consumers }: StreamEntry, config: StreamConfig): ApiError | null {
  const before = stream.config.consumerLimits;
  const { inactiveThresholdNs, maxAckPending } = config.consumerLimits;
  const isNew = inactiveThresholdNs > 0 && inactiveThresholdNs !== before.inactiveThresholdNs;
  if (!isNew && !(maxAckPending > 0 && maxAckPending !== before.maxAckPending)) return null;
  const violating = [...consumers.values()].filter(
    (each) =>
      (inactiveThresholdNs > 0 && each.config.inactiveThresholdNs > inactiveThresholdNs) ||
      (maxAckPending > 0 && each.config.maxAckPending > maxAckPending),
  );
  if (violating.length === 0) return null;
  const names = violating.map(({ name }) => name).join(', ');
  return ApiErrors.streamUpdateFailed(`change to limits violates consumers: ${names}`);
}

function limitsOf({ jetstream, owner }: ApiContext): StreamLimits {
  const { isMaxBytesRequired, memoryStreamBytes, fileStreamBytes } = owner.limits;
  return {
    duplicateWindowMs: jetstream.options.limits.duplicateWindowMs,
    isMaxBytesRequired,
    memoryStreamBytesMax: memoryStreamBytes,
    fileStreamBytesMax: fileStreamBytes,
    streamNamed: (name) => owner.streams.get(name)?.stream.config ?? null,
  };
}

/** Subjects that another stream of the account has already. */
function overlap(context: ApiContext, config: StreamConfig): ApiError | null {
  const ours = new SubjectCollisions();
  for (const subject of config.subjects) ours.add(subject);
  for (const { stream } of context.owner.streams.values()) {
    if (stream.name === config.name) continue;
    if (stream.config.subjects.some((theirs) => ours.collides(theirs))) return ApiErrors.streamSubjectOverlap;
  }
  return null;
}

function answerWithInfo(entry: StreamEntry, request: ApiRequest, type: string): void {
  streamInfo(entry, 'full', {}, (info) => {
    request.respond(type, type === CREATE ? { ...info, did_create: true } : info);
  });
}

const describeStream: ApiHandler = (context, request) => {
  const body = readOptions(request.body, infoBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(INFO, body, NO_PAGE);
    return;
  }
  const entry = streamOf(context, request, request.tokens[NAME], INFO, NO_PAGE);
  if (entry === null) return;
  const { store } = entry.stream;
  const { offset } = body.paged;
  const isOver = (): boolean => false;
  // What somebody published or acknowledged before, and has not been told of, counts too.
  entry.stream.whenVisible(() => {
    runPaced(context.jetstream.io, store, stateDetails(store, { ...body, offset }), isOver, (details) => {
      streamInfo(entry, 'full', details, (info) => {
        const { ts, ...rest } = info;
        const { total } = details;
        const limits = total === 0 ? NO_PAGE : { total, offset, limit: SUBJECTS_LIMIT };
        request.respond(INFO, { ...limits, ...rest, cluster: { leader: context.jetstream.serverName }, ts });
      });
    });
  });
};

/** The account's streams in the order of their names, those that have messages under a subject that `filter` allows. */
function selectedStreams(context: ApiContext, filter: string): StreamEntry[] {
  const entries = [...context.owner.streams.values()].sort((a, b) => (a.stream.name < b.stream.name ? -1 : 1));
  if (filter === '') return entries;
  return entries.filter(({ stream }) => stream.config.subjects.some((each) => subjectsCollide(each, filter)));
}

const nameStreams: ApiHandler = (context, request) => {
  const body = readOptions(request.body, namesBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(NAMES, body, { ...NO_PAGE, streams: null });
    return;
  }
  const { offset } = body.paged;
  const all = selectedStreams(context, body.subject).map(({ stream }) => stream.name);
  const page = all.slice(offset, offset + NAMES_LIMIT);
  const streams = page.length === 0 ? null : page;
  request.respond(NAMES, { total: all.length, offset: Math.min(offset, all.length), limit: NAMES_LIMIT, streams });
};

const listStreams: ApiHandler = (context, request) => {
  const body = readOptions(request.body, listBody, context.jetstream.options.isStrict);
  if (isApiError(body)) {
    request.refuse(LIST, body, { ...NO_PAGE, streams: [] });
    return;
  }
  const { offset } = body.paged;
  const all = selectedStreams(context, body.subject);
  const page = all.slice(offset, offset + LIST_LIMIT);
  const streams: object[] = [];
  const add = (at: number): void => {
    const entry = page[at];
    if (entry === undefined) {
      request.respond(LIST, { total: all.length, offset: Math.min(offset, all.length), limit: LIST_LIMIT, streams });
      return;
    }
    streamInfo(entry, 'list', {}, (info) => {
      streams.push(info);
      if (streams.length % LIST_PER_TURN > 0) add(at + 1);
      else context.jetstream.io.timers.afterTurn(() => add(at + 1));
    });
  };
  whenVisible(page, () => add(0));
};

const deleteStream: ApiHandler = (context, request) => {
  if (!isEmptyBody(request.body)) {
    request.refuse(DELETE, ApiErrors.notEmptyRequest);
    return;
  }
  const entry = streamOf(context, request, request.tokens[NAME], DELETE);
  if (entry === null) return;
  context.jetstream.deleteStream(entry.stream, () => request.respond(DELETE, { success: true }));
};

const purge: ApiHandler = (context, request) => {
  const refuse = (error: ApiError): void => request.refuse(PURGE, error, { purged: 0 });
  const body = readOptions(request.body, purgeBody, context.jetstream.options.isStrict);
  const entry = context.owner.streams.get(request.tokens[NAME] ?? '');
  if (isApiError(body)) refuse(body);
  else if (body.sequence > 0 && body.keep > 0) refuse(ApiErrors.badRequest);
  else if (entry === undefined) refuse(ApiErrors.streamNotFound);
  else if (entry.stream.config.sealed) refuse(ApiErrors.streamSealed);
  else if (entry.stream.config.denyPurge) refuse(ApiErrors.streamPurgeFailed('stream purge not permitted'));
  else {
    const refusal = purgeRefusal(body);
    if (refusal !== null) refuse(refusal);
    else purgeStream(entry, body, (purged) => request.respond(PURGE, { success: true, purged }));
  }
};

export const streamHandlers: readonly ApiEntry[] = [
  ['STREAM.CREATE.*', createStream],
  ['STREAM.UPDATE.*', updateStream],
  ['STREAM.INFO.*', describeStream],
  ['STREAM.NAMES', nameStreams],
  ['STREAM.LIST', listStreams],
  ['STREAM.DELETE.*', deleteStream],
  ['STREAM.PURGE.*', purge],
];
