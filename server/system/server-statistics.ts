/** The short summary of a server that STATSZ is: from the page that says all of it, with the names that it has here. */

import type { MonitorContext } from '../monitor/endpoint.ts';
import { exactJsonText } from '../monitor/json-text.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import { varzText } from '../monitor/varz.ts';

/** Those that are used. */
interface Varz {
  readonly start: string;
  readonly mem: number;
  readonly cores: number;
  readonly gomaxprocs: number;
  readonly cpu: number;
  readonly connections: number;
  readonly total_connections: number;
  readonly subscriptions: number;
  readonly in_msgs: number;
  readonly in_bytes: number;
  readonly out_msgs: number;
  readonly out_bytes: number;
  readonly in_client_msgs: number;
  readonly in_client_bytes: number;
  readonly out_client_msgs: number;
  readonly out_client_bytes: number;
  readonly slow_consumers: number;
  readonly slow_consumer_stats: ByKind;
  readonly stale_connections: number;
  readonly stale_connection_stats: ByKind;
  readonly stalled_clients: number;
}

type ByKind = Readonly<Record<string, number>>;

/** JSON of the summary. `activeServers`: how many there are, this one included. */
export function serverStatistics(context: MonitorContext, activeServers: number): string {
  const { source } = context;
  const varz = JSON.parse(varzText(context)) as Varz;
  return exactJsonText({
    start: varz.start,
    mem: varz.mem,
    cores: varz.cores,
    cpu: varz.cpu,
    connections: varz.connections,
    total_connections: varz.total_connections,
    active_accounts: activeAccounts(source),
    subscriptions: varz.subscriptions,
    sent: { msgs: varz.out_msgs, bytes: varz.out_bytes },
    sent_to_clients: { msgs: varz.out_client_msgs, bytes: varz.out_client_bytes },
    received: { msgs: varz.in_msgs, bytes: varz.in_bytes },
    received_from_clients: { msgs: varz.in_client_msgs, bytes: varz.in_client_bytes },
    slow_consumers: varz.slow_consumers,
    slow_consumer_stats: unlessZero(varz.slow_consumer_stats),
    stale_connections: varz.stale_connections || undefined,
    stale_connection_stats: unlessZero(varz.stale_connection_stats),
    stalled_clients: varz.stalled_clients || undefined,
    active_servers: activeServers,
    jetstream: jetStreamOf(source),
    gomaxprocs: varz.gomaxprocs,
  });
}

/** Accounts that somebody is connected to, or that have streams. */
function activeAccounts({ accounts, leafNodes, jetstream }: MonitorSource): number {
  const active = new Set(leafNodes.links().map(({ accountName }) => accountName));
  for (const { name, limits } of accounts.values()) {
    if (limits.clients > 0 || (jetstream?.accounts.get(name)?.streams.size ?? 0) > 0) active.add(name);
  }
  active.delete('');
  return active.size;
}

function unlessZero(counts: ByKind): ByKind | undefined {
  return Object.values(counts).some((count) => count > 0) ? counts : undefined;
}

/** Where it is stored is nobody else's business. */
function jetStreamOf({ jetStreamView }: MonitorSource): object | undefined {
  if (jetStreamView === null) return undefined;
  const { config, ...rest } = jetStreamView.varz() as { readonly config: object };
  return { config: { ...config, store_dir: undefined }, ...rest };
}
