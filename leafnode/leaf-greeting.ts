/**
 * What a hub tells a leaf in INFO: when the leaf has dialled, and again when its CONNECT was taken, then with what its
 * user may do. Fields and their order are nats-server's; what is absent or false is left out.
 */

import { Buffer } from 'node:buffer';
import { hostPort } from './dial.ts';
import type { CompressionMode } from '../server/config/compression.ts';
import type { Permissions } from '../server/account/permissions.ts';
import type { ServerInfo } from '../server/protocol/server-info.ts';
import type { SubjectLists } from './hub-info.ts';

/** Everything short of message tracing. */
const PROTOCOL = 2;

/** What is the same for all leaves. */
export interface HubFacts {
  readonly server: ServerInfo;
  readonly address: { readonly host: string; readonly port: number };
  readonly hasTls: boolean;
  readonly verifiesLeaves: boolean;
  /** '' outside of one. */
  readonly cluster: string;
  /** `host:port` of each leaf port; `null`: leaves are told none. */
  readonly urls: readonly string[] | null;
}

export interface Answer {
  readonly clientId: number;
  readonly account: string;
  readonly isSystemAccount: boolean;
  readonly permissions: Permissions | null;
}

/** The first INFO line, and the one that answers a leaf's INFO: `compression` is what this side is set to. */
export function greetingLine(facts: HubFacts, clientId: number, nonce: string, compression: CompressionMode): Buffer {
  return infoLine(facts, { client_id: clientId, nonce, ...(compression !== 'not supported' && { compression }) });
}

/** The INFO line that answers a CONNECT. */
export function answerLine(facts: HubFacts, { clientId, account, isSystemAccount, permissions }: Answer): Buffer {
  const [subscribe, publish] = [shown(permissions?.rules.subscribe), shown(permissions?.rules.publish)];
  return infoLine(facts, {
    client_id: clientId,
    connect_info: true,
    remote_account: account,
    ...(isSystemAccount && { acc_is_sys: true }),
    ...(subscribe !== null && { import: subscribe }),
    ...(publish !== null && { export: publish }),
  });
}

/** What differs from one line to the other. */
interface LineFields {
  readonly client_id: number;
  readonly nonce?: string;
  readonly compression?: string;
  readonly connect_info?: true;
  readonly remote_account?: string;
  readonly acc_is_sys?: true;
  readonly import?: object;
  readonly export?: object;
}

function infoLine(facts: HubFacts, line: LineFields): Buffer {
  const { server, address, hasTls, verifiesLeaves, cluster, urls } = facts;
  const { host, port } = address;
  const fields = {
    server_id: server.server_id,
    server_name: server.server_name,
    version: server.version,
    proto: PROTOCOL,
    git_commit: server.git_commit,
    go: server.go,
    host,
    port,
    headers: server.headers,
    auth_required: true,
    tls_required: hasTls || undefined,
    tls_verify: verifiesLeaves || undefined,
    max_payload: server.max_payload,
    jetstream: server.jetstream,
    ip: hostPort(address),
    client_id: line.client_id,
    nonce: line.nonce,
    cluster: cluster || undefined,
    domain: server.domain,
    compression: line.compression,
    connect_info: line.connect_info,
    remote_account: line.remote_account,
    acc_is_sys: line.acc_is_sys,
    api_lvl: server.api_lvl,
    import: line.import,
    export: line.export,
    info_on_connect: true,
    leafnode_urls: urls ?? undefined,
  };
  return Buffer.from(`INFO ${escaped(JSON.stringify(fields))} \r\n`, 'utf8');
}

/** Lists of a user's permissions as JSON holds them; `null` where they restrict nothing. */
function shown(rules: SubjectLists | undefined): object | null {
  if (rules === undefined || (rules.allow === null && rules.deny.length === 0)) return null;
  const { allow, deny } = rules;
  return { allow: allow?.map(toText), deny: deny.length === 0 ? undefined : deny.map(toText) };
}

function toText(subject: string): string {
  return Buffer.from(subject, 'latin1').toString('utf8');
}

/** As Go's encoder writes what could be taken for markup. */
function escaped(json: string): string {
  return json.replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}
