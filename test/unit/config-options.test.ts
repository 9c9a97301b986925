/**
 * What each key of a config file comes to. Unless said otherwise the values are those nats-server 2.15.2 runs with.
 */
import { describe, expect, test } from 'vitest';
import { defaultOptions } from '../../server/config/draft.ts';
import { durationNs } from '../../server/config/duration.ts';
import type { LeafRemoteOptions, ServerOptions } from '../../server/config/options.ts';
import { interpretCommandLine } from '../../server/config/load.ts';
import { complaints, optionsOf, sourcesOf } from './config-files.ts';

/** What a config changes about the defaults, the file's own facts left out. */
function changed(config: string): Partial<ServerOptions> {
  const defaults: Readonly<Record<string, unknown>> = { ...defaultOptions() };
  const entries = Object.entries(optionsOf(config)).filter(([name, value]) => {
    return !name.startsWith('config') && JSON.stringify(value) !== JSON.stringify(defaults[name]);
  });
  return Object.fromEntries(entries);
}

test('without anything there are the defaults', () => {
  expect(defaultOptions()).toMatchObject({
    host: '0.0.0.0',
    port: 4222,
    monitorHost: '0.0.0.0',
    monitorPort: null,
    monitorBasePath: '/',
    maxConnections: 65_536,
    maxControlLineBytes: 4_096,
    maxPayloadBytes: 1_048_576,
    maxPendingBytes: 67_108_864,
    maxClosedClients: 10_000,
    pingIntervalMs: 120_000,
    maxPingsOut: 2,
    writeDeadlineMs: 10_000,
    writeTimeoutPolicy: 'default',
    lameDuckDurationMs: 120_000,
    lameDuckGraceMs: 10_000,
    logTime: true,
    connectErrorReports: 3_600,
    reconnectErrorReports: 1,
    authorization: { timeoutMs: 2_000, users: [] },
    jetstream: { isEnabled: false, isStrict: true, syncsAlways: true, maxMemoryBytes: null, storeDirectory: null },
    leafnodes: { remotes: [], reconnectIntervalMs: 1_000, dialTimeoutMs: 1_000 },
    logWarnings: [],
  });
  expect(changed('debug: false')).toEqual({});
});

describe('addresses', () => {
  test.each<[string, Partial<ServerOptions>]>([
    ['listen: 5222', { port: 5222 }],
    ['listen: "127.0.0.1:5222"', { host: '127.0.0.1', port: 5222, monitorHost: '127.0.0.1' }],
    ['listen: localhost:-1', { host: 'localhost', port: 0, monitorHost: 'localhost' }],
    ['listen: "[::1]:4222"', { host: '::1', monitorHost: '::1' }],
    ['net: 10.0.0.1', { host: '10.0.0.1', monitorHost: '10.0.0.1' }],
    ['port: -1', { port: 0 }],
    ['port: 0', {}],
    ['http: 8222', { monitorPort: 8222 }],
    ['http: "localhost:-1"', { monitorHost: 'localhost', monitorPort: 0 }],
    ['monitor_port: 8222', { monitorPort: 8222 }],
    ['http_port: 0', {}],
    ['http_base_path: "a/../b//"', { monitorBasePath: '/b' }],
    ['server_name: hub', { serverName: 'hub' }],
    ['client_advertise: "a:1"', { clientAdvertise: 'a:1' }],
  ])('%s', (config, expected) => {
    expect(changed(config)).toEqual(expected);
  });
});

