/**
 * Blocks of nats-server's configuration that petiole does not have yet, with the keys in them. A block that only says
 * what is the default anyway is accepted, anything else is refused as a whole, and misspelt keys are still told.
 */

import { absent, absentRows } from './key.ts';
import type { AbsentKey } from './key.ts';

const CLUSTER_KEYS: readonly AbsentKey[] = absentRows(
  { live: 'Cluster' },
  {
    name: ['string', 'Name of the cluster.', ''],
    listen: ['port or host:port', 'Where routes are accepted.'],
    port: ['integer', 'Port on which.', 0n],
    'host|net': ['string', 'Address on which.', ''],
    authorization: ['map', 'Who may route.'],
    routes: ['list of URLs', 'Servers to dial.'],
    tls: ['map', 'Encrypts routes.'],
    'cluster_advertise|advertise': ['string', 'host:port that others are told.', ''],
    no_advertise: ['boolean', 'Tells clients no addresses of other servers.', false],
    connect_retries: ['integer', 'How often a discovered server is dialled again.', 0n],
    connect_backoff: ['boolean', 'Waits longer after each failure.', false],
    permissions: ['map', 'What may cross routes.'],
    pool_size: ['integer', 'How many routes lie between two servers.', 3n],
    accounts: ['list of strings', 'Accounts with routes of their own.'],
    compression: ['string, boolean or map', 'How routes are compressed.', 'accept', 'off', false],
    ping_interval: ['duration', 'How often a quiet route is pinged.'],
    ping_max: ['integer', 'How many pings may go unanswered.'],
    write_deadline: ['duration', 'How long a write may take.'],
    write_timeout: ['default, close or retry', 'What happens when a write takes too long.', 'default'],
  },
);

const GATEWAY_KEYS: readonly AbsentKey[] = absentRows(
  { restart: 'Gateway' },
  {
    name: ['string', 'Name of the cluster behind the gateway.', ''],
    listen: ['port or host:port', 'Where gateways are accepted.'],
    port: ['integer', 'Port on which.', 0n],
    'host|net': ['string', 'Address on which.', ''],
    authorization: ['map', 'Who may connect.'],
    tls: ['map', 'Encrypts gateways.'],
    advertise: ['string', 'host:port that others are told.', ''],
    connect_retries: ['integer', 'How often a discovered gateway is dialled again.', 0n],
    connect_backoff: ['boolean', 'Waits longer after each failure.', false],
    gateways: ['list of maps', 'Clusters to dial: name, url or urls, tls.'],
    'reject_unknown_cluster|reject_unknown': ['boolean', 'Takes only the clusters listed.', false],
    write_deadline: ['duration', 'How long a write may take.'],
    write_timeout: ['default, close or retry', 'What happens when a write takes too long.', 'default'],
  },
);

const MQTT_KEYS: readonly AbsentKey[] = absentRows(
  { live: 'MQTT' },
  {
    listen: ['port or host:port', 'Where MQTT clients connect.'],
    port: ['integer', 'Port on which.', 0n],
    'host|net': ['string', 'Address on which.', ''],
    tls: ['map', 'Encrypts connections.'],
    'authorization|authentication': ['map', 'Who may connect.'],
    no_auth_user: ['string', 'User that clients without credentials become.', ''],
    'ack_wait|ackwait': ['duration', 'After how long a message is sent again, 30s by default.'],
    'js_api_timeout|api_timeout': ['duration', 'How long JetStream may take to answer, 5s by default.'],
    'max_ack_pending|max_pending|max_inflight': ['integer', 'How many messages may be unacknowledged.', 1_024n],
    js_domain: ['string', 'Domain of the JetStream used.', ''],
    stream_replicas: ['integer', 'Replicas of the streams used.', 0n],
    consumer_replicas: ['integer', 'Replicas of the consumers used.', 0n],
    consumer_memory_storage: ['boolean', 'Keeps consumers in memory.', false],
    'consumer_inactive_threshold|consumer_auto_cleanup': ['duration', 'After how long idle consumers are removed.'],
    reject_qos2_publish: ['boolean', 'Refuses QoS 2 from clients.', false],
    downgrade_qos2_subscribe: ['boolean', 'Turns QoS 2 subscriptions into QoS 1.', false],
  },
);

export const ABSENT_KEYS: readonly AbsentKey[] = [
  ...absentRows(
    { live: 'OCSPConfig' },
    { ocsp: ['boolean or map', 'Staples proof that the certificate is valid.', false] },
  ),
  ...absentRows(
    { live: 'OCSPCacheConfig' },
    { ocsp_cache: ['boolean or map', 'Keeps answers about revocation.', false] },
  ),
  absent('cluster', 'map', {
    live: 'Cluster',
    acceptsEmpty: true,
    doc: 'Routes to servers of one cluster.',
    keys: CLUSTER_KEYS,
  }),
  absent('gateway', 'map', {
    restart: 'Gateway',
    acceptsEmpty: true,
    doc: 'Links to other clusters.',
    keys: GATEWAY_KEYS,
  }),
  absent('mqtt', 'map', { live: 'MQTT', acceptsEmpty: true, doc: 'Clients that speak MQTT.', keys: MQTT_KEYS }),
  absent('operator', 'JWT, file or list of them', {
    aliases: ['operators', 'root', 'roots', 'root_operator', 'root_operators'],
    restart: 'TrustedOperators',
    acceptsEmpty: true,
    doc: 'Operators whose accounts are trusted.',
  }),
  absent('trusted_keys', 'string or list of strings', {
    aliases: ['trusted'],
    restart: 'TrustedKeys',
    acceptsEmpty: true,
    doc: 'Keys of operators that are trusted.',
  }),
  absent('resolver', 'MEMORY, URL(…) or map', {
    aliases: ['account_resolver', 'accounts_resolver'],
    live: 'AccountResolver',
    doc: 'Where accounts of operators are found.',
  }),
  absent('resolver_tls', 'map', { live: 'AccountResolverTLSConfig', doc: 'Encrypts the way there.' }),
  absent('resolver_preload', 'map of JWTs', {
    restart: 'AccountResolver',
    acceptsEmpty: true,
    doc: 'Accounts known from the start.',
  }),
  absent('resolver_pinned_accounts', 'string or list of strings', {
    restart: 'AccountResolver',
    acceptsEmpty: true,
    doc: 'Accounts that are always held.',
  }),
  ...absentRows(
    { live: 'DefaultSentinel' },
    { default_sentinel: ['string', 'JWT of clients without credentials.', ''] },
  ),
  absent('default_js_domain', 'map of strings', {
    restart: 'JsAccDefaultDomain',
    acceptsEmpty: true,
    doc: 'JetStream domain of an account whose requests name none.',
  }),
  absent('proxies', 'map', {
    live: 'Proxies',
    acceptsEmpty: true,
    doc: 'Proxies that may speak for clients.',
    keys: absentRows({ live: 'Proxies' }, { trusted: ['list of maps', 'Keys of the proxies: key or public_key.'] }),
  }),
];
