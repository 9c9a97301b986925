/**
 * One service of another account that this account imports: a request published here is published there, under the
 * subject it has there, with a reply subject by which the answer finds its way back (`service-export.ts`). The request
 * says who asks:
 *
 *     Nats-Request-Info: {"acc":"A","rtt":112000}                      and with `share` all that is known of the client
 *
 * A request that nobody takes in the exporting account was taken by nobody: the requester hears that there are no
 * responders. Imports of imports work; cycles are refused with the configuration, and as a last resort by depth.
 */

import { Buffer } from 'node:buffer';
import type { Sink, SinkKind } from '../ports.ts';
import { Message } from '../protocol/message.ts';
import { Subscription } from '../subject/subscription.ts';
import type { FractionSource } from '../subject/transform-token.ts';
import type { Transform } from '../subject/transform.ts';
import type { Account } from './account.ts';
import { DROPPED } from './mappings.ts';
import { copyMessage } from './message-copy.ts';
import { headerValue, withHeader } from './request-header.ts';
import { ACK_PREFIX, type ServiceExport } from './service-export.ts';

const REQUEST_INFO = 'Nats-Request-Info';
const DEPTH_MAX = 16;

export interface ServiceImportOptions {
  readonly importer: Account;
  readonly service: ServiceExport;
  /** The subject here, with wildcards. */
  readonly from: string;
  /** The subject there. */
  readonly to: string;
  /** From subjects here to those there; `null`: all become `to`, or stay as they are if `to` has wildcards. */
  readonly outward: Transform | null;
  readonly isShared: boolean;
}

export class ServiceImport implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  readonly subscription: Subscription;
  private readonly options: ServiceImportOptions;
  private readonly random: FractionSource;
  private readonly keepsSubject: boolean;
  private depth = 0;

  constructor(options: ServiceImportOptions, random: FractionSource) {
    this.options = options;
    this.random = random;
    this.keepsSubject = options.outward === null && /(^|\.)[*>](\.|$)/.test(options.to);
    this.subscription = new Subscription(this, options.from, '', '');
  }

  get service(): ServiceExport {
    return this.options.service;
  }

  /** The subject in the exporting account. */
  get to(): string {
    return this.options.to;
  }

  deliver(_subscription: Subscription, message: Message): boolean {
    if (this.depth >= DEPTH_MAX) return false;
    const { importer, service, isShared } = this.options;
    const request = new Message();
    copyMessage(message, request);
    if (!this.address(message, request)) return false;
    this.introduce(message, request);
    let reply: Buffer | null = null;
    const measured = service.measure(message, isShared);
    if (!message.hasReply) measured?.failed(400);
    if (message.hasReply && !message.replyText().startsWith(ACK_PREFIX)) {
      reply = service.awaitAnswer(importer, Buffer.from(message.replyText(), 'latin1'), measured);
      request.setReply(reply, 0, reply.length);
    }
    this.depth++;
    const taken = service.account.route(request);
    this.depth--;
    if (!taken && reply !== null) service.forget(reply);
    return taken;
  }

  /** The subject in the exporting account, by its mappings too; false if the message is to be dropped. */
  private address(message: Message, request: Message): boolean {
    const { outward, to, service } = this.options;
    let subject = to;
    if (outward !== null) {
      subject = outward.constant ?? outward.applyTokens(message.subjectText().split('.'), this.random);
    } else if (this.keepsSubject) subject = message.subjectText();
    subject = service.account.mappings?.selectText(subject) ?? subject;
    const bytes = Buffer.from(subject, 'latin1');
    request.setSubject(bytes, 0, bytes.length);
    return subject !== DROPPED;
  }

  /** Says who asks. An import of an import keeps who asked first, and adds through whom. */
  private introduce(message: Message, request: Message): void {
    const { importer, isShared } = this.options;
    const before = message.source === null || !message.cameByImport ? null : headerValue(message, REQUEST_INFO);
    const info =
      before === null ? (message.source?.requestInfo?.(isShared) ?? null) : withService(before, importer.name);
    request.cameByImport = true;
    if (info !== null) withHeader(message, REQUEST_INFO, info, request);
  }
}

function withService(json: string, account: string): string {
  const info = JSON.parse(json) as Record<string, unknown>;
  const { acc, ...rest } = info;
  return JSON.stringify({ ...(acc === undefined ? {} : { acc }), svc: account, ...rest });
}
