/**
 * The answers to system requests:
 *
 *     request ─► filter ─┬─ a page ─┬─ a short one: at once
 *                        │          └─ a list: one at a time, in slices ─► without its blanks ─► reply
 *                        ├─ a command (`server-commands.ts`)
 *                        └─ a count, or who is there: at once
 *
 * Bounds: LISTS_WAITING_MAX lists wait for their turn, LIST_BYTES_MAX is the length of one; beyond both the answer is an
 * error.
 */

import { Buffer } from 'node:buffer';
import type { HttpResponse } from '../io/io.ts';
import { type AnswerWork, runAnswer } from '../monitor/answer-work.ts';
import { CpuUsage } from '../monitor/cpu-usage.ts';
import { type Answer, BadRequest, type MonitorContext } from '../monitor/endpoint.ts';
import { MetricsRoom } from '../monitor/metrics-room.ts';
import { RequestCounts } from '../monitor/request-counts.ts';
import { decode, encode } from '../protocol/go-json.ts';
import { eventId } from '../protocol/event-id.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import type { Account } from '../account/account.ts';
import { ACCOUNT_KINDS } from './account-kinds.ts';
import { accountConnections, readConnectionsRequest } from './account-connections.ts';
import { purgeAccount } from './account-purge.ts';
import { compactJson } from './compact-json.ts';
import type { PageRequest } from './page-option.ts';
import { isMeant, STATISTICS_BODY } from './request-filter.ts';
import type { RequestKind } from './request-kind.ts';
import { ServerCommands } from './server-commands.ts';
import type { KnownServers } from './known-servers.ts';
import type { ServerDescription } from './server-description.ts';
import { SERVER_KINDS } from './server-kinds.ts';
import { serverStatistics } from './server-statistics.ts';
import { countOf, readCountRequest } from './subscriber-count.ts';
import type { SystemHost } from './system-host.ts';
import { SystemReplies } from './system-replies.ts';
import type { SystemRequest } from './system-request.ts';

const LISTS_WAITING_MAX = 64;
const LIST_BYTES_MAX = 32 * 1024 * 1024;
/** How an endpoint says that it has nothing to say; over HTTP that is an error. */
const NOTHING_TO_SAY = 'filtered response';

type Page = Exclude<Answer, (...args: never[]) => unknown>;

interface Waiting {
  readonly request: SystemRequest;
  readonly page: Page;
}

export class SystemAnswers {
  private readonly host: SystemHost;
  private readonly description: ServerDescription;
  private readonly known: KnownServers;
  private readonly replies: SystemReplies;
  private readonly commands: ServerCommands;
  private readonly context: MonitorContext;
  private readonly waiting: Waiting[] = [];
  private isWriting = false;

  constructor(host: SystemHost, description: ServerDescription, known: KnownServers) {
    this.host = host;
    this.known = known;
    this.description = description;
    this.replies = new SystemReplies(host.systemAccount, description);
    this.commands = new ServerCommands(host, this.replies);
    this.context = {
      source: host,
      requests: new Uncounted(host.monitor?.requests ?? new RequestCounts()),
      cpu: new CpuUsage(host.io),
      metrics: new MetricsRoom(),
      listBytesMax: LIST_BYTES_MAX,
    };
  }

  /** Publishes the summary for everybody. */
  publishStatistics(): void {
    this.answerStatistics({ reply: '', body: '' });
  }

  /** Publishes how many are connected to the account, for those who listen to either subject. */
  publishConnections({ name }: Account): void {
    const account = bytesOfText(name);
    const { random, clock } = this.host.io;
    const stamp = { id: eventId(random), wallMs: clock.wallMs() };
    for (const subject of [`$SYS.SERVER.ACCOUNT.${account}.CONNS`, `$SYS.ACCOUNT.${account}.SERVER.CONNS`]) {
      if (!this.host.systemAccount.hasInterest(Buffer.from(subject, 'latin1'))) continue;
      const event = accountConnections(this.host, { ...stamp, server: this.description.next() }, account);
      if (event !== null) this.replies.send(subject, [event]);
    }
  }

  /** Answers, now or later, if the request is meant for this server. */
  answer(request: SystemRequest): void {
    const { kind, account, reply } = request;
    if (kind === 'STATSZ') this.answerStatistics(request);
    else if (reply === '' && !this.commands.has(kind)) return;
    else if (kind === 'IDZ') this.replies.send(reply, [this.description.identity()]);
    else if (kind === 'CONNS') this.answerConnections(request);
    else if (kind === 'NSUBS') this.answerCount(request);
    else if (kind === 'PURGE') this.purge(request);
    else if (this.commands.has(kind)) this.commands.run(request);
    else this.answerPage(request, (account === null ? SERVER_KINDS : ACCOUNT_KINDS).get(kind) as RequestKind);
  }

