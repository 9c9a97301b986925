/**
 * How long a service of another account took to answer, as one JSON object published in the account that exports it:
 *
 *     {"type":"io.nats.server.metric.v1.service_latency","id":…,"timestamp":…,"status":200,
 *      "requestor":{…},"responder":{…},"header":{…},"start":…,"service":ns,"system":ns,"total":ns}
 *
 *     requestor ──rtt/2──► server ──rtt/2──► responder     service: from the server and back, without the responder's rtt
 *          ◄────────────────── ◄────────────────           total: what the requestor waits, by the round trips known
 *
 * Which requests are measured, the export says: so many of a hundred, and beyond these those whose headers ask for it, in
 * the ways of tracing (Uber-Trace-Id, B3, Traceparent); the headers that did are told. A request without reply subject
 * is told with status 400, one that nobody takes with 503, one without answer with 504, and one whose requestor no longer
 * waits for the answer with 408.
 */

import { Buffer } from 'node:buffer';
import type { LatencyOptions } from '../config/account-options.ts';
import type { Io } from '../io/io.ts';
import type { Sink } from '../ports.ts';
import { encode } from '../protocol/go-json.ts';
import { Message } from '../protocol/message.ts';
import { millisecondsText } from '../protocol/wall-time.ts';
import type { Account } from './account.ts';
import { canonicalHeaders } from './request-header.ts';
import { eventId } from '../protocol/event-id.ts';

const TYPE = 'io.nats.server.metric.v1.service_latency';
const NANOSECONDS = 1_000_000;

type Headers = ReadonlyMap<string, readonly string[]>;
type LatencyIo = Pick<Io, 'clock' | 'random'>;

/** Why a request has no latency. */
export type Failure = keyof typeof FAILURES;

const FAILURES = {
  400: 'Bad Request',
  408: 'Request Timeout',
  503: 'Service Unavailable',
  504: 'Service Timeout',
} as const;

/** One request that is measured, from its beginning. */
export class MeasuredRequest {
  private readonly account: Account;
  private readonly io: LatencyIo;
  private readonly subject: Buffer;
  private readonly requestor: Sink;
  private readonly isShared: boolean;
  private readonly headers: Headers | null;
  private readonly startWallMs: number;
  private readonly startMs: number;

  /** `headers`: those that asked for it. */
  constructor(
    account: Account,
    io: LatencyIo,
    subject: string,
    from: Sink,
    isShared: boolean,
    headers: Headers | null,
  ) {
    this.account = account;
    this.io = io;
    this.subject = Buffer.from(subject, 'latin1');
    this.requestor = from;
    this.isShared = isShared;
    this.headers = headers;
    this.startWallMs = io.clock.wallMs();
    this.startMs = io.clock.monotonicMs();
  }

  /** The service has answered, by `responder` if it is a connection. */
  answered(responder: Sink | null): void {
    const tookNs = (this.io.clock.monotonicMs() - this.startMs) * NANOSECONDS;
    const of = infoOf(responder, true);
    const responderRttNs = rttNs(of);
    const service = Math.max(0, Math.round(tookNs - responderRttNs));
    const total = Math.round(rttNs(infoOf(this.requestor, this.isShared)) + tookNs);
    this.publish({ status: 200 }, of, { service, system: 0, total });
  }

  failed(status: Failure): void {
    this.publish({ status, description: FAILURES[status] }, undefined, { service: 0, system: 0, total: 0 });
  }

  private publish(outcome: object, responder: object | undefined, latencies: object): void {
    const { account, io, subject, headers } = this;
    if (!account.hasInterest(subject)) return;
    const requestor = infoOf(this.requestor, this.isShared);
    const fields = {
      type: TYPE,
      id: eventId(io.random),
      timestamp: millisecondsText(io.clock.wallMs()),
      ...outcome,
      requestor,
      responder,
      header: headers === null ? undefined : Object.fromEntries(headers),
      start: millisecondsText(this.startWallMs - rttNs(requestor) / NANOSECONDS),
      ...latencies,
    };
    const body = Buffer.from(encode(fields), 'latin1');
    const message = new Message();
    message.setSubject(subject, 0, subject.length);
    message.setBody(body, 0, 0, body.length);
    account.route(message);
  }
}

/** What is to be measured of the request; `null` for nothing, which is most often so. */
export function measure(
  account: Account,
  io: LatencyIo,
  { samplingPercent, subject }: LatencyOptions,
  message: Message,
  isShared: boolean,
): MeasuredRequest | null {
  const { source } = message;
  if (source?.requestInfo === undefined) return null;
  const isChosen = samplingPercent > 0 && io.random.fraction() * 100 < samplingPercent;
  const headers = isChosen ? null : askingHeaders(canonicalHeaders(message));
  if (!isChosen && headers === null) return null;
  return new MeasuredRequest(account, io, subject, source, isShared, headers);
}

/** The headers that ask for a request to be traced; `null` if none does. */
function askingHeaders(headers: Headers): Headers | null {
  const first = (name: string): string | undefined => headers.get(name)?.[0];
  const only = (isAsking: boolean, ...names: string[]): Headers | null =>
    isAsking ? new Map([...headers].filter(([name]) => names.includes(name))) : null;
  const uber = first('Uber-Trace-Id');
  if (uber !== undefined) {
    const context = [...headers.keys()].filter((name) => name.startsWith('Uberctx-'));
    return only(hasSampledFlag(uber.split(':'), /^[0-9a-f]{1,2}$/i), 'Uber-Trace-Id', ...context);
  }
  const sampled = first('X-B3-Sampled');
  if (sampled === '0') return null;
  if (sampled === '1' || headers.has('X-B3-Traceid')) {
    return only(true, 'X-B3-Sampled', 'X-B3-Traceid', 'X-B3-Parentspanid', 'X-B3-Spanid');
  }
  const b3 = first('B3');
  if (b3 !== undefined) {
    const parts = b3.split('-');
    const decision = parts.length === 1 ? parts[0] : parts[2];
    return only(decision !== '0', 'B3');
  }
  const parent = first('Traceparent');
  const isTraced = parent !== undefined && hasSampledFlag(parent.split('-'), /^[0-9a-f]{2}$/i);
  return only(isTraced, 'Traceparent', 'Tracestate');
}

/** The last of four parts is hexadecimal, and odd. */
function hasSampledFlag(parts: readonly string[], form: RegExp): boolean {
  const flags = parts[3] ?? '';
  return parts.length === 4 && form.test(flags) && Number.parseInt(flags, 16) % 2 === 1;
}

function infoOf(sink: Sink | null, isDetailed: boolean): { rtt?: number } | undefined {
  const json = sink?.requestInfo?.(isDetailed);
  return json === undefined ? undefined : (JSON.parse(json) as { rtt?: number });
}

function rttNs(info: { rtt?: number } | undefined): number {
  return info?.rtt ?? 0;
}
