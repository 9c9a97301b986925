/**
 * The lines by which a soliciting link and its hub come to know each other: why a hub's greeting is refused, the INFO
 * that begins compression, and the CONNECT that answers an accepted greeting.
 *
 * The protocol level told is 2, everything short of message tracing.
 */

import type { CompressionMode } from '../server/config/compression.ts';
import type { ClosedReason } from '../server/protocol/errors.ts';
import type { HubInfo } from './hub-info.ts';
import type { SignedLogin } from './leaf-credentials.ts';
import type { LeafSite } from './leaf-site.ts';

const PROTOCOL = 2;
/** Stands for "no cluster" between servers, so none can have it. */
const RESERVED_CLUSTER = '_';

export interface Refusal {
  readonly text: string;
  readonly reason: ClosedReason;
  /** The peer is told, too. */
  readonly isTold: boolean;
}

/** Why the greeting is none of a hub that this link can join; `null` when it can. */
export function refusalOf(info: HubInfo): Refusal | null {
  if (info.clientId === 0 || (info.leafnodeUrls === null && !info.infoOnConnect)) {
    return { text: 'attempted to connect to wrong port', reason: 'Incorrect Port', isTold: false };
  }
  if (info.cluster.includes(' ')) {
    return { text: 'cluster name cannot contain spaces', reason: 'Protocol Violation', isTold: true };
  }
  if (info.cluster === RESERVED_CLUSTER) {
    return { text: 'cluster name is reserved', reason: 'Protocol Violation', isTold: true };
  }
  return null;
}

export interface Login {
  readonly username: string;
  /** `null`: the user name is a token. */
  readonly password: string | null;
}

export interface ConnectFacts {
  readonly site: LeafSite;
  /** The local account. */
  readonly account: string;
  readonly login: Login | null;
  readonly signed: SignedLogin | null;
  readonly isHub: boolean;
  readonly headers: boolean;
  readonly compression: CompressionMode;
  readonly denyImports: readonly string[];
  /** Nothing of the interest of the hub's other links is wanted. */
  readonly isolate: boolean;
}

/** The INFO behind which this side compresses; nothing else is asked of it. */
export function compressionLine(site: LeafSite, connectionId: number, told: CompressionMode): string {
  const fields = {
    server_id: site.serverId,
    server_name: site.serverName,
    version: site.version,
    proto: PROTOCOL,
    headers: true,
    client_id: connectionId,
    compression: told,
  };
  return `INFO ${JSON.stringify(fields)}\r\n`;
}

/** The CONNECT line, fields and their order as nats-server sends them; what is empty or false is left out. */
export function connectLine(facts: ConnectFacts): string {
  const { site, account, login, signed, isHub, headers, compression, denyImports, isolate } = facts;
  const fields = {
    version: site.version,
    nkey: signed?.nkey,
    jwt: signed?.jwt,
    sig: signed?.sig,
    user: login?.username,
    pass: login?.password,
    auth_token: login?.password === null ? login.username : undefined,
    server_id: site.serverId,
    domain: site.domain,
    name: site.serverName,
    is_hub: isHub,
    cluster: site.clusterName,
    headers,
    jetstream: site.hasJetStream,
    deny_pub: denyImports.length > 0 ? denyImports.map(toText) : undefined,
    isolate,
    compress_mode: compression,
    remote_account: account,
    protocol: PROTOCOL,
  };
  const told = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  );
  return `CONNECT ${JSON.stringify(Object.fromEntries(told))}\r\n`;
}

/** A subject of bytes as the text that JSON carries. */
function toText(subject: string): string {
  return Buffer.from(subject, 'latin1').toString('utf8');
}
