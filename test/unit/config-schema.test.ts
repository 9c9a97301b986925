/**
 * The table of keys is whole and consistent: it knows every key that nats-server 2.15.2 does.
 */
import { describe, expect, test } from 'vitest';
import type { AbsentKey, KeyFacts } from '../../server/config/key.ts';
import { TABLES, TOP_KEYS } from '../../server/config/schema.ts';

/** Every spelling that nats-server takes, by block. */
const KNOWN: Readonly<Record<string, string>> = {
  '': `
    listen client_advertise port server_name host net debug trace trace_verbose trace_headers logtime logtime_utc
    mappings maps disable_sublist_cache no_sublist_cache accounts default_sentinel authorization http https http_port
    monitor_port https_port http_base_path cluster gateway leaf leafnodes store_dir storedir jetstream logfile log_file
    logfile_size_limit log_size_limit logfile_max_num log_max_num syslog remote_syslog pidfile pid_file ports_file_dir
    prof_port prof_block_rate max_control_line max_payload max_pending proxy_protocol max_connections max_conn
    max_traced_msg_len max_subscriptions max_subs max_sub_tokens max_subscription_tokens ping_interval ping_max tls ocsp
    allow_non_tls write_deadline write_timeout lame_duck_duration lame_duck_grace_period operator operators roots root
    root_operators root_operator resolver account_resolver accounts_resolver resolver_tls resolver_preload
    resolver_pinned_accounts no_auth_user system_account system no_system_account no_system no_sys_acc no_header_support
    trusted trusted_keys connect_error_reports reconnect_error_reports websocket ws mqtt server_tags server_metadata
    feature_flags default_js_domain ocsp_cache no_fast_producer_stall max_closed_clients proxies`,
  authorization: `
    user username pass password token timeout users default_permission default_permissions permissions auth_callout
    auth_hook proxy_required`,
  'authorization.users[]': `
    nkey user username pass password permission permissions authorization allowed_connection_types connection_types
    clients proxy_required`,
  'authorization.users[].permissions': `
    pub publish import sub subscribe export publish_allow_responses allow_responses`,
  'authorization.users[].permissions.publish': 'allow deny',
  'authorization.users[].permissions.subscribe': 'allow deny',
  'authorization.users[].permissions.allow_responses': `
    max max_msgs max_messages max_responses expires expiration ttl`,
  'accounts.*': `
    nkey imports exports jetstream users default_permissions mappings maps limits msg_trace trace_dest`,
  'accounts.*.exports[]': `
    stream service response response_type threshold response_threshold response_max_time response_time accounts latency
    account_token_position allow_trace`,
  'accounts.*.imports[]': 'stream service prefix to share allow_trace',
  'accounts.*.imports[].stream': 'account subject',
  'accounts.*.limits': `
    max_connections max_conn max_subscriptions max_subs max_payload max_pay max_leafnodes max_leafs`,
  'accounts.*.jetstream': `
    max_memory max_mem mem memory max_store max_file max_disk store disk max_streams streams max_consumers consumers
    max_bytes_required max_stream_bytes max_bytes mem_max_stream_bytes memory_max_stream_bytes disk_max_stream_bytes
    store_max_stream_bytes max_ack_pending cluster_traffic`,
  'mappings.*': 'dest destination weight cluster',
  jetstream: `
    strict store store_dir storedir sync sync_interval max_memory_store max_mem_store max_mem max_file_store max_file
    domain enable enabled key ek encryption_key prev_key prev_ek prev_encryption_key cipher extension_hint limits tpm
    unique_tag max_outstanding_catchup max_buffered_size max_buffered_msgs request_queue_limit info_queue_limit
    meta_compact meta_compact_size meta_compact_sync max_concurrent_io`,
  'jetstream.limits': 'max_ack_pending max_ha_assets max_request_batch default_max_consumers duplicate_window batch',
  leafnodes: `
    listen port host net authorization remotes reconnect reconnect_delay reconnect_interval dial_timeout tls
    leafnode_advertise advertise no_advertise min_version minimum_version compression isolate_leafnode_interest isolate
    write_deadline write_timeout`,
  'leafnodes.remotes[]': `
    no_randomize dont_randomize url urls account local creds credentials nkey seed tls hub deny_imports deny_import
    deny_exports deny_export ws_compress ws_compression websocket_compress websocket_compression ws_no_masking
    websocket_no_masking jetstream_cluster_migrate js_cluster_migrate isolate_leafnode_interest isolate request_isolation
    compression first_info_timeout dial_timeout disabled proxy ignore_discovered_servers`,
  cluster: `
    name listen port host net authorization routes tls cluster_advertise advertise no_advertise connect_retries
    connect_backoff permissions pool_size accounts compression ping_interval ping_max write_deadline write_timeout`,
  gateway: `
    name listen port host net authorization tls advertise connect_retries connect_backoff gateways reject_unknown
    reject_unknown_cluster write_deadline write_timeout`,
  websocket: `
    listen port host net advertise no_tls tls same_origin allowed_origins allowed_origin allow_origins allow_origin
    origins origin handshake_timeout compress compression authorization authentication jwt_cookie user_cookie
    pass_cookie token_cookie no_auth_user headers ping_interval`,
  'websocket.authorization': 'user username pass password token timeout',
  mqtt: `
    listen port host net tls authorization authentication no_auth_user ack_wait ackwait js_api_timeout api_timeout
    max_ack_pending max_pending max_inflight js_domain stream_replicas consumer_replicas consumer_memory_storage
    consumer_inactive_threshold consumer_auto_cleanup reject_qos2_publish downgrade_qos2_subscribe`,
  tls: `
    cert_file key_file ca_file insecure verify verify_and_map verify_cert_and_check_known_urls
    allow_insecure_cipher_suites cipher_suites curve_preferences timeout connection_rate_limit pinned_certs cert_store
    cert_match_by cert_match ca_certs_match handshake_first first immediate cert_match_skip_invalid ocsp_peer certs
    certificates min_version`,
};

/** What petiole has beyond that. */
const OWN: Readonly<Record<string, string>> = { '': 'log_format unix unix_mode', 'leafnodes.remotes[]': 'spool' };

function isAbsent(key: KeyFacts): key is AbsentKey {
  return 'accepts' in key;
}

/** The tables, and those of absent blocks. */
const tables = new Map<string, readonly KeyFacts[]>(Object.entries(TABLES));
for (const key of TOP_KEYS) {
  if (isAbsent(key) && key.keys !== null) tables.set(key.name, key.keys);
}

describe.each(Object.entries(KNOWN))('%s', (path, spellings) => {
  const keys = tables.get(path) ?? [];
  const names = keys.flatMap(({ name, aliases }) => [name, ...aliases]);

  test('knows what nats-server knows, and each once', () => {
    const all = `${spellings} ${OWN[path] ?? ''}`;
    expect(names.toSorted()).toEqual(all.trim().split(/\s+/).toSorted());
  });

  test('says what each key is for', () => {
    for (const { name, type, doc } of keys) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(type).not.toBe('');
      expect(doc).toMatch(/^[A-Zh].*\.$/);
    }
  });
});
