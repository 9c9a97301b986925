/**
 * Requests after which the server is another: its configuration is loaded again, or a connection hears that the server
 * goes, or ends. They are for one server alone, and answered with an envelope that is empty but for who answers.
 */

import { goUint64 } from '../protocol/go-json-schema.ts';
import { field, GoStruct } from '../protocol/go-json-struct.ts';
import { decode } from '../protocol/go-json.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { isMeant, REQUEST_FILTER } from './request-filter.ts';
import type { SystemHost } from './system-host.ts';
import type { SystemReplies } from './system-replies.ts';
import type { SystemRequest } from './system-request.ts';

interface ConnectionRequest {
  cid: number;
}

const CONNECTION_BODY = new GoStruct<ConnectionRequest>('server.KickClientReq', [field('cid', 'cid', goUint64)]);

const NO_FILE = 'can only reload config when a file is provided using -c or --config';

export class ServerCommands {
  private readonly host: SystemHost;
  private readonly replies: SystemReplies;
  private readonly byKind: ReadonlyMap<string, (body: string) => string | null>;

  constructor(host: SystemHost, replies: SystemReplies) {
    this.host = host;
    this.replies = replies;
    this.byKind = new Map<string, (body: string) => string | null>([
      ['RELOAD', () => this.reload()],
      ['KICK', (body) => this.kick(cidOf(body))],
      ['LDM', (body) => this.tellToGo(cidOf(body))],
    ]);
  }

  has(kind: string): boolean {
    return this.byKind.has(kind);
  }

  /** Does it if the request is meant for this server. */
  run({ kind, body, reply }: SystemRequest): void {
    if (kind !== 'RELOAD') {
      const { error } = decode(body, CONNECTION_BODY);
      if (error !== null) {
        this.host.log.error(`Error unmarshalling kick client request: ${error}`);
        return;
      }
    }
    if (body !== '') {
      const { value, error } = decode(body, REQUEST_FILTER);
      if (error !== null) this.replies.refuse(reply, 400, error);
      if (error !== null || !isMeant(this.host, value)) return;
    }
    const problem = (this.byKind.get(kind) as (body: string) => string | null)(body);
    if (problem === null) this.replies.succeed(reply);
    else this.replies.refuse(reply, 500, bytesOfText(problem));
  }

  private reload(): string | null {
    const { reloadConfiguration } = this.host;
    return reloadConfiguration === null ? NO_FILE : reloadConfiguration();
  }

  private kick(cid: number): string | null {
    const { clients, leafNodes } = this.host;
    const connection = clients.get(cid) ?? leafNodes.links().find(({ id }) => id === cid);
    if (connection === undefined) return 'no such client or leafnode id';
    connection.close('Kicked');
    return null;
  }

  private tellToGo(cid: number): string | null {
    const client = this.host.clients.get(cid);
    if (client === undefined) return 'no such client id';
    const info = { ...this.host.info, client_id: client.id, client_ip: client.socket.remote.host, ldm: true };
    const isTold = client.sendAsyncInfo(info);
    return isTold ? null : 'client does not support Lame Duck Mode or is not ready to receive the notification';
  }
}

function cidOf(body: string): number {
  return decode(body, CONNECTION_BODY).value.cid;
}
