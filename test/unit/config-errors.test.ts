/**
 * What is said of config files that cannot be used. The texts are nats-server 2.15.2's, as its `-t` prints them, but
 * for what petiole refuses because it is not there yet and for the cases under "differs from nats-server".
 */
import { describe, expect, test } from 'vitest';
import { complaints, exitOf, run } from './config-files.ts';

describe('values of the wrong type', () => {
  test.each([
    ['port: "x"', '1:0: interface conversion: interface {} is string, not int64'],
    ['\n  port: 1.5', '2:3: interface conversion: interface {} is float64, not int64'],
    ['port: true', '1:0: interface conversion: interface {} is bool, not int64'],
    ['port: {}', '1:0: interface conversion: interface {} is map[string]interface {}, not int64'],
    ['port: []', '1:0: interface conversion: interface {} is []interface {}, not int64'],
    ['port: 2020-01-01T00:00:00Z', '1:0: interface conversion: interface {} is time.Time, not int64'],
    ['debug: "true"', '1:0: interface conversion: interface {} is string, not bool'],
    ['client_advertise: 5', '1:0: interface conversion: interface {} is int64, not string'],
    ['lame_duck_duration: 10', '1:0: interface conversion: interface {} is int64, not string'],
    ['mappings: 5', '1:0: interface conversion: interface {} is int64, not map[string]interface {}'],
    ['mappings { a: { dest: 5, weight: 5 } }', '1:11: interface conversion: interface {} is int64, not string'],
    ['server_metadata { a: 5 }', '1:18: interface conversion: interface {} is int64, not string'],
    ['authorization { user: 5 }', '1:16: interface conversion: interface {} is int64, not string'],
    // Within jetstream{} the blame falls on the block.
    ['\njetstream {\n limits { max_ack_pending: a } }', '2:1: interface conversion: interface {} is string, not int64'],
    ['jetstream { domain: 5 }', '1:0: interface conversion: interface {} is int64, not string'],
    // #147, #494, #6891: an unquoted password that is a number is named with its place.
    [
      'authorization { users: [ {user: a, password: 1234} ] }',
      '1:35: interface conversion: interface {} is int64, not string',
    ],
  ])('%s', (config, complaint) => {
    expect(complaints(config)).toEqual([complaint]);
  });
});

describe('unknown fields', () => {
  test.each([
    ['foo: 1', ['1:0: unknown field "foo"']],
    ['authorization { foo: 1 }', ['1:16: unknown field "foo"']],
    ['authorization { users: [ {user: a, foo: 1} ] }', ['1:35: unknown field "foo"']],
    ['jetstream { foo: 1 }', ['1:12: unknown field "foo"']],
    ['jetstream { limits { foo: 1 } }', ['1:21: unknown field "foo"']],
    ['leafnodes { foo: 1 }', ['1:12: unknown field "foo"']],
    ['leafnodes { remotes: [ {foo: 1} ] }', ['1:24: unknown field "foo"']],
    ['port: 1\nfoo: 1\n bar: 2', ['2:1: unknown field "foo"', '3:2: unknown field "bar"']],
    ['cluster { foo: 1 }', ['1:10: unknown field "foo"']],
    ['constructor: 1', ['1:0: unknown field "constructor"']],
  ])('%s', (config, expected) => {
    expect(complaints(config)).toEqual(expected);
  });
});