describe('limits and times', () => {
  test.each<[string, Partial<ServerOptions>]>([
    ['max_connections: 5', { maxConnections: 5 }],
    ['max_conn: 0', { maxConnections: -1 }],
    ['max_subs: 7', { maxSubscriptions: 7 }],
    ['max_subscription_tokens: 255', { maxSubscriptionTokens: 255 }],
    ['max_control_line: 8kb', { maxControlLineBytes: 8_192 }],
    ['max_payload: 2MB', { maxPayloadBytes: 2_097_152 }],
    ['max_pending: 1g', { maxPendingBytes: 1_000_000_000 }],
    ['max_pending: 9223372036854775807', { maxPendingBytes: Number.MAX_SAFE_INTEGER }],
    ['max_closed_clients: 3', { maxClosedClients: 3 }],
    ['ping_interval: "90s"', { pingIntervalMs: 90_000 }],
    ['ping_max: 3', { maxPingsOut: 3 }],
    ['write_deadline: "1.5s"', { writeDeadlineMs: 1_500 }],
    ['write_timeout: retry', { writeTimeoutPolicy: 'retry' }],
    ['no_fast_producer_stall: true', { stallsFastProducers: false }],
    ['lame_duck_duration: "1h"', { lameDuckDurationMs: 3_600_000 }],
    ['lame_duck_grace_period: 1s', { lameDuckGraceMs: 1_000 }],
    ['no_sublist_cache: true', { hasSublistCache: false }],
    ['disable_sublist_cache: true', { hasSublistCache: false }],
    ['no_header_support: yes', { supportsHeaders: false }],
    ['no_system_account: true', { hasSystemAccount: false }],
  ])('%s', (config, expected) => {
    expect(changed(config)).toEqual(expected);
  });

  test('durations keep their nanoseconds', () => {
    expect(durationNs(optionsOf('ping_interval: "1h0.000000001s"').pingIntervalMs)).toBe(3_600_000_000_001n);
  });
});

describe('logging and what the server says of itself', () => {
  test.each<[string, Partial<ServerOptions>]>([
    ['debug: true', { debug: true }],
    ['trace: true', { trace: true }],
    ['trace_verbose: true', { trace: true, traceVerbose: true }],
    ['trace_headers: true', { trace: true, traceHeaders: true }],
    ['max_traced_msg_len: 9', { maxTracedMessageBytes: 9 }],
    ['logtime: false', { logTime: false }],
    ['logtime_utc: true', { logTimeUtc: true }],
    ['logfile: "/x/y.log"', { logFile: '/x/y.log' }],
    ['pidfile: p', { pidFile: 'p' }],
    ['ports_file_dir: d', { portsFileDirectory: 'd' }],
    ['server_tags: [A, " b ", a, ""]', { serverTags: ['a', 'b'] }],
    ['server_tags: X', { serverTags: ['x'] }],
    [
      'server_metadata: { a: b, __proto__: c }',
      {
        serverMetadata: Object.fromEntries([
          ['a', 'b'],
          ['__proto__', 'c'],
        ]),
      },
    ],
    ['connect_error_reports: 5', { connectErrorReports: 5 }],
    ['reconnect_error_reports: 6', { reconnectErrorReports: 6 }],
  ])('%s', (config, expected) => {
    expect(changed(config)).toEqual(expected);
  });
});

describe('authorization', () => {
  const authorization = (config: string): ServerOptions['authorization'] => optionsOf(config).authorization;

  test('a single user, and a token', () => {
    expect(authorization('authorization { user: a, pass: b }')).toMatchObject({ username: 'a', password: 'b' });
    expect(authorization('authorization { token: t }')).toMatchObject({ token: 't', username: '', users: [] });
  });

  test.each([
    ['3', 3_000],
    ['0.5', 500],
    ['1.1', 1_100],
    ['"2s"', 2_000],
    ['0', 2_000],
  ])('timeout %s', (text, ms) => {
    expect(authorization(`authorization { timeout: ${text} }`).timeoutMs).toBe(ms);
  });

  test('users with permissions of their own or the default ones', () => {
    const { users, noAuthUser } = authorization(`
      ADMIN = { user: admin, password: "x y" }
      no_auth_user: guest
      authorization {
        default_permissions { publish: "pub.>", subscribe: { deny: [ "secret.>" ] } }
        users = [
          $ADMIN
          { username: guest, password: g, permissions: { sub: [ "a.*", "b.> q.*" ], pub { allow: c, deny: "c.d" } } }
          { user: free, password: "", permissions: {} }
        ]
      }`);
    expect(noAuthUser).toBe('guest');
    expect(users).toMatchObject([
      {
        username: 'admin',
        password: 'x y',
        permissions: {
          publish: { allow: ['pub.>'], deny: [] },
          subscribe: { allow: null, deny: ['secret.>'] },
        },
      },
      {
        username: 'guest',
        password: 'g',
        permissions: {
          publish: { allow: ['c'], deny: ['c.d'] },
          subscribe: { allow: ['a.*', 'b.> q.*'], deny: [] },
        },
      },
      {
        username: 'free',
        password: '',
        permissions: { publish: { allow: null, deny: [] }, subscribe: { allow: null, deny: [] } },
      },
    ]);
  });

  test('subjects are strings of bytes', () => {
    const [user] = authorization('authorization { users: [ {user: é, password: é, permissions {pub: "é.>"}} ] }').users;
    expect(user?.username).toBe('é');
    expect(user?.permissions?.publish.allow).toEqual(['\u00c3\u00a9.>']);
  });

  test('a list without subjects restricts nothing', () => {
    const [user] = authorization('authorization { users: [ {user: a, permissions {pub: [], sub: {}}} ] }').users;
    expect(user?.permissions).toEqual({
      publish: { allow: null, deny: [] },
      subscribe: { allow: null, deny: [] },
      responses: null,
    });
  });
});

