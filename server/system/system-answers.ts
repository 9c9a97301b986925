/**
 * The answers to system requests. Those about the server are pages of monitoring, in an envelope that says who answers:
 *
 *     {"server":{"name":…,"id":…,…},"data":{…}}       or  "error":{"code":400,"description":"…"} in the place of data
 *
 *     request ─► filter ─► page ─┬─ a short one: at once
 *                                └─ a list: one at a time, in slices ─► without its blanks ─► reply
 *
 * Bounds: LISTS_WAITING_MAX lists wait for their turn, LIST_BYTES_MAX is the length of one; beyond both the answer is an
 * error.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { HttpResponse } from '../io/io.ts';
import { runSliced } from '../io/slicer.ts';
import { CpuUsage } from '../monitor/cpu-usage.ts';
import { type Answer, BadRequest, type Later, type MonitorContext } from '../monitor/endpoint.ts';
import { MetricsRoom } from '../monitor/metrics-room.ts';
import { Query } from '../monitor/query.ts';
import { RequestCounts } from '../monitor/request-counts.ts';
import { decode, encode } from '../protocol/go-json.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { Message } from '../protocol/message.ts';
import { compactJson } from './compact-json.ts';
import { isMeant } from './request-filter.ts';
import { REQUEST_KINDS, type RequestKind, STATISTICS_BODY } from './request-kinds.ts';
import type { ServerDescription } from './server-description.ts';
import { serverStatistics } from './server-statistics.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import type { SystemRequest } from './system-request.ts';

const LISTS_WAITING_MAX = 64;
const LIST_BYTES_MAX = 32 * 1024 * 1024;

type Page = Exclude<Answer, Later>;

interface Waiting {
  readonly request: SystemRequest;
  readonly page: Page;
}

export class SystemAnswers {
  private readonly host: MonitorSource;
  private readonly account: Account;
  private readonly description: ServerDescription;
  private readonly context: MonitorContext;
  private readonly waiting: Waiting[] = [];
  private isWriting = false;

  constructor(host: MonitorSource, description: ServerDescription) {
    this.host = host;
    this.account = host.systemAccount;
    this.description = description;
    this.context = {
      source: host,
      requests: new Uncounted(),
      cpu: new CpuUsage(host.io),
      metrics: new MetricsRoom(),
      listBytesMax: LIST_BYTES_MAX,
    };
  }

  /** Answers, now or later, if the request is meant for this server. */
  answer(request: SystemRequest): void {
    if (request.kind === 'STATSZ') this.answerStatistics(request);
    else if (request.reply === '') return;
    else if (request.kind === 'IDZ') this.send(request.reply, [this.description.identity()]);
    else this.answerPage(request, REQUEST_KINDS.get(request.kind) as RequestKind);
  }

  /** Without a reply it is the summary for everybody that is asked for. */
  private answerStatistics({ reply, body }: SystemRequest): void {
    const to = reply === '' ? `$SYS.SERVER.${this.host.id}.STATSZ` : reply;
    if (body !== '') {
      const { value, error } = decode(body, STATISTICS_BODY);
      if (error !== null) this.refuse(to, 400, error);
      if (error !== null || !isMeant(this.host, value.filter)) return;
    }
    const statistics = bytesOfText(serverStatistics(this.context, 1));
    this.send(to, [`{"server":${this.description.next()},"statsz":${statistics}}`]);
  }

  private answerPage(request: SystemRequest, kind: RequestKind): void {
    const { reply, body } = request;
    const type = kind.body;
    const { value, error } = body === '' ? { value: type.zero(), error: null } : decode(body, type);
    if (error !== null) this.refuse(reply, 400, error);
    if (error !== null || !isMeant(this.host, value.filter)) return;
    try {
      const made = kind.page(new Query(kind.query(value.options)), this.context);
      if (typeof made === 'function') throw new TypeError(`${request.kind} comes later`);
      this.enqueue({ request, page: made });
    } catch (problem) {
      if (!(problem instanceof BadRequest)) throw problem;
      this.refuse(reply, 500, bytesOfText(problem.message), true);
    }
  }

  private enqueue(next: Waiting): void {
    if (this.waiting.length >= LISTS_WAITING_MAX) {
      this.refuse(next.request.reply, 503, 'too many lists were asked for at the same time');
      return;
    }
    this.waiting.push(next);
    if (!this.isWriting) this.writeNext();
  }

  private writeNext(): void {
    const next = this.waiting.shift();
    this.isWriting = next !== undefined;
    if (next === undefined) return;
    runSliced(this.host.io, write(next.page), ({ response, data }) => {
      this.respond(next.request, response, data);
      this.writeNext();
    });
  }

  private respond({ kind, reply }: SystemRequest, response: HttpResponse, data: Buffer): void {
    if (kind === 'HEALTHZ') this.send(reply, this.enveloped(Buffer.from(withStatus(response), 'latin1')));
    else if (response.status === 200) this.send(reply, this.enveloped(data));
    else this.refuse(reply, response.status, Buffer.from(response.body).toString('latin1'));
  }

  private enveloped(data: Buffer): (string | Buffer)[] {
    return [`{"server":${this.description.next()},"data":`, data, '}'];
  }

  /** `showsData`: also that there is none. */
  private refuse(reply: string, code: number, description: string, showsData: boolean = false): void {
    const data = showsData ? '"data":null,' : '';
    this.send(reply, [`{"server":${this.description.next()},${data}"error":${encode({ code, description })}}`]);
  }

  private send(to: string, parts: readonly (string | Buffer)[]): void {
    const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
    const subject = Buffer.from(to, 'latin1');
    const message = new Message();
    message.setSubject(subject, 0, subject.length);
    message.setBody(body, 0, 0, body.length);
    this.account.route(message);
  }
}

/** What is asked for here is not counted with what is asked for over HTTP. */
class Uncounted extends RequestCounts {
  override count(): void {
    // It is no request over HTTP.
  }
}

function* write(page: Page): Generator<unknown, { response: HttpResponse; data: Buffer }> {
  const response = 'next' in page ? yield* page : page;
  return { response, data: yield* compactJson(Buffer.from(response.body)) };
}

/** Health as it stands here: with the status that HTTP has in front of the body. */
function withStatus({ status: code, body }: HttpResponse): string {
  const { status, ...rest } = JSON.parse(Buffer.from(body).toString()) as { readonly status: string };
  return encode({ status, status_code: code, ...rest });
}
