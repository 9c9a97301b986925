/**
 * What an endpoint is: a path, and a function from a request's parameters to an answer. A short answer is given at
 * once; a long one is a generator that yields between pieces of work, and the monitor runs it in slices; one that sees to
 * its own pace is a function.
 *
 * The code of endpoints that few ask for is loaded when somebody does: a start should not wait for it.
 */

import type { HttpResponse } from '../io/io.ts';
import type { AnswerWork } from './answer-work.ts';
import type { CpuUsage } from './cpu-usage.ts';
import type { MetricsRoom } from './metrics-room.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import type { RequestCounts } from './request-counts.ts';

/** So much of a text is looked at to tell its type. */
const SNIFFED_CHARACTERS = 512;

export type Answer = HttpResponse | AnswerWork<HttpResponse> | Later;

/** Responds when it has something to say. */
export type Later = (respond: (response: HttpResponse) => void) => void;

/** What endpoints work with. */
export interface MonitorContext {
  readonly source: MonitorSource;
  readonly requests: RequestCounts;
  readonly cpu: CpuUsage;
  readonly metrics: MetricsRoom;
  /** A list may be so long. */
  readonly listBytesMax: number;
}

/** Throws a BadRequest over a parameter, before it gives an answer. */
export type AnswerTo = (query: Query, context: MonitorContext) => Answer;

export interface Endpoint {
  readonly path: string;
  /** How the index page calls it; '' leaves it out there. */
  readonly title: string;
  readonly answer: AnswerTo | LoadedLater;
}

export interface LoadedLater {
  readonly load: () => Promise<AnswerTo>;
}

/** A request that can't be answered as it is; its message goes to whoever asked. */
export class BadRequest extends Error {
  readonly code = 'BAD_REQUEST';

  constructor(message: string) {
    super(message);
    this.name = 'BadRequest';
  }
}

export function jsonResponse(status: number, body: string | Uint8Array): HttpResponse {
  return respond(status, 'application/json', body, { 'Access-Control-Allow-Origin': '*' });
}

/** As Go names its type: text in which there are control characters is none. */
export function textResponse(status: number, text: string): HttpResponse {
  // oxlint-disable-next-line no-control-regex
  const isText = !/[\0-\b\v\u000e-\u001a\u001c-\u001f]/.test(text.slice(0, SNIFFED_CHARACTERS));
  return respond(status, isText ? 'text/plain; charset=utf-8' : 'application/octet-stream', text, {});
}

/** Text of a type of its own. */
export function typedResponse(type: string, body: Uint8Array): HttpResponse {
  return respond(200, type, body, {});
}

/** In the place of a list that would be longer than one document may be. */
export function overfullResponse(): HttpResponse {
  return textResponse(503, 'the list is too long for one answer: ask for less of it with limit and offset');
}

export function htmlResponse(status: number, html: string, headers: Readonly<Record<string, string>>): HttpResponse {
  return respond(status, 'text/html; charset=utf-8', html, headers);
}

function respond(
  status: number,
  type: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const all = { ...headers, 'Content-Type': type, 'Content-Length': String(bytes.length) };
  return { status, headers: all, body: bytes };
}
