/**
 * `$SYS.REQ.USER.INFO`: who am I, and what may I do? The one service of the system account that every account has. Only
 * clients of this server are answered: a request that came over a link was meant for the server at its other end.
 *
 *     {"server":{"name":…,"id":…,…},"data":{"user":"joe","account":"$G","account_name":"$G","permissions":{…}}}
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { PermissionRules, SubjectRules } from '../account/permissions.ts';
import { ClientConnection } from '../connection/client-connection.ts';
import { shownUser } from '../connection/connection-facts.ts';
import type { Sink, SinkKind } from '../ports.ts';
import { encode } from '../protocol/go-json.ts';
import { Message } from '../protocol/message.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { Subscription } from '../subject/subscription.ts';
import type { ServerDescription } from './server-description.ts';

const SUBJECT = '$SYS.REQ.USER.INFO';

/** Answers the clients of `account` who they are, from now on. */
export function answerUserInfo(description: ServerDescription, account: Account): void {
  account.subscribe(new Subscription(new UserInfo(description, account), SUBJECT, '', ''));
}

class UserInfo implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  readonly servesOwnClients = true;
  private readonly description: ServerDescription;
  private readonly account: Account;
  private readonly answer = new Message();

  constructor(description: ServerDescription, account: Account) {
    this.description = description;
    this.account = account;
  }

  deliver(_subscription: Subscription, message: Message): boolean {
    const { source } = message;
    if (!(source instanceof ClientConnection)) return false;
    if (!message.hasReply) return true;
    const json = `{"server":${this.description.next()},"data":${encode(dataOf(source))}}`;
    const body = Buffer.from(json, 'latin1');
    const reply = Buffer.from(message.replyText(), 'latin1');
    const { answer } = this;
    answer.setSubject(reply, 0, reply.length);
    answer.setBody(body, 0, 0, body.length);
    this.account.route(answer);
    return true;
  }
}

function dataOf(client: ClientConnection): object {
  const account = client.account?.name ?? '';
  const rules = client.permissions?.rules ?? null;
  const permissions = rules === null ? undefined : permissionsOf(rules);
  return { user: bytesOfText(shownUser(client)), account, account_name: account, permissions };
}

function permissionsOf({ publish, subscribe, responses }: PermissionRules): object {
  return {
    publish: shown(publish),
    subscribe: shown(subscribe),
    responses: responses ? { max: responses.max, ttl: responses.expiresMs * 1e6 } : undefined,
  };
}

/** Nothing where everything is allowed. */
function shown({ allow, deny }: SubjectRules): object {
  return {
    allow: allow === null || allow.length === 0 ? undefined : allow,
    deny: deny.length === 0 ? undefined : deny,
  };
}
