/**
 * /healthz: whether the server does what it is there for, in one compact JSON object. The order of the checks is
 * nats-server's: the parameters, whether clients can connect, JetStream, its assets.
 *
 *     {"status":"ok"}                                                                        200
 *     {"status":"error","error":"failed to be ready for connections after 1ms: server"}      500
 *     {"status":"error","errors":[{"type":"STREAM","account":"$G","stream":"S","error":"…"}]}      with details=1
 *
 * While the data of a start is still being read, it is not 500 but 503 and tells how far the reading is.
 */

import type { HttpResponse } from '../io/io.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { jsonResponse, type MonitorContext } from './endpoint.ts';
import { jsonText } from './json-text.ts';
import type { AssetHealthRequest, HealthProblem, MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';

const NOT_LISTENING = 'failed to be ready for connections after 1ms: server';
const JETSTREAM_OFF = 'JetStream not enabled (10076)';

interface HealthRequest extends AssetHealthRequest {
  readonly isServerOnly: boolean;
  readonly isJetStreamOnly: boolean;
}

interface Health {
  readonly code: number;
  /** What is said in short; with details it is `ok` or `error`. */
  readonly status: 'ok' | 'error' | 'unavailable';
  readonly problems: readonly HealthProblem[];
}

const HEALTHY: Health = { code: 200, status: 'ok', problems: [] };

export function healthz(query: Query, { source, requests }: MonitorContext): HttpResponse {
  requests.count('/healthz');
  const { log } = source;
  const isEnabled = query.boolean('js-enabled');
  if (isEnabled) log.warn('Healthcheck: js-enabled deprecated, use js-enabled-only instead');
  const isEnabledOnly = query.boolean('js-enabled-only');
  const request: HealthRequest = {
    isJetStreamOnly: isEnabled || isEnabledOnly,
    isServerOnly: query.boolean('js-server-only'),
    isMetaOnly: query.boolean('js-meta-only'),
    account: query.text('account'),
    stream: query.text('stream'),
    consumer: query.text('consumer'),
  };
  const withDetails = query.boolean('details');
  const health = healthOf(request, source);
  if (health.problems.length > 0) {
    const first = (health.problems[0] as HealthProblem).error;
    const what = withDetails ? `${health.problems.length} errors` : goQuote(first);
    log.warn(`Healthcheck failed: ${what}`);
  }
  return jsonResponse(health.code, withDetails ? detailed(health) : short(health));
}

function healthOf(request: HealthRequest, source: MonitorSource): Health {
  const { account, stream, consumer } = request;
  if (account === '' && stream !== '') return badRequest('"account" must not be empty when checking stream health');
  if (stream === '' && consumer !== '') return badRequest('"stream" must not be empty when checking consumer health');
  const { jetStreamView } = source;
  if (source.clientAddress === null && jetStreamView !== null) {
    return unwell(503, 'unavailable', { type: 'JETSTREAM', error: jetStreamView.startProgress() });
  }
  if (source.clientAddress === null || source.isLameDuck) {
    return unwell(500, 'error', { type: 'CONNECTION', error: NOT_LISTENING });
  }
  if (request.isServerOnly || !source.options.jetstream.isEnabled) return HEALTHY;
  if (jetStreamView === null) return unwell(503, 'unavailable', { type: 'JETSTREAM', error: JETSTREAM_OFF });
  if (request.isJetStreamOnly) return HEALTHY;
  const { status, problems } = jetStreamView.health(request);
  return problems.length === 0 ? HEALTHY : { code: status, status: 'unavailable', problems };
}

function badRequest(error: string): Health {
  return unwell(400, 'error', { type: 'BAD_REQUEST', error });
}

function unwell(code: number, status: Health['status'], problem: HealthProblem): Health {
  return { code, status, problems: [problem] };
}

function short({ status, problems }: Health): string {
  const error = problems[0]?.error;
  return jsonText(error === undefined ? { status } : { status, error });
}

function detailed({ problems }: Health): string {
  return jsonText(problems.length === 0 ? { status: 'ok' } : { status: 'error', errors: problems });
}
