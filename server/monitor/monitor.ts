/**
 * The monitoring port: takes requests, finds the endpoint of a path, and answers. Any method is as good as GET; HEAD
 * gets the headers alone.
 *
 *     request ─► path, parameters ─► endpoint ─┬─ a short answer: at once
 *                                              └─ a list: one at a time, in slices
 *
 * Lists are written one after the other, so that many observers cost the data plane no more than one does, and memory
 * not much more. Bounds: LISTS_WAITING_MAX wait for their turn, further ones get a 503; the length of one
 * (LIST_BYTES_MAX), beyond which it is a 503 too.
 */

import { strict as assert } from 'node:assert';
import { posix } from 'node:path';
import type { Address, HttpHandler, HttpRequest, HttpResponse, IoError, Listener, TlsContext } from '../io/io.ts';
import { hostPort, listenFailure } from '../connection/listen-failure.ts';
import { type AnswerWork, runAnswer } from './answer-work.ts';
import { connz } from './connz.ts';
import { CpuUsage } from './cpu-usage.ts';
import type { AnswerTo, Endpoint, LoadedLater } from './endpoint.ts';
import { BadRequest, htmlResponse, type MonitorContext, textResponse } from './endpoint.ts';
import { healthz } from './healthz.ts';
import { indexPage } from './index-page.ts';
import { metrics, MetricsRoom } from './metrics-room.ts';
import type { MonitorSource } from './monitor-source.ts';
import { Query } from './query.ts';
import { RequestCounts } from './request-counts.ts';
import { subsz } from './subsz.ts';
import { varz } from './varz.ts';

const LISTS_WAITING_MAX = 64;
const LIST_BYTES_MAX = 64 * 1024 * 1024;

/** Why there is no monitoring. */
export interface ListenProblem {
  readonly text: string;
  readonly cause: IoError;
}

type List = AnswerWork<HttpResponse>;
type Respond = (response: HttpResponse) => void;

/** In the order of the index page. */
const ENDPOINTS: readonly Endpoint[] = [
  { path: '/varz', title: 'General', answer: varz },
  { path: '/jsz', title: 'JetStream', answer: { load: async () => (await import('./jsz.ts')).jsz } },
  { path: '/connz', title: 'Connections', answer: connz },
  { path: '/accountz', title: 'Accounts', answer: { load: async () => (await import('./accountz.ts')).accountz } },
  { path: '/accstatz', title: 'Account Stats', answer: { load: async () => (await import('./accstatz.ts')).accstatz } },
  { path: '/subsz', title: 'Subscriptions', answer: subsz },
  { path: '/subscriptionsz', title: '', answer: subsz },
  { path: '/routez', title: 'Routes', answer: { load: async () => (await import('./routez.ts')).routez } },
  { path: '/leafz', title: 'LeafNodes', answer: { load: async () => (await import('./leafz.ts')).leafz } },
  { path: '/gatewayz', title: 'Gateways', answer: { load: async () => (await import('./gatewayz.ts')).gatewayz } },
  { path: '/raftz', title: 'Raft Groups', answer: { load: async () => (await import('./raftz.ts')).raftz } },
  { path: '/healthz', title: 'Health Probe', answer: healthz },
  { path: '/debug/vars', title: 'Expvar', answer: { load: async () => (await import('./expvarz.ts')).expvarz } },
  { path: '/ipqueuesz', title: '', answer: { load: async () => (await import('./ipqueuesz.ts')).ipqueuesz } },
  { path: '/stacksz', title: '', answer: { load: async () => (await import('./stacksz.ts')).stacksz } },
  { path: '/metrics', title: '', answer: metrics },
];

export class Monitor {
  /** Where it listens; null until it does. */
  address: Address | null = null;
  /** How often each path was asked for. */
  readonly requests: RequestCounts = new RequestCounts();
  private readonly context: MonitorContext;
  private readonly endpoints = new Map<string, Endpoint['answer']>();
  private listener: Listener | null = null;
  private readonly waiting: { readonly list: List; readonly respond: Respond }[] = [];
  private isListing = false;
  private secured: TlsContext | null = null;

