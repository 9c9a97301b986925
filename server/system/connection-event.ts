/**
 * What is told of connections that come, go and are refused: one JSON object, beginning as every event does.
 *
 *     {"type":"io.nats.server.advisory.v1.client_connect","id":…,"timestamp":…,"server":{…},"client":{…}}
 *     {"type":"io.nats.server.advisory.v1.client_disconnect",…,"client":{…},"sent":{…},"received":{…},"reason":"…"}
 */

import { ClientConnection } from '../connection/client-connection.ts';
import { shownUser } from '../connection/connection-facts.ts';
import type { Connection } from '../connection/connection.ts';
import { LeafConnection } from '../../leafnode/leaf-connection.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { encode } from '../protocol/go-json.ts';
import { millisecondsText } from '../protocol/wall-time.ts';

/** The fields by which an event begins. */
export interface EventStamp {
  readonly id: string;
  readonly wallMs: number;
  /** JSON of this server. */
  readonly server: string;
}

/** A connection is of this account from now on. */
export function connectEvent(stamp: EventStamp, connection: Connection, account: string): string {
  const client = encode(describe(connection, account, null));
  return `{${beginning('client_connect', stamp)},"client":${client}}`;
}

/** It has ended, or is about to; what it sent is what this server received. */
export function disconnectEvent(stamp: EventStamp, connection: Connection, account: string, reason: string): string {
  const { inMessages, inBytes, outMessages, outBytes } = connection.trafficSoFar;
  const client = encode(describe(connection, account, stamp.wallMs));
  const sent = encode({ msgs: inMessages, bytes: inBytes });
  const received = encode({ msgs: outMessages, bytes: outBytes });
  const beginningPart = beginning('client_disconnect', stamp);
  const behind = `"sent":${sent},"received":${received},"reason":${JSON.stringify(reason)}`;
  return `{${beginningPart},"client":${client},${behind}}`;
}

/** Members of every event of a type, without the braces. */
export function beginning(type: string, { id, wallMs, server }: EventStamp): string {
  const common = encode({ type: `io.nats.server.advisory.v1.${type}`, id, timestamp: millisecondsText(wallMs) });
  return `${common.slice(1, -1)},"server":${server}`;
}

function describe(connection: Connection, account: string, stopWallMs: number | null): object {
  const { id, startWallMs, socket, rttMs } = connection;
  const said = connection instanceof ClientConnection ? saidBy(connection, account) : saidByLink(connection);
  const { kind, client_type, issuer_key, ...rest } = said as Record<string, string | undefined>;
  return {
    start: millisecondsText(startWallMs),
    host: socket.remote.host || undefined,
    id,
    acc: account,
    ...rest,
    rtt: (stopWallMs !== null && Math.round(rttMs * 1_000) * 1_000) || undefined,
    stop: stopWallMs === null ? undefined : millisecondsText(stopWallMs),
    issuer_key,
    name_tag: account,
    kind,
    client_type,
  };
}

/** A link that was dialled has nothing to say who its other end is. */
function saidByLink(link: Connection): object {
  const introduction = link instanceof LeafConnection ? link.introduction : null;
  return {
    user: bytesOfText(introduction?.user ?? '') || undefined,
    name: bytesOfText(introduction?.name ?? '') || undefined,
    ver: bytesOfText(introduction?.version ?? '') || undefined,
    kind: 'Leafnode',
  };
}

function saidBy(client: ClientConnection, account: string): object {
  const { name, lang, version, nkey } = client.options;
  return {
    user: bytesOfText(shownUser(client)) || undefined,
    name: bytesOfText(name) || undefined,
    lang: bytesOfText(lang) || undefined,
    ver: bytesOfText(version) || undefined,
    // Who vouches for a key is whoever has the account.
    issuer_key: nkey === '' || client.account === null ? undefined : account,
    kind: 'Client',
    client_type: client.isWebSocket ? 'websocket' : 'nats',
  };
}
