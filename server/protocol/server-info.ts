/** The INFO line: what a server tells about itself. Absent values are left out, as nats-server leaves them out. */

import { Buffer } from 'node:buffer';

export interface ServerInfo {
  server_id: string;
  server_name: string;
  version: string;
  proto: number;
  git_commit?: string;
  go: string;
  host: string;
  port: number;
  headers: boolean;
  auth_required?: boolean;
  tls_required?: boolean;
  tls_verify?: boolean;
  tls_available?: boolean;
  max_payload: number;
  jetstream?: boolean;
  client_id?: number;
  client_ip?: string;
  nonce?: string;
  cluster?: string;
  domain?: string;
  connect_urls?: string[];
  ldm?: boolean;
  xkey?: string;
  api_lvl?: number;
  connect_info?: boolean;
  remote_account?: string;
  acc_is_sys?: boolean;
}

/** `INFO {…} CR LF`, with the space before the line end that nats-server sends. */
export function encodeInfo(info: ServerInfo): Buffer {
  return Buffer.from(`INFO ${JSON.stringify(info)} \r\n`, 'utf8');
}
