/**
 * How many subscribers an account has here for a subject: clients, and what the other ends of leaf links count for.
 *
 *     $SYS.REQ.ACCOUNT.NSUBS     {"acc":"A","subject":"orders.*","queue":"d29ya2Vycw=="}     ►  3
 *     $SYS.DEBUG.SUBSCRIBERS     orders.* workers                                           ►  3
 *
 * A literal subject counts what its messages would reach; one with wildcards what subscriptions lie within it. Costs a
 * walk over the account's subscriptions in that case.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import { goString } from '../protocol/go-json-schema.ts';
import { field, GoStruct } from '../protocol/go-json-struct.ts';
import { decode } from '../protocol/go-json.ts';
import { isSubsetMatch, isValidLiteralSubject, subjectMatches } from '../subject/subject.ts';

export interface CountRequest {
  readonly account: Account;
  readonly subject: string;
  /** '' counts all, within a queue group and without. */
  readonly queueGroup: string;
}

interface CountBody {
  acc: string;
  subject: string;
  queue: string;
}

const BODY = new GoStruct<CountBody>('server.accNumSubsReq', [
  field('acc', 'acc', goString),
  field('subject', 'subject', goString),
  field('queue', 'queue', goString),
]);

/** What the body asks for; `null` if it can't be read, or there is nobody in the account. */
export function readCountRequest(body: string, source: MonitorSource): CountRequest | null {
  const { value, error } = decode(body, BODY);
  if (error !== null || body === '') {
    const problem = body === '' ? 'request requires a body' : `Error unmarshalling account nsubs request: ${error}`;
    source.log.error(problem);
    return null;
  }
  const account = source.accounts.get(bytesAsText(value.acc));
  const hasSomebody =
    account !== undefined &&
    (account.limits.clients > 0 || source.leafNodes.links().some((link) => link.account === account));
  if (!hasSomebody) return null;
  return { account, subject: value.subject, queueGroup: Buffer.from(value.queue, 'base64').toString('latin1') };
}

export function countOf({ account, subject, queueGroup }: CountRequest): number {
  const isLiteral = isValidLiteralSubject(subject);
  let count = 0;
  for (const subscription of account.sublist.subscriptions()) {
    const { key, sink } = subscription;
    if (sink.sinkKind === 'internal') continue;
    if (queueGroup !== '' && subscription.queueGroup !== queueGroup) continue;
    if (isLiteral ? subjectMatches(key, subject) : isSubsetMatch(key, subject)) count++;
  }
  return count;
}
