/** What a server says of itself in INFO, as its configuration has it. */

import { advertisedAddress } from './config/host-port.ts';
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
  /** Where it listens for clients; null until it does. */
  readonly clientAddress: Address | null;
}

/** Throws a StartError when the options hold no address to tell. */
export function announcement(server: Announced, options: ServerOptions): ServerInfo {
  const { id, name, authRequired } = server;
  const info: ServerInfo = {
    server_id: id,
    server_name: name,
    version: NATS_VERSION,
    proto: 1,
    git_commit: `petiole-${PETIOLE_VERSION}`,
    go: `petiole ${PETIOLE_VERSION}`,
    ...toldAddress(options, server.clientAddress?.port ?? options.port),
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
function toldAddress(options: ServerOptions, port: number): Address {
  const { host, clientAdvertise, websocket, leafnodes } = options;
  const { listener } = leafnodes;
  // In the order in which nats-server opens the ports.
  checked(websocket, 'Unable to get websocket connect URLs: ');
  checked(listener, `Error setting leafnode INFO with LeafNode.Advertise value of ${listener.advertise}, err=`);
  const what = `Error setting server INFO with ClientAdvertise value of ${clientAdvertise}, err=`;
  return checked({ advertise: clientAdvertise, port }, what) ?? { host, port };
}

/** What a port that is open tells others; null if it tells nothing of its own. Throws if that is no address. */
function checked(
  { advertise, port }: { readonly advertise: string; readonly port: number | null },
  what: string,
): Address | null {
  if (advertise === '' || port === null) return null;
  const address = advertisedAddress(advertise, port);
  if (typeof address === 'string') throw new StartError(`${what}${address}`, null);
  return address;
}