describe('values that cannot be', () => {
  test.each([
    ['listen: "a"', '1:0: could not parse address string "a"'],
    ['listen: "::1:5"', '1:0: could not parse address string "::1:5"'],
    ['listen: "a:b"', '1:0: could not parse port "b"'],
    ['listen: true', '1:0: expected port or host:port, got bool'],
    ['server_name: "a b"', '1:0: server name cannot contain spaces'],
    ['max_payload: 3g', '1:0: max_payload value is too big'],
    ['max_sub_tokens: 0', '1:0: max_sub_tokens value can not be negative'],
    ['max_subscription_tokens: 256', '1:0: max_subscription_tokens value is too big'],
    ['ping_interval: "5"', '1:0: error parsing ping_interval: time: missing unit in duration "5"'],
    ['write_deadline: "1x"', '1:0: error parsing write_deadline: time: unknown unit "x" in duration "1x"'],
    ['write_timeout: foo', "1:0: write_timeout must be 'default', 'close' or 'retry'"],
    ['lame_duck_duration: "10s"', '1:0: invalid lame_duck_duration of 10s, minimum is 30 seconds'],
    ['lame_duck_grace_period: "-1s"', '1:0: invalid lame_duck_grace_period, needs to be positive'],
    ['server_tags: 5', '1:0: error parsing tags: unsupported type int64'],
    ['server_tags: [a, 5 ]', '1:0: error parsing tags: unsupported type *conf.token where string is expected'],
    ['server_metadata: 5', '1:0: error parsing metadata: unsupported type int64'],
    ['system_account: 5', '1:0: system account name must be a string'],
    ['authorization { users: 5 }', '1:16: Expected users field to be an array, got 5'],
    ['authorization { users: [ 5 ] }', '1:25: Expected user entry to be a map/struct, got 5'],
    ['authorization { users: [ {password: b} ] }', '1:26: User entry requires a user'],
    ['authorization { users: [ {} ] }', '1:27: User entry requires a user'],
    [
      'authorization { timeout: "x" }',
      `1:16: error parsing authorization config, 'timeout' time: invalid duration "x"`,
    ],
    ['authorization { timeout: [] }', "1:16: error parsing authorization config, 'timeout' wrong type"],
    ['authorization { user: a, password: b, token: c }', '1:0: Cannot have a user/pass and token'],
    ['authorization { token: a, users: [] }', '1:0: Can not have a token and a users array'],
    ['authorization { user: a, users: [] }', '1:0: Can not have a single user/pass and a users array'],
    ['authorization { users: [ {user: a}, {user: a} ] }', '1:0: Duplicate user "a" detected'],
    ['authorization { permissions: 5 }', '1:16: Expected permissions to be a map/struct, got 5'],
    ['authorization { permissions: { x: 5 } }', '1:31: Unknown field "x" parsing permissions'],
    [
      'authorization { permissions: { sub: { allw: x } } }',
      `1:38: Unknown field name "allw" parsing subject permissions, only 'allow' or 'deny' are permitted`,
    ],
    ['authorization { permissions: { sub: {allow: "a b c"} } }', '1:37: subject "a b c" is not a valid subject'],
    ['authorization { permissions: { pub: {allow: "a b"} } }', '1:37: subject "a b" is not a valid subject'],
    ['authorization { permissions: { sub: {deny: "a b..c"} } }', '1:37: queue "b..c" is not a valid queue'],
    [
      'authorization { permissions: { pub: [ {x: 1} ] } }',
      '1:44: Subject in permissions array cannot be cast to string',
    ],
    ['mappings { "a..b": c }', '1:0: Subject "a..b" is not a valid subject'],
    ['mappings { a: 5 }', '1:11: Expected an entry for the mapping destination'],
    ['mappings { a: [ {dest: b} ] }', '1:25: Missing weight for mapping destination "b"'],
    ['mappings { a: { dest: b, weight: 500 } }', '1:25: Invalid weight 500 for mapping destination'],
    ['mappings { a: { dest: b, weight: x } }', '1:25: Invalid weight "x" for mapping destination'],
    ['mappings { a: { desx: b, weight: 5 } }', '1:16: Unknown field "desx" for mapping destination'],
    [
      'mappings { a.*: "b.$2" }',
      '1:11: Error adding mapping for "a.*" to "b.$2" : invalid mapping destination: wildcard index out of range in $2: [2]',
    ],
    [
      'mappings { a: [ {dest: b, weight: 50}, {dest: b, weight: 50} ] }',
      '1:11: Error adding mapping for "a" : duplicate entry for "b"',
    ],
    [
      'mappings { a: [ {dest: b, weight: 60}, {dest: c, weight: 50} ] }',
      '1:11: Error adding mapping for "a" : total weight needs to be <= 100',
    ],
    ['jetstream: foo', "1:0: Expected 'enabled' or 'disabled' for string value, got 'foo'"],
    ['jetstream: 5', '1:0: Expected map, bool or string to define JetStream, got int64'],
    ['jetstream { strict: x }', "1:12: Expected 'true' or 'false' for bool value, got 'x'"],
    ['jetstream { strict: 5 }', "1:12: Expected 'true' or 'false' for bool value, got '%!s(int64=5)'"],
    ['jetstream { max_mem: "1g" }', '1:12: max_mem_store sizes defined as strings must end in K, M, G, T'],
    ['jetstream { max_file: "xG" }', '1:12: max_file_store strconv.ParseInt: parsing "x": invalid syntax'],
    ['jetstream { max_file: [] }', '1:12: max_file_store must be int64 or string'],
    ['jetstream { max_buffered_msgs: x }', '1:12: Expected a parseable size for "max_buffered_msgs", got x'],
    ['jetstream { limits: 5 }', '1:12: Expected a map to define JetStreamLimits, got int64'],
    ['store_dir: a\njetstream {store_dir: b}', "2:12: Duplicate 'store_dir' configuration"],
    ['leafnodes: 5', '1:0: Expected map to define a leafnode, got int64'],
    ['leafnodes { remotes: 5 }', '1:12: Expected remotes field to be an array, got int64'],
    ['leafnodes { remotes: [ 5 ] }', '1:23: Expected remote leafnode entry to be a map/struct, got 5'],
    ['leafnodes { remotes: [ {url: 5} ] }', '1:24: Expected remote leafnode url to be an array or string, got 5'],
    ['leafnodes { remotes: [ {url: "a b:c"} ] }', '1:24: error parsing leafnode url ["a b:c"]'],
    [
      'leafnodes { remotes: [ {url: "nats://a:b@x"}, {url: "nats://a:b@x"} ] }',
      '1:47: duplicate remote urls=["nats://a:xxxxx@x"], account="$G"',
    ],
    [
      'leafnodes { remotes: [ {url: "nats://x", compression: 5} ] }',
      '1:41: field "compression" should be a boolean or a structure, got int64',
    ],
    [
      'leafnodes { remotes: [ {url: "wss://u:p@x", proxy: {url: "http://p"}} ] }',
      '1:44: proxy is configured but remote URL wss://u:xxxxx@x requires TLS and no TLS configuration is provided. When using proxy with TLS endpoints, ensure TLS is properly configured for the leafnode remote',
    ],
    [
      'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://u:secret@p:x"}} ] }',
      '1:41: invalid proxy URL: parse "http://[REDACTED]@p:x": invalid port ":x" after host',
    ],
  ])('%s', (config, complaint) => {
    expect(complaints(config)).toEqual([complaint]);
  });

  test('all mistakes are told at once, each in its place', () => {
    expect(
      complaints('port: x\nping_interval: 5\nfoo: 1\nauthorization {\n timeout: 90, users: [ {user: 5} ] }'),
    ).toEqual([
      '2:1: invalid use of field "ping_interval": ping_interval should be converted to a duration',
      '5:2: invalid use of field "timeout": timeout of 90 (90.000000 seconds) is high, consider keeping it under 60 ' +
        "seconds. possibly caused by unquoted duration; use '1m' instead of 1m, for example",
      '1:0: interface conversion: interface {} is string, not int64',
      '3:1: unknown field "foo"',
      '5:25: interface conversion: interface {} is int64, not string',
      '5:25: User entry requires a user',
    ]);
  });
});