describe('mappings', () => {
  test('a subject, one destination with a weight, or several', () => {
    const { mappings } = optionsOf(`mappings {
      foo: bar
      "a.*": { destination: "b.$1", weight: 50% }
      c: [ { dest: d, weight: 20 }, { dest: e, weight: "30%", cluster: east } ]
    }`);
    expect(mappings).toEqual([
      { source: 'foo', destinations: [{ subject: 'bar', weight: 100, cluster: '' }] },
      { source: 'a.*', destinations: [{ subject: 'b.$1', weight: 50, cluster: '' }] },
      {
        source: 'c',
        destinations: [
          { subject: 'd', weight: 20, cluster: '' },
          { subject: 'e', weight: 30, cluster: 'east' },
        ],
      },
    ]);
  });
});

describe('jetstream', () => {
  const jetstream = (config: string): ServerOptions['jetstream'] => optionsOf(config).jetstream;

  test.each([
    ['jetstream: true', true],
    ['jetstream: enabled', true],
    ['jetstream: ENABLE', true],
    ['jetstream: off', false],
    ['jetstream: disabled', false],
    ['jetstream {}', true],
    ['jetstream { enabled: false }', false],
    ['store_dir: x', false],
  ])('%s', (config, isEnabled) => {
    expect(jetstream(config).isEnabled).toBe(isEnabled);
  });

  test('all that is in the block', () => {
    const options = jetstream(`jetstream {
      store_dir: "/data", max_mem: 1g, max_file: "2T", domain: leaf, strict: false, sync: "10s"
      max_buffered_msgs: 5, max_buffered_size: "1M", request_queue_limit: 7
      limits { max_ack_pending: 1, max_request_batch: 2, duplicate_window: "1m", default_max_consumers: -1 }
    }`);
    expect(options).toEqual({
      isEnabled: true,
      storeDirectory: '/data',
      maxMemoryBytes: 1_000_000_000,
      maxFileBytes: 2 * 1024 ** 4,
      domain: 'leaf',
      isStrict: false,
      syncsAlways: false,
      syncIntervalMs: 10_000,
      maxBufferedMessages: 5,
      maxBufferedBytes: 1_048_576,
      requestQueueLimit: 7,
      infoQueueLimit: 7,
      limits: { maxAckPending: 1, maxRequestBatch: 2, duplicateWindowMs: 60_000, defaultMaxConsumers: -1 },
    });
  });

  // petiole acknowledges what is on the disk; nats-server syncs every two minutes unless told otherwise.
  test('syncs always unless an interval is given', () => {
    expect(jetstream('jetstream {}').syncsAlways).toBe(true);
    expect(jetstream('jetstream { sync_interval: Always }').syncsAlways).toBe(true);
    expect(jetstream('jetstream { sync_interval: "2m" }')).toMatchObject({
      syncsAlways: false,
      syncIntervalMs: 120_000,
    });
  });

  test('the folder may stand outside of the block', () => {
    expect(jetstream('jetstream: true\nstore_dir: "/data"').storeDirectory).toBe('/data');
  });
});

