/**
 * What a hub tells of itself and of this link in an INFO line. Only the fields a soliciting link looks at are read; a
 * value of another type than expected makes the whole INFO invalid, an absent one gets its default.
 *
 * There are three occasions: the greeting; the one with `connect_info` that answers CONNECT and brings the permissions
 * of the link's user; and later ones when the hub's addresses change.
 */

import { Fields } from './json-fields.ts';

export interface HubInfo {
  readonly serverId: string;
  readonly serverName: string;
  readonly cluster: string;
  readonly domain: string;
  readonly headers: boolean;
  readonly tlsRequired: boolean;
  /** To be signed by those who log in with a key; empty when there is none. */
  readonly nonce: string;
  /** Bytes; 0 when not told. */
  readonly maxPayloadBytes: number;
  /** 0 when it is no leaf, route or client port. */
  readonly clientId: number;
  /** How the hub would like to compress; empty when it can't. */
  readonly compression: string;
  /** A second INFO follows CONNECT. */
  readonly infoOnConnect: boolean;
  /** This is that second INFO. */
  readonly connectInfo: boolean;
  readonly remoteAccount: string;
  /** `null` when not told: the port is no leaf port, or the hub does not advertise. */
  readonly leafnodeUrls: readonly string[] | null;
  /** The addresses at which the hub speaks WebSocket. */
  readonly webSocketUrls: readonly string[];
  /** What the hub lets in from this link, and what it sends to it; `null`: as before. */
  readonly exports: SubjectLists | null;
  readonly imports: SubjectLists | null;
}

export interface SubjectLists {
  /** `null`: everything. */
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

/** Reads the JSON of an INFO line; a string says what is wrong with it. */
export function readHubInfo(json: string): HubInfo | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    return `invalid JSON in INFO: ${(error as Error).message}`;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'INFO takes a JSON object';
  const fields = new Fields(parsed as Record<string, unknown>);
  const info: HubInfo = {
    serverId: fields.text('server_id'),
    serverName: fields.text('server_name'),
    cluster: fields.text('cluster'),
    domain: fields.text('domain'),
    headers: fields.flag('headers'),
    tlsRequired: fields.flag('tls_required'),
    nonce: fields.text('nonce'),
    maxPayloadBytes: fields.count('max_payload'),
    clientId: fields.count('client_id'),
    compression: fields.text('compression'),
    infoOnConnect: fields.flag('info_on_connect'),
    connectInfo: fields.flag('connect_info'),
    remoteAccount: fields.text('remote_account'),
    leafnodeUrls: fields.texts('leafnode_urls'),
    webSocketUrls: fields.texts('ws_connect_urls') ?? [],
    exports: subjectListsOf(fields, 'export'),
    imports: subjectListsOf(fields, 'import'),
  };
  return fields.wrong === '' ? info : `INFO field ${fields.wrong} is of the wrong type`;
}

/** Subjects are strings of bytes everywhere else. */
function toBytes({ allow, deny }: SubjectLists): SubjectLists {
  const each = (subject: string): string => Buffer.from(subject, 'utf8').toString('latin1');
  return { allow: allow === null ? null : allow.map(each), deny: deny.map(each) };
}

function subjectListsOf(fields: Fields, name: string): SubjectLists | null {
  const lists = fields.fields(name);
  if (lists === null) return null;
  const read = { allow: lists.texts('allow'), deny: lists.texts('deny') ?? [] };
  return lists.wrong === '' ? toBytes(read) : fields.refuse(name, null);
}
