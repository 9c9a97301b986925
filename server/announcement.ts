/** What a server says of itself in INFO, as its configuration has it. */

import { parseDecimal, splitHostPort } from './config/host-port.ts';
import type { ServerOptions } from './config/options.ts';
import { tlsInfo } from './connection/tls-info.ts';
import type { Address } from './io/io.ts';
import type { ServerInfo } from './protocol/server-info.ts';
import { API_LEVEL, NATS_VERSION, PETIOLE_VERSION } from './protocol/version.ts';
import { StartError } from './start-error.ts';

export interface Announced {
  readonly id: string;
  readonly name: string;
  readonly authRequired: boolean;
}

/** Throws a StartError when the options hold no address to tell. */
export function announcement({ id, name, authRequired }: Announced, options: ServerOptions): ServerInfo {
  const info: ServerInfo = {
    server_id: id,
    server_name: name,
    version: NATS_VERSION,
    proto: 1,
    git_commit: `petiole-${PETIOLE_VERSION}`,
    go: `petiole ${PETIOLE_VERSION}`,
    ...advertisedAddress(options),
    headers: options.supportsHeaders,
    ...tlsInfo(options),
    max_payload: options.maxPayloadBytes,
    api_lvl: API_LEVEL,
  };
  if (authRequired) info.auth_required = true;
  if (options.jetstream.isEnabled) info.jetstream = true;
  if (options.jetstream.domain !== '') info.domain = options.jetstream.domain;
  return info;
}

/** Where clients are told to connect. */
function advertisedAddress(options: ServerOptions): Address {
  const { host, port, clientAdvertise } = options;
  if (clientAdvertise === '') return { host, port };
  const advertised = splitHostPort(clientAdvertise) ?? { host: clientAdvertise, port: String(port) };
  const advertisedPort = parseDecimal(advertised.port);
  if (advertisedPort === null || advertisedPort > 65_535) {
    throw new StartError(`client_advertise "${clientAdvertise}" is not an address`, null);
  }
  return { host: advertised.host, port: advertisedPort <= 0 ? port : advertisedPort };
}