describe('leafnodes', () => {
  const plain = { webSocketPath: null, isEncrypted: false };
  const plainProxy = { username: '', password: '', timeoutMs: 0, isEncrypted: false, tls: null };

  test('a remote with everything a plain link takes', () => {
    const { leafnodes, logWarnings } = optionsOf(`leafnodes {
      reconnect: "3s", dial_timeout: "2s", write_deadline: "4s", write_timeout: close
      remotes = [
        { url: "nats-leaf://u:p%40x@hub:7000", compression: off }
        { urls: [ "nats://a", "nats://[::1]:5", " NATS://tok@b.c " ], account: "$G", no_randomize: true, hub: true
          deny_imports: [ x, "y.>" ], deny_export: z, first_info_timeout: "5s", dial_timeout: "6s"
          disabled: true, ignore_discovered_servers: true, isolate: true, request_isolation: true, compression: false }
      ]
    }`);
    expect(leafnodes).toMatchObject({
      reconnectIntervalMs: 3_000,
      dialTimeoutMs: 2_000,
      writeDeadlineMs: 4_000,
      writeTimeoutPolicy: 'close',
    });
    expect(leafnodes.remotes).toEqual([
      {
        urls: [
          {
            ...plain,
            host: 'hub',
            port: 7000,
            username: 'u',
            password: 'p@x',
            text: 'nats-leaf://u:p%40x@hub:7000',
            redactedText: 'nats-leaf://u:xxxxx@hub:7000',
          },
        ],
        account: '$G',
        randomizesUrls: true,
        isHub: false,
        denyImports: [],
        denyExports: [],
        firstInfoTimeoutMs: 1_000,
        dialTimeoutMs: 2_000,
        isDisabled: false,
        followsDiscoveredServers: true,
        isIsolated: false,
        asksForIsolation: false,
        compression: { mode: 'off', rttThresholdsMs: [] },
        compressesFrames: false,
        asksForNoMasking: false,
        proxy: null,
        tls: null,
        credentialsFile: '',
        nkeySeed: '',
        spool: null,
      },
      {
        urls: [
          {
            ...plain,
            host: 'a',
            port: 7422,
            username: null,
            password: null,
            text: 'nats://a',
            redactedText: 'nats://a',
          },
          {
            ...plain,
            host: '::1',
            port: 5,
            username: null,
            password: null,
            text: 'nats://[::1]:5',
            redactedText: 'nats://[::1]:5',
          },
          {
            ...plain,
            host: 'b.c',
            port: 7422,
            username: 'tok',
            password: null,
            text: 'nats://tok@b.c',
            redactedText: 'nats://tok@b.c',
          },
        ],
        account: '$G',
        randomizesUrls: false,
        isHub: true,
        denyImports: ['x', 'y.>'],
        denyExports: ['z'],
        firstInfoTimeoutMs: 5_000,
        dialTimeoutMs: 6_000,
        isDisabled: true,
        followsDiscoveredServers: false,
        isIsolated: true,
        asksForIsolation: true,
        compression: { mode: 'off', rttThresholdsMs: [] },
        compressesFrames: false,
        asksForNoMasking: false,
        proxy: null,
        tls: null,
        credentialsFile: '',
        nkeySeed: '',
        spool: null,
      },
    ]);
    expect(logWarnings).toEqual([]);
  });

  test.each([
    ['ws://h', { port: 7422, webSocketPath: '/leafnode', isEncrypted: false }],
    ['WSS://u:p@h:443', { port: 443, webSocketPath: '/leafnode', isEncrypted: true, username: 'u', password: 'p' }],
    ['wss://h/', { webSocketPath: '/leafnode' }],
    ['wss://h/a/b/?q#f', { webSocketPath: '/a/b/leafnode' }],
    ['wss://h/ä b%20c', { webSocketPath: '/%C3%A4%20b%20c/leafnode' }],
  ])('a remote over WebSocket: %s', (url, parts) => {
    const { leafnodes } = optionsOf(`leafnodes { remotes: [ { url: "${url}" } ] }`);
    expect(leafnodes.remotes[0]?.urls[0]).toMatchObject({ host: 'h', ...parts });
  });

  test.each<[string, Partial<LeafRemoteOptions>]>([
    ['ws_compression: true', { compressesFrames: true, asksForNoMasking: false }],
    ['websocket_compress: true, websocket_no_masking: true', { compressesFrames: true, asksForNoMasking: true }],
    ['proxy { }', { proxy: null }],
    ['proxy { url: "http://p" }', { proxy: { ...plainProxy, host: 'p', port: 80 } }],
    ['proxy { url: "https://p" }', { proxy: { ...plainProxy, host: 'p', port: 443, isEncrypted: true } }],
    [
      'proxy { url: "HTTP://x:y@[::1]:3128/path", username: u, password: "p:w", timeout: "3s" }',
      { proxy: { ...plainProxy, host: '::1', port: 3128, username: 'u', password: 'p:w', timeoutMs: 3000 } },
    ],
  ])('a remote with %s', (keys, options) => {
    const { leafnodes } = optionsOf(`leafnodes { remotes: [ { url: "ws://h", ${keys} } ] }`);
    expect(leafnodes.remotes[0]).toMatchObject(options);
  });

  test('a remote with a proxy over TLS', () => {
    const proxy = `url: "https://p:1", tls { insecure: true, min_version: "1.3" }`;
    const { leafnodes } = optionsOf(`leafnodes { remotes: [ { url: "ws://h", proxy { ${proxy} } } ] }`);
    expect(leafnodes.remotes[0]?.proxy).toMatchObject({
      port: 1,
      isEncrypted: true,
      tls: { isInsecure: true, minVersion: 'TLSv1.3', timeoutMs: 2_000 },
    });
  });

  test('a remote that logs in with a file or a key, encrypted', () => {
    const seed = 'SUAKJDS7OKYX53UGWKNDJWWEGSEB6SG7PQWLU6RWATCNXRNFREMVM5JBWY';
    const { leafnodes } = optionsOf(`leafnodes { remotes: [
      { url: "tls://hub", creds: "/etc/edge.creds", tls { insecure: true, handshake_first: true, timeout: 5 } }
      { url: "tls://hub", nkey: ${seed}, tls { min_version: "1.3" } }
    ] }`);
    const [first, second] = leafnodes.remotes;
    expect(first).toMatchObject({ credentialsFile: '/etc/edge.creds', nkeySeed: '' });
    expect(first?.tls).toMatchObject({ isInsecure: true, isHandshakeFirst: true, timeoutMs: 5_000 });
    expect(second).toMatchObject({ credentialsFile: '', nkeySeed: seed });
    expect(second?.tls).toMatchObject({ minVersion: 'TLSv1.3', isHandshakeFirst: false, timeoutMs: 2_000 });
  });

  test.each([
    ['creds: "$X/${Y}/a.creds"', { X: '/x', Y: 'y' }, '/x/y/a.creds'],
    ['creds: "~/a.creds"', { HOME: '/home/edge' }, '/home/edge/a.creds'],
    ['creds: "${NOWHERE}a.creds"', {}, 'a.creds'],
  ])('a remote finds its file where %s says', (config, environment, path) => {
    const files = { 'a.conf': `leafnodes { remotes: [ {url: "nats://x", ${config}} ] }` };
    const outcome = interpretCommandLine(['-c', 'a.conf'], sourcesOf(files, environment));
    expect(outcome).toMatchObject({ options: { leafnodes: { remotes: [{ credentialsFile: path }] } } });
  });

  test.each([
    ['nkey: SUXXX', '1:42: Remote leafnode nkey is not a valid seed: "[REDACTED]"'],
    // An account's.
    [
      'nkey: SAAB7GSMBNE77Y2GMXDLKXAQRQ6H7LMQHVPPJNX2B72H4D3ZD4T7Y33J3M',
      '1:42: Remote leafnode nkey is not a valid seed: "[REDACTED]"',
    ],
    [
      'creds: a, nkey: SUAKJDS7OKYX53UGWKNDJWWEGSEB6SG7PQWLU6RWATCNXRNFREMVM5JBWY',
      '1:52: Remote leafnode can not have both creds and nkey defined',
    ],
    [
      'nkey: SUAKJDS7OKYX53UGWKNDJWWEGSEB6SG7PQWLU6RWATCNXRNFREMVM5JBWY, creds: a',
      '1:108: Remote leafnode can not have both creds and nkey defined',
    ],
  ])('a remote is refused with %s', (config, complaint) => {
    expect(complaints(`leafnodes { remotes: [ {url: "nats://x" , ${config} } ] }`)).toEqual([complaint]);
  });

  test.each([
    ['', 's2_auto', [10, 50, 100]],
    ['compression: ""', 's2_auto', [10, 50, 100]],
    ['compression: true', 's2_auto', [10, 50, 100]],
    ['compression: Enabled', 's2_auto', [10, 50, 100]],
    ['compression: false', 'off', []],
    ['compression: disabled', 'off', []],
    ['compression: not_supported', 'not supported', []],
    ['compression: accept', 'accept', []],
    ['compression: fast', 's2_fast', []],
    ['compression: s2_better', 's2_better', []],
    ['compression: BEST', 's2_best', []],
    ['compression: s2_uncompressed', 's2_uncompressed', []],
    ['compression: { mode: s2_fast, rtts: ["5ms"] }', 's2_fast', []],
    ['compression: { rtts: ["5ms"] }', 's2_auto', [10, 50, 100]],
    ['compression: { mode: auto, rtt_thresholds: ["5ms", "0s", "20ms", "0s"] }', 's2_auto', [5, 0, 20]],
    ['compression: { mode: auto, rtts: ["-5ms", "1.5ms"] }', 's2_auto', [0, 1.5]],
    ['compression: { mode: auto, thresholds: [] }', 's2_auto', [10, 50, 100]],
  ])('a remote with %j is compressed %s', (config, mode, rttThresholdsMs) => {
    const { leafnodes, logWarnings } = optionsOf(`leafnodes { remotes: [ {url: "nats://hub", ${config}} ] }`);
    expect(leafnodes.remotes[0]?.compression).toEqual({ mode, rttThresholdsMs });
    expect(logWarnings).toEqual([]);
  });

  test.each([
    ['zip', '1:42: unsupported compression mode "zip"'],
    ['5', '1:42: field "compression" should be a boolean or a structure, got int64'],
    ['{x: 1}', '1:56: unknown field "x"'],
    ['{mode: 5}', '1:56: interface conversion: interface {} is int64, not string'],
    ['{mode: auto, rtts: "x"}', '1:68: interface conversion: interface {} is string, not []interface {}'],
    ['{mode: auto, rtts: ["x"]}', '1:68: time: invalid duration "x"'],
    ['{mode: auto, rtts: ["5ms", "1ms"]}', '1:42: RTT threshold values [5ms 1ms] should be in ascending order'],
    ['{mode: auto, rtts: ["0s"]}', '1:42: compression mode "auto" requires at least one RTT threshold'],
    [
      '{mode: auto, rtts: ["1ms", "2ms", "3ms", "4ms", "5ms"]}',
      '1:42: compression mode "auto" should have no more than 4 RTT thresholds: [1ms 2ms 3ms 4ms 5ms]',
    ],
  ])('a remote is refused with compression: %s', (config, complaint) => {
    expect(complaints(`leafnodes { remotes: [ {url: "nats://x" , compression: ${config} } ] }`)).toEqual([complaint]);
  });
});

describe('warnings for the log', () => {
  test('plain passwords', () => {
    const warning = 'Plaintext passwords detected, use nkeys or bcrypt';
    expect(optionsOf('authorization { user: a, password: b }').logWarnings).toEqual([warning]);
    expect(optionsOf('authorization { users: [ {user: a, password: b} ] }').logWarnings).toEqual([warning]);
    expect(optionsOf('authorization { user: a }').logWarnings).toEqual([]);
  });

  test('large payloads', () => {
    expect(optionsOf('max_payload: 9mb').logWarnings).toEqual([
      'Maximum payloads over 8.00 MB are generally discouraged and could lead to poor performance',
    ]);
    expect(optionsOf('max_payload: 8mb').logWarnings).toEqual([]);
  });
});

test('keys are known in any case, and a key that serves as a variable need not be known', () => {
  expect(changed('PORT_OF_MINE: 7\nPort: $PORT_OF_MINE\nMAX_Payload: 5')).toEqual({ port: 7, maxPayloadBytes: 5 });
});
