/**
 * The audit of the API: each request with who made it and what it was answered, for whoever listens to
 * `$JS.EVENT.ADVISORY.API`.
 */

import { ClientConnection } from '../../server/connection/client-connection.ts';
import { shownUser } from '../../server/connection/connection-facts.ts';
import { Connection } from '../../server/connection/connection.ts';
import { millisecondsText } from '../../server/protocol/wall-time.ts';
import type { Sink } from '../../server/ports.ts';
import type { ApiRequest } from './api-request.ts';
import type { JetStream } from './jetstream.ts';

const SUBJECT = '$JS.EVENT.ADVISORY.API';
const LIMIT_SUBJECT = '$JS.EVENT.ADVISORY.API.LIMIT_REACHED';

/** Tells of a request and its answer. */
export function auditRequest({ advisories, serverName }: JetStream, request: ApiRequest, answer: () => string): void {
  const { account } = request;
  advisories.advise(account, SUBJECT, 'advisory.v1.api_audit', () => ({
    server: serverName,
    client: requester(request.source, account.name, serverName),
    subject: request.subject,
    request: request.body === '' ? undefined : request.body,
    response: answer(),
    domain: advisories.domain,
  }));
}

/** Tells the system account that requests were dropped because too many waited. */
export function adviseDropped({ advisories, serverName }: JetStream, dropped: number): void {
  advisories.advise(advisories.systemAccount, LIMIT_SUBJECT, 'advisory.v1.api_limit_reached', () => ({
    server: serverName,
    domain: advisories.domain,
    dropped,
  }));
}

/** The connection over which a request came; `null` for one that this server made. */
function requester(source: Sink | null, account: string, server: string): object | null {
  if (!(source instanceof Connection)) return null;
  const client = source instanceof ClientConnection ? source : null;
  return {
    start: millisecondsText(source.startWallMs),
    host: source.socket.remote.host,
    id: source.id,
    acc: account,
    user: client === null ? undefined : given(shownUser(client)),
    name: given(client?.options.name),
    lang: given(client?.options.lang),
    ver: given(client?.options.version),
    rtt: source.rttMs > 0 ? Math.round(source.rttMs * 1e6) : undefined,
    server,
    kind: client === null ? 'Leafnode' : 'Client',
    client_type: client === null ? undefined : 'nats',
  };
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