  /** Without a reply it is the summary for everybody that is asked for. */
  private answerStatistics({ reply, body }: Pick<SystemRequest, 'reply' | 'body'>): void {
    const to = reply === '' ? `$SYS.SERVER.${this.host.id}.STATSZ` : reply;
    if (body !== '') {
      const { value, error } = decode(body, STATISTICS_BODY);
      if (error !== null) this.replies.refuse(to, 400, error);
      if (error !== null || !isMeant(this.host, value.filter)) return;
    }
    this.replies.sendStatistics(to, bytesOfText(serverStatistics(this.context, this.known.count + 1)));
  }

  private answerConnections({ account, reply, body }: SystemRequest): void {
    if (account === null || !readConnectionsRequest(body, account, this.host)) return;
    const { random, clock } = this.host.io;
    const id = eventId(random);
    const stamp = { id, wallMs: clock.wallMs(), server: this.description.next() };
    const event = accountConnections(this.host, stamp, account);
    if (event !== null) this.replies.send(reply, [event]);
  }

  private answerCount({ reply, body }: SystemRequest): void {
    const request = readCountRequest(body, this.host);
    if (request !== null) this.replies.send(reply, [String(countOf(request))]);
  }

  private purge({ account, reply }: SystemRequest): void {
    const { jetstream, log } = this.host;
    if (jetstream === null) return;
    log.notice(`Purge request for account ${account}`);
    purgeAccount(jetstream, account ?? '', (answer) => this.replies.send(reply, [answer]));
  }

  private answerPage(request: SystemRequest, { body: type, page }: RequestKind): void {
    const { reply, body, account } = request;
    const { value, error } = body === '' ? { value: type.zero(), error: null } : decode<PageRequest>(body, type);
    if (error !== null) this.replies.refuse(reply, 400, error);
    if (error !== null || !isMeant(this.host, value.filter)) return;
    const refuse = (problem: unknown): void => this.refuse(request, problem);
    try {
      const made = page(value.given, this.context, account ?? '');
      if (made instanceof Promise) made.then((answer) => this.enqueue(request, answer), refuse);
      else this.enqueue(request, made);
    } catch (problem) {
      refuse(problem);
    }
  }

  private refuse({ kind, reply }: SystemRequest, problem: unknown): void {
    if (!(problem instanceof BadRequest)) {
      this.host.log.error(`system request ${kind}: ${String(problem)}`);
      this.replies.refuse(reply, 500, `${kind} is not available`);
    } else if (!problem.message.startsWith(NOTHING_TO_SAY)) {
      this.replies.refuse(reply, 500, bytesOfText(problem.message), true);
    }
  }

  private enqueue(request: SystemRequest, page: Answer | null): void {
    if (page === null) return;
    if (this.waiting.length >= LISTS_WAITING_MAX) {
      this.replies.refuse(request.reply, 503, 'too many lists were asked for at the same time');
      return;
    }
    if (typeof page === 'function') throw new TypeError(`${request.kind} goes at its own pace`);
    this.waiting.push({ request, page });
    if (!this.isWriting) this.writeNext();
  }

  private writeNext(): void {
    const next = this.waiting.shift();
    this.isWriting = next !== undefined;
    if (next === undefined) return;
    runAnswer(this.host.io, write(next.page), ({ response, data }) => {
      this.respond(next.request, response, data, () => this.writeNext());
    });
  }

  private respond(request: SystemRequest, response: HttpResponse, data: Buffer, done: () => void): void {
    const { kind, reply, acceptedEncoding } = request;
    const isHealth = kind === 'HEALTHZ';
    if (isHealth || response.status === 200) {
      this.replies.sendData(reply, isHealth ? withStatus(response) : data, acceptedEncoding, done);
      return;
    }
    this.replies.refuse(reply, response.status, Buffer.from(response.body).toString('latin1'));
    done();
  }
}

/** What is asked for here is not counted with what is asked for over HTTP, but shows how often that was. */
class Uncounted extends RequestCounts {
  private readonly counted: RequestCounts;

  constructor(counted: RequestCounts) {
    super();
    this.counted = counted;
  }

  override count(): void {
    // It is no request over HTTP.
  }

  override toObject(): Record<string, number> {
    return this.counted.toObject();
  }
}

function* write(page: Page): AnswerWork<{ response: HttpResponse; data: Buffer }> {
  const response = 'next' in page ? yield* page : page;
  return { response, data: yield* compactJson(Buffer.from(response.body)) };
}

/** Health as it stands here: with the status that HTTP has in front of the body. */
function withStatus({ status: code, body }: HttpResponse): string {
  const { status, ...rest } = JSON.parse(Buffer.from(body).toString('latin1')) as { readonly status: string };
  return encode({ status, status_code: code, ...rest });
}