describe('warnings', () => {
  test.each([
    [
      'ping_interval: 5',
      'a.conf:1:0: invalid use of field "ping_interval": ping_interval should be converted to a duration',
    ],
    ['# nothing', 'a.conf: config has no values or is empty'],
    [
      'leafnodes { remotes: [ {urls: ["nats://x", "nats://x"], compression: off} ] }',
      'a.conf:1:44: invalid use of field "nats://x": Duplicate leafnode entry detected',
    ],
  ])('fail a test of the file but not the start: %s', (config, warning) => {
    expect(exitOf(['-c', 'a.conf', '-t'], config)).toEqual({
      code: 1,
      stdout: '',
      stderr: `nats-server: ${warning}\n\n`,
    });
    expect(run(['-c', 'a.conf'], config)).toMatchObject({ kind: 'start', stderr: `${warning}\n` });
  });
});

describe('what petiole does not have yet', () => {
  test.each([
    ['cluster { name: c, listen: "a:1" }', '1:0: cluster: not supported by petiole yet'],
    ['gateway { name: g }', '1:0: gateway: not supported by petiole yet'],
    ['mqtt { port: 1883 }', '1:0: mqtt: not supported by petiole yet'],
    ['operator: "x.jwt"', '1:0: operator: not supported by petiole yet'],
    ['resolver: MEMORY', '1:0: resolver: not supported by petiole yet'],
    ['syslog: true', '1:0: syslog: not supported by petiole yet'],
    ['proxy_protocol: true', '1:0: proxy_protocol: not supported by petiole yet'],
    ['feature_flags { js_ack_fc_v2: true }', '1:0: feature_flags: not supported by petiole yet'],
    ['system_account: "$G"', '1:0: system_account: not supported by petiole yet'],
    ['authorization { auth_callout {} }', '1:16: auth_callout: not supported by petiole yet'],
    ['jetstream { key: abc }', '1:12: key: not supported by petiole yet'],
    ['jetstream { unique_tag: az }', '1:12: unique_tag: not supported by petiole yet'],
    ['jetstream { limits { batch { max_msgs: 5 } } }', '1:21: batch: not supported by petiole yet'],
    [
      'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://p", tls: {cert_store: "x"}}} ] }',
      '1:73: cert_store: not supported by petiole yet',
    ],
  ])('%s', (config, complaint) => {
    expect(complaints(config)).toEqual([complaint]);
  });

  test.each([
    'allow_non_tls: false',
    'accounts {}',
    'cluster {}',
    'cluster { name: "", no_advertise: false, pool_size: 3 }',
    'gateway {}',
    'websocket { port: 0, no_tls: true }',
    'mqtt {}',
    'proxies { }',
    'ocsp: false',
    'https_port: 0',
    'syslog: false',
    'remote_syslog: ""',
    'log_size_limit: 0',
    'prof_port: 0',
    'proxy_protocol: false',
    'default_sentinel: ""',
    'feature_flags {}',
    'authorization { user: a, proxy_required: false }',
    'jetstream { max_outstanding_catchup: 64mb, meta_compact: 0, cipher: chacha, unique_tag: "", limits { batch {} } }',
    'leafnodes { port: 0, no_advertise: false, compression: off, isolate: false }',
    'leafnodes { remotes: [ {url: "nats://x", compression: off, isolate: false, request_isolation: false} ] }',
  ])('is accepted where it only says the default: %s', (config) => {
    expect(exitOf(['-c', 'a.conf', '-t'], config).code).toBe(0);
  });
});