  constructor(source: MonitorSource, listBytesMax: number = LIST_BYTES_MAX) {
    const { requests } = this;
    const cpu = new CpuUsage(source.io);
    this.context = { source, requests, cpu, metrics: new MetricsRoom(), listBytesMax };
    for (const { path, answer } of ENDPOINTS) this.endpoints.set(this.pathOf(path), answer);
    this.endpoints.set(this.pathOf('/'), () => {
      requests.count('/');
      return indexPage(ENDPOINTS, (path) => this.pathOf(path));
    });
  }

  /** Listens where it is configured to; `done` hears when it does, or why it can't. */
  start(done: (problem: ListenProblem | null) => void): void {
    const { io, log, options } = this.context.source;
    const { monitorHost: host, monitorPort, httpsPort } = options;
    const address = { host, port: monitorPort ?? httpsPort ?? 0 };
    const isPlain = httpsPort === null;
    const handler: HttpHandler = {
      listening: ({ port }) => {
        this.address = { host: address.host, port };
        log.notice(`Starting ${isPlain ? 'http' : 'https'} monitor on ${hostPort(this.address)}`);
        done(null);
      },
      request: (request, respond) => this.answer(request, respond),
      failed: (error) => {
        const text = `can't listen to the monitor port: ${listenFailure(address, error)}`;
        if (this.address === null) done({ text, cause: error });
        else log.error(`monitoring: ${error.message}`);
      },
    };
    if (isPlain) this.listener = io.network.serveHttp(address, handler);
    else this.listener = io.network.tls?.serveHttps(address, () => this.tlsContext(), handler) ?? null;
  }

  /** What is shown to those who connect now. */
  private tlsContext(): TlsContext {
    const { io, options } = this.context.source;
    const { tls } = options;
    assert(tls !== null && io.network.tls !== undefined, 'https is only served with TLS configured');
    if (this.secured === null || this.secured.settings !== tls) this.secured = io.network.tls.context(tls);
    return this.secured;
  }

  /** Stops listening and ends what is connected. */
  close(): void {
    this.context.metrics.close();
    this.listener?.close(() => undefined);
  }

  /** Answers one request, now or later. */
  answer({ url }: Pick<HttpRequest, 'url'>, respond: Respond): void {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    const clean = posix.normalize(`/${path}`);
    if (clean !== path) {
      respond(redirect(mark < 0 ? clean : `${clean}?${query}`));
      return;
    }
    const endpoint = this.endpoints.get(path);
    if (endpoint === undefined) respond(notFound());
    else if ('load' in endpoint) this.answerLater(endpoint, path, query, respond);
    else this.answerBy(endpoint, query, respond);
  }

  private answerLater({ load }: LoadedLater, path: string, query: string, respond: Respond): void {
    load().then(
      (endpoint) => this.answerBy(endpoint, query, respond),
      (error: unknown) => {
        this.context.source.log.error(`monitoring: ${path} can't be loaded: ${String(error)}`);
        respond(textResponse(500, `${path} is not available`));
      },
    );
  }

  private answerBy(endpoint: AnswerTo, query: string, respond: Respond): void {
    try {
      const answer = endpoint(new Query(query), this.context);
      if (typeof answer === 'function') answer(respond);
      else if ('next' in answer) this.enqueue(answer, respond);
      else respond(answer);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      respond(textResponse(400, error.message));
    }
  }

  private enqueue(list: List, respond: Respond): void {
    if (this.waiting.length >= LISTS_WAITING_MAX) {
      respond(textResponse(503, 'too many lists were asked for at the same time'));
      return;
    }
    this.waiting.push({ list, respond });
    if (!this.isListing) this.writeNextList();
  }

  private writeNextList(): void {
    const next = this.waiting.shift();
    this.isListing = next !== undefined;
    if (next === undefined) return;
    runAnswer(this.context.source.io, next.list, (response) => {
      next.respond(response);
      this.writeNextList();
    });
  }

  private pathOf(path: string): string {
    return posix.join(this.context.source.options.monitorBasePath, path).replace(/(.)\/$/, '$1');
  }
}

function notFound(): HttpResponse {
  const { status, headers, body } = textResponse(404, '404 page not found\n');
  return { status, headers: { ...headers, 'X-Content-Type-Options': 'nosniff' }, body };
}

function redirect(location: string): HttpResponse {
  const shown = location.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return htmlResponse(307, `<a href="${shown}">Temporary Redirect</a>.\n\n`, { Location: location });
}
