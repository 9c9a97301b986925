/**
 * The requests that this server answers in its system account, and the way to those who know the answers: what they need
 * is loaded with the first request, because most servers are never asked.
 *
 *     $SYS.REQ.SERVER.PING            STATSZ of every server
 *     $SYS.REQ.SERVER.PING.<kind>     every server that the request's filter fits
 *     $SYS.REQ.SERVER.<id>.<kind>     this one
 *     $SYS.REQ.ACCOUNT.<name>.<kind>  every server that has the account
 *
 * And what has the shape of a request to JetStream, but is an operator's: `$JS.API.ACCOUNT.PURGE.<name>`.
 *
 * Requests wait for the end of the turn. Bound: `WAITING_MAX` of them; more are as good as unheard.
 */

import type { Account } from '../account/account.ts';
import type { Sink, SinkKind } from '../ports.ts';
import type { Message } from '../protocol/message.ts';
import { Subscription } from '../subject/subscription.ts';
import type { KnownServers } from './known-servers.ts';
import type { ServerDescription } from './server-description.ts';
import type { SystemAnswers } from './system-answers.ts';
import type { SystemHost } from './system-host.ts';
import { readRequest } from './system-request.ts';

const WAITING_MAX = 1024;

/** Answered by every server, and by one that is named. */
const SERVER_KINDS: readonly string[] =
  'IDZ STATSZ VARZ SUBSZ CONNZ ROUTEZ GATEWAYZ LEAFZ ACCOUNTZ JSZ HEALTHZ PROFILEZ EXPVARZ IPQUEUESZ RAFTZ'.split(' ');
/** Only by one that is named. */
const COMMANDS: readonly string[] = ['RELOAD', 'KICK', 'LDM'];
const ACCOUNT_KINDS: readonly string[] = ['SUBSZ', 'CONNZ', 'LEAFZ', 'JSZ', 'INFO', 'STATZ', 'CONNS'];
const ACCOUNT_TOKEN = 3;
const PURGED_TOKEN = 4;
/** In the place of an account's name: all of them. */
const ALL_ACCOUNTS = 'PING';

export class SystemRequests implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  private readonly host: SystemHost;
  private readonly description: ServerDescription;
  private readonly known: KnownServers;
  private answers: SystemAnswers | null = null;
  private isLoading = false;
  private purges: Subscription | null = null;
  private readonly waiting: ((answers: SystemAnswers) => void)[] = [];

  constructor(host: SystemHost, description: ServerDescription, known: KnownServers) {
    this.host = host;
    this.known = known;
    this.description = description;
  }

  /** Takes requests from now on. */
  open(): void {
    const account = this.host.systemAccount;
    this.take(account, 'STATSZ', '$SYS.REQ.SERVER.PING');
    for (const kind of SERVER_KINDS) {
      this.take(account, kind, `$SYS.REQ.SERVER.PING.${kind}`);
      this.take(account, kind, `$SYS.REQ.SERVER.${this.host.id}.${kind}`);
    }
    for (const kind of COMMANDS) this.take(account, kind, `$SYS.REQ.SERVER.${this.host.id}.${kind}`);
    for (const kind of ACCOUNT_KINDS) this.take(account, kind, `$SYS.REQ.ACCOUNT.*.${kind}`);
    this.take(account, 'STATZ', `$SYS.REQ.ACCOUNT.${ALL_ACCOUNTS}.STATZ`);
    this.take(account, 'NSUBS', '$SYS.REQ.ACCOUNT.NSUBS');
    this.followJetStream();
  }

  /** Takes requests to empty the JetStream of an account while there is one. */
  followJetStream(): void {
    const { systemAccount, jetstream } = this.host;
    if (this.purges !== null) systemAccount.unsubscribe(this.purges);
    this.purges = jetstream === null ? null : this.take(systemAccount, 'PURGE', '$JS.API.ACCOUNT.PURGE.*');
  }

  deliver({ sid: kind, subject }: Subscription, message: Message): boolean {
    const token = kind === 'PURGE' ? PURGED_TOKEN : ACCOUNT_TOKEN;
    const isOfAccount = kind === 'PURGE' || (subject.startsWith('$SYS.REQ.ACCOUNT.') && kind !== 'NSUBS');
    const account = isOfAccount ? (message.subjectText().split('.')[token] ?? '') : null;
    // Statistics of all accounts have a subscription of their own, which this one matches too.
    const isTwice = kind === 'STATZ' && account === ALL_ACCOUNTS && subject.includes('*');
    if (isTwice) return true;
    const request = readRequest(kind, account, message);
    this.withAnswers((answers) => answers.answer(request));
    return true;
  }

  /**
   * Calls back behind this turn, or once the answers are loaded: by then what this turn brought is counted, and whoever
   * asks to have a connection ended is not read any more.
   */
  withAnswers(task: (answers: SystemAnswers) => void): void {
    if (this.waiting.length >= WAITING_MAX) return;
    this.waiting.push(task);
    if (this.waiting.length > 1) return;
    if (this.answers !== null) this.host.io.timers.afterTurn(() => this.workOff());
    else if (!this.isLoading) this.load();
  }

  /** The kind stands where other subscriptions have the number by which a client knows them. */
  private take(account: Account, kind: string, subject: string): Subscription {
    const subscription = new Subscription(this, subject, '', kind);
    account.subscribe(subscription);
    return subscription;
  }

  private load(): void {
    this.isLoading = true;
    import('./system-answers.ts').then(
      ({ SystemAnswers: Answers }) => {
        this.answers = new Answers(this.host, this.description, this.known);
        this.workOff();
      },
      (error: unknown) => {
        this.host.log.error(`system requests can't be answered: ${String(error)}`);
      },
    );
  }

  private workOff(): void {
    const { answers } = this;
    if (answers !== null) for (const task of this.waiting.splice(0)) task(answers);
  }
}