describe('options that do not go together', () => {
  const refusal = (config: string): string => {
    const { code, stdout, stderr } = exitOf(['-c', 'a.conf'], config);
    expect([code, stdout]).toEqual([1, '']);
    // nats-server's -t does not look at these either.
    expect(exitOf(['-c', 'a.conf', '-t'], config).code).toBe(0);
    return stderr;
  };

  test.each([
    [
      'lame_duck_grace_period: "3m"',
      'lame duck grace period (3m0s) should be strictly lower than lame duck duration (2m0s)',
    ],
    ['max_payload: 100mb', 'max_payload (104857600) cannot be higher than max_pending (67108864)'],
    ['no_auth_user: foo', 'no_auth_user: "foo" present, but users/nkeys are not defined'],
    [
      'authorization { users: [ {user: a, password: b} ] }\nno_auth_user: foo',
      'no_auth_user: "foo" not present as user or nkey in authorization block or account configuration',
    ],
    ['jetstream { domain: "a.b" }', 'invalid domain name: may not contain ., * or >'],
    ['jetstream { domain: "a b" }', 'invalid domain name: derived "$JS.a b.API.>" is not a valid subject'],
    [
      'leafnodes { remotes: [ {url: "nats://x", account: X, compression: off} ] }',
      'cannot find local account "X" specified in leafnode remote',
    ],
  ])('%s', (config, reason) => {
    expect(refusal(config)).toBe(`nats-server: ${reason}\n`);
  });
});

