/** What a handler of API requests gets, and the checks that several of them share. */

import { ApiErrors } from '../errors.ts';
import type { ApiRequest } from './api-request.ts';
import type { JetStreamAccount } from './jetstream-account.ts';
import type { JetStream } from './jetstream.ts';
import type { StreamEntry } from './stream-entry.ts';

export interface ApiContext {
  readonly jetstream: JetStream;
  readonly owner: JetStreamAccount;
}

/** Answers the request, at once or later, exactly once. */
export type ApiHandler = (context: ApiContext, request: ApiRequest) => void;

/** A handler, behind the pattern of what follows `$JS.API.` in the subjects of its requests. */
export type ApiEntry = readonly [pattern: string, handler: ApiHandler];

/** The stream that the subject names; refuses the request and answers `null` when there is none. */
export function streamOf(
  context: ApiContext,
  request: ApiRequest,
  name: string | undefined,
  type: string,
  fields: object = {},
): StreamEntry | null {
  const entry = context.owner.streams.get(name ?? '');
  if (entry !== undefined) return entry;
  request.refuse(type, ApiErrors.streamNotFound, fields);
  return null;
}
