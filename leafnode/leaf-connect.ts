/**
 * What a leaf says of itself in CONNECT, besides how it logs in. Values of a wrong type make the whole invalid; what
 * nobody looks at is ignored.
 */

import { Buffer } from 'node:buffer';
import { type ConnectOptions, defaultConnectOptions, readConnect } from '../server/protocol/connect-options.ts';
import { isValidSubject } from '../server/subject/subject.ts';
import { Fields } from './json-fields.ts';

export interface LeafConnect {
  /** How it logs in, as a client would. */
  readonly login: ConnectOptions;
  readonly name: string;
  readonly cluster: string;
  readonly domain: string;
  readonly version: string;
  readonly headers: boolean;
  /** It plays the hub. */
  readonly isHub: boolean;
  /** It wants to hear nothing of other leaves. */
  readonly wantsIsolation: boolean;
  /** What it does not want to be sent; strings of bytes. */
  readonly denied: readonly string[];
  readonly remoteAccount: string;
  /** '' if it can't compress. */
  readonly compression: string;
  /** Set by a gateway that has come to the wrong port. */
  readonly gateway: string;
}

/** Reads the JSON of a CONNECT line; a string says what is wrong with it. */
export function readLeafConnect(json: string): LeafConnect | string {
  const login = defaultConnectOptions();
  const problem = readConnect(json, login);
  if (problem !== null) return problem;
  const fields = new Fields((JSON.parse(json) as Record<string, unknown> | null) ?? {});
  const connect: LeafConnect = {
    login,
    name: login.name,
    cluster: fields.text('cluster'),
    domain: fields.text('domain'),
    version: login.version,
    headers: login.headers,
    isHub: fields.flag('is_hub'),
    wantsIsolation: fields.flag('isolate'),
    denied: (fields.texts('deny_pub') ?? []).map(toBytes).filter((subject) => isValidSubject(subject)),
    remoteAccount: fields.text('remote_account'),
    compression: fields.text('compress_mode'),
    gateway: fields.text('gateway'),
  };
  return fields.wrong === '' ? connect : `CONNECT field ${fields.wrong} is of the wrong type`;
}

/** Subjects are strings of bytes everywhere else. */
function toBytes(subject: string): string {
  return Buffer.from(subject, 'utf8').toString('latin1');
}