describe('differs from nats-server', () => {
  test('permissions written in short tell their place too', () => {
    expect(complaints('authorization { permissions: { pub: "a..b" } }')).toEqual([
      '1:31: subject "a..b" is not a valid subject',
    ]);
    expect(complaints('authorization { permissions: { pub: 5 } }')).toEqual([
      '1:31: Expected subject permissions to be a subject, or array of subjects, got int64',
    ]);
  });

  test('so does a duration within jetstream limits', () => {
    expect(complaints('jetstream { limits { duplicate_window: "5" } }')).toEqual([
      '1:21: error parsing duplicate_window: time: missing unit in duration "5"',
    ]);
  });

  test('a block of the wrong type is told once', () => {
    expect(complaints('authorization: 5')).toEqual([
      '1:0: interface conversion: interface {} is int64, not map[string]interface {}',
    ]);
  });

  test('an account for system events that does not exist is told by a test of the file', () => {
    expect(complaints('system_account: "$SYS"')).toEqual(['1:0: error resolving system account: account missing']);
  });

  test('a remote without a host is refused, not dialled in vain', () => {
    expect(complaints('leafnodes { remotes: [ {url: "127.0.0.1"} ] }')).toEqual([
      '1:24: error parsing leafnode url ["127.0.0.1"]',
    ]);
  });

  test('a mapping without destination is refused, not left to crash at the first message', () => {
    expect(complaints('mappings { a: "" }')).toEqual([
      '1:11: Error adding mapping for "a" to "" : a destination without a subject',
    ]);
  });

  test.each([
    ['accounts { A { users: x } }', '1:15: Expected users field to be an array, got x'],
    ['accounts { A { jetstream: no-pe } }', "1:15: Expected 'enabled' or 'disabled' for string value, got 'no-pe'"],
    ['accounts { A { jetstream: 5 } }', '1:15: Expected map, bool or string to define JetStream, got int64'],
  ])('a mistake in an account is told with its place: %s', (text, expected) => {
    expect(complaints(text)).toEqual([expected]);
  });

  test.each([
    ['user: x, password: y', 'Can not have a single user/pass and accounts'],
    ['token: y', 'Can not have a token and accounts'],
    ['users: [ {user: a, password: c} ]', 'Duplicate user "a" detected'],
  ])('authorization { %s } and users of accounts are refused in one way, whichever comes first', (block, expected) => {
    const texts = [`authorization { ${block} }`, 'accounts { A { users: [ {user: a, password: b} ] } }'];
    expect(complaints(texts.join('\n'))).toEqual([`2:1: ${expected}`]);
    expect(complaints(texts.toReversed().join('\n'))).toEqual([`1:0: ${expected}`]);
  });
});

describe('what follows from a mistake (differs from nats-server)', () => {
  const remote = (more: string): string => `leafnodes { remotes: [ {url: "wss://h", ${more}} ] }`;

  test.each([
    [
      remote('tls: {ca_file: "/none.pem"}, proxy: {url: "http://h"}'),
      '1:40: open /none.pem: no such file or directory',
    ],
    [remote('proxy: {url: "http://h"}, tls: {nope: 1}'), '1:72: error parsing tls config, unknown field "nope"'],
    [remote('spool: {subjects: ["a..b"]}'), '1:48: subject "a..b" is not a valid subject'],
    [
      remote('spool: {subjects: 5}'),
      '1:48: Expected subject permissions to be a subject, or array of subjects, got int64',
    ],
    [remote('spool: {subjects: []}'), '1:40: spool needs subjects: which messages to keep while the link is down'],
    [remote('spool: {max_bytes: 1}'), '1:40: spool needs subjects: which messages to keep while the link is down'],
  ])('is not told besides: %s', (config, complaint) => {
    expect(complaints(config)).toEqual([complaint]);
  });
});
