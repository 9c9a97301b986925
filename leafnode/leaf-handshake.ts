/**
 * The two lines by which a soliciting link and its hub come to know each other: why a hub's greeting is refused, and
 * the CONNECT that answers an accepted one.
 *
 * Compression is never offered: the hub compresses nothing for a link that answers its greeting with CONNECT at once.
 * The protocol level told is 2, everything short of message tracing.
 */

import type { ClosedReason } from '../server/protocol/errors.ts';
import type { HubInfo } from './hub-info.ts';
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
  if (info.tlsRequired) {
    return {
      text: 'the remote requires TLS, which this link does not have',
      reason: 'Protocol Violation',
      isTold: false,
    };
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
  readonly isHub: boolean;
  readonly headers: boolean;
  readonly compression: CompressionMode;
  readonly denyImports: readonly string[];
}

/** `off`: the hub could compress; `not supported`: it could not either. */
export type CompressionMode = 'off' | 'not supported';

/** The CONNECT line, fields and their order as nats-server sends them; what is empty or false is left out. */
export function connectLine({ site, account, login, isHub, headers, compression, denyImports }: ConnectFacts): string {
  const fields = {
    version: site.version,
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
