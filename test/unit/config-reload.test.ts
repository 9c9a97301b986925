/**
 * Which changes of a configuration are seen, and which are refused while the server runs. The texts of refusals are
 * those nats-server 2.15.2 logged for the same pairs of files.
 */
import { describe, expect, test } from 'vitest';
import { reloadOptions } from '../../server/config/load.ts';
import { changedOptions, reloadRefusal } from '../../server/config/reload.ts';
import type { Change } from '../../server/config/reload.ts';
import type { ServerOptions } from '../../server/config/options.ts';
import { optionsOf, sourcesOf } from './config-files.ts';

const BASE = 'listen: "127.0.0.1:-1"\n';

function changes(before: string, after: string): Change[] {
  return changedOptions(optionsOf(BASE + before), optionsOf(BASE + after));
}

/** What a server that can apply everything nats-server can says of the change. */
function refusal(before: string, after: string): string | null {
  return reloadRefusal(changes(before, after), () => true);
}

describe('nothing has changed', () => {
  // #1509, #2273: remotes with several URLs, reloaded as they are.
  test.each([
    ['', ''],
    ['debug: false', ''],
    ['max_payload: 1mb', 'max_payload: 1048576'],
    ['ping_interval: "2m"', 'ping_interval: "120s"'],
    [
      'leafnodes { remotes: [ {urls: ["nats://h:1", "nats://h:2"], compression: off}, {url: "nats://i"} ] }',
      'leafnodes { remotes: [ {urls: ["nats://h:1", "nats://h:2"], compression: off}, {url: "nats://i"} ] }',
    ],
    ['authorization { users: [ {user: a, password: b} ] }', 'authorization { users = [ {username a, pass b} ] }'],
  ])('%j and %j', (before, after) => {
    expect(changes(before, after)).toEqual([]);
    expect(changes(before, after)).toEqual([]);
  });

  test('a server keeps the port it has when any free one would do', () => {
    expect(changedOptions(optionsOf('port: 4222'), optionsOf('port: -1'))).toEqual([]);
    expect(changedOptions(optionsOf('port: -1'), optionsOf('port: -1'))).toEqual([]);
  });
});

describe('refused', () => {
  test.each([
    ['', 'max_pending: 10mb', 'MaxPending: old=67108864, new=10485760'],
    ['server_name: a', 'server_name: b', 'ServerName: old=a, new=b'],
    ['', 'http: "127.0.0.1:-1"', 'HTTPPort: old=0, new=-1'],
    ['', 'lame_duck_duration: "60s"', 'LameDuckDuration: old=2m0s, new=1m0s'],
    ['', 'write_timeout: close', 'WriteTimeout: old=, new=close'],
    ['write_timeout: retry', '', 'WriteTimeout: old=retry, new='],
    ['', 'max_pending: 10mb\nmax_subs: 5\nwrite_deadline: "5s"', 'MaxSubs: old=0, new=5'],
    ['', 'no_header_support: true', 'NoHeaderSupport: old=false, new=true'],
    ['', 'no_system_account: true', 'NoSystemAccount: old=false, new=true'],
    ['', 'max_sub_tokens: 5', 'MaxSubTokens: old=0, new=5'],
    ['', 'disable_sublist_cache: true', 'NoSublistCache: old=false, new=true'],
    ['jetstream {}', 'jetstream { sync_interval: "10s" }', 'SyncInterval: old=2m0s, new=10s'],
    ['jetstream { sync: always }', 'jetstream { sync: "2m" }', 'SyncAlways: old=true, new=false'],
    ['jetstream {}', 'jetstream { domain: x }', 'JetStreamDomain: old=, new=x'],
    ['jetstream {}', 'jetstream { strict: false }', 'NoJetStreamStrict: old=false, new=true'],
    ['jetstream {}', 'jetstream { request_queue_limit: 5 }', 'JetStreamRequestQueueLimit: old=10000, new=5'],
    ['', 'leafnodes { reconnect: "5s" }', 'LeafNode: field "ReconnectInterval": old=1s, new=5s'],
    ['', 'leafnodes { write_deadline: "5s" }', 'LeafNode: field "WriteDeadline": old=0s, new=5s'],
    ['', 'leafnodes { write_timeout: retry }', 'LeafNode: field "WriteTimeout": old=, new=retry'],
    [
      'leafnodes { remotes: [ {url: "nats://a:b@h:1"} ] }',
      'leafnodes { remotes: [ {url: "nats://a:b@h:1", hub: true} ] }',
      'LeafNode: remote urls=["nats://a:xxxxx@h:1"], account="$G": field "Hub": old=false, new=true',
    ],
    [
      'leafnodes { remotes: [ {url: "nats://h:1"} ] }',
      'leafnodes { remotes: [ {url: "nats://h:1", deny_imports: [a, b]} ] }',
      'LeafNode: remote urls=["nats://h:1"], account="$G": field "DenyImports": old=[], new=[a b]',
    ],
    [
      'leafnodes { remotes: [ {url: "nats://h:1"} ] }',
      'leafnodes { remotes: [ {url: "nats://h:1", first_info_timeout: "5s"} ] }',
      'LeafNode: remote urls=["nats://h:1"], account="$G": field "FirstInfoTimeout": old=1s, new=5s',
    ],
    [
      'leafnodes { remotes: [ {url: "ws://a:b@h:1"} ] }',
      'leafnodes { remotes: [ {url: "ws://a:b@h:1", ws_compression: true} ] }',
      'LeafNode: remote urls=["ws://a:xxxxx@h:1"], account="$G": field "Websocket": old={false false}, new={true false}',
    ],
    [
      'leafnodes { remotes: [ {url: "nats://h:1", proxy {url: "http://p"}} ] }',
      'leafnodes { remotes: [ {url: "nats://h:1", proxy {url: "http://p", username: u, password: p}} ] }',
      'LeafNode: remote urls=["nats://h:1"], account="$G": field "Proxy": only the proxy TLS configuration can be changed',
    ],
    [
      'leafnodes { authorization { user: u, password: p } }',
      'leafnodes { authorization { user: u, password: q } }',
      'LeafNode: field "Password": old=[REDACTED], new=[REDACTED]',
    ],
    [
      'leafnodes { authorization { users: [{ user: u, password: p }] } }',
      'leafnodes { authorization { users: [{ user: u, password: q }] } }',
      'LeafNode: field "Users": old=[REDACTED], new=[REDACTED]',
    ],
    ['jetstream { store_dir: d }', 'jetstream { store_dir: e }', 'jetstream storage directory'],
    ['jetstream { store_dir: d }', 'jetstream {}', 'jetstream storage dir'],
    ['jetstream { max_mem: 10mb }', 'jetstream { max_mem: 5mb }', 'decreasing jetstream max memory and store'],
    ['jetstream { max_file: 10mb }', 'jetstream {}', 'jetstream max memory and max store'],
    ['jetstream {}', 'jetstream { max_mem: 10mb }', 'jetstream dynamic max memory and store'],
  ])('%j to %j', (before, after, reason) => {
    expect(refusal(before, after)).toBe(`config reload not supported for ${reason}`);
  });

  test('no_auth_user can be given up only together with its user', () => {
    const user = (name: string, rest = ''): string => `authorization { users: [ {user: ${name}} ] }\n${rest}`;
    const reason = 'config reload not supported for NoAuthUser: old=a, new=';
    expect(refusal(user('a', 'no_auth_user: a'), user('a'))).toBe(reason);
    expect(refusal(user('a', 'no_auth_user: a'), user('b'))).toBeNull();
    expect(refusal(user('a'), user('a', 'no_auth_user: a'))).toBe(
      'config reload not supported for NoAuthUser: old=, new=a',
    );
  });
});

describe('applied by nats-server', () => {
  test.each([
    ['', 'max_payload: 1kb', ['max_payload']],
    ['', 'logtime: false\ndebug: true', ['debug', 'logtime']],
    ['', 'server_tags: a\nserver_metadata: {x: y}', ['server_tags', 'server_metadata']],
    ['', 'client_advertise: "a:1"', ['client_advertise']],
    ['', 'mappings { a: b }', ['mappings']],
    ['authorization { user: a, password: b }', 'authorization { user: a, password: c }', ['authorization.password']],
    ['', 'authorization { timeout: 3 }', ['authorization.timeout']],
    ['jetstream { store_dir: d }', 'jetstream: false', ['jetstream', 'store_dir']],
    ['jetstream { max_mem: 10mb }', 'jetstream: false', ['jetstream', 'jetstream.max_memory_store']],
    ['jetstream { max_mem: 10mb }', 'jetstream { max_mem: 20mb }', ['jetstream.max_memory_store']],
    ['jetstream {}', 'jetstream { limits { max_ack_pending: 5 } }', ['jetstream.limits.max_ack_pending']],
    ['', 'leafnodes { remotes: [ {url: "nats://h"} ] }', ['leafnodes.remotes']],
    [
      'leafnodes { remotes: [ {url: "nats://h"} ] }',
      'leafnodes { remotes: [ {url: "nats://h", disabled: true} ] }',
      ['leafnodes.remotes'],
    ],
  ])('%j to %j', (before, after, keys) => {
    expect(changes(before, after).map(({ key }) => key)).toEqual(keys);
    expect(refusal(before, after)).toBeNull();
  });

  test('but refused while petiole cannot, without showing secrets', () => {
    const secret = changes('authorization { user: a, password: b }', 'authorization { user: a, password: secret }');
    expect(reloadRefusal(secret, () => false)).toBe('config reload not supported by petiole yet for Password');
    expect(JSON.stringify(secret)).not.toContain('secret');
    const two = changes('', 'debug: true\nmax_payload: 5');
    expect(reloadRefusal(two, ({ key }) => key === 'debug')).toBe(
      'config reload not supported by petiole yet for MaxPayload',
    );
  });
});

describe('reading the file again', () => {
  test('flags win again', () => {
    const sources = sourcesOf({ 'a.conf': 'port: 1, debug: false' });
    expect(reloadOptions(['-D', '-c', 'a.conf', '-p', '7'], sources)).toMatchObject({ debug: true, port: 7 });
  });

  test('a file with mistakes is refused, one with warnings is not', () => {
    expect(() => reloadOptions(['-c', 'a.conf'], sourcesOf({ 'a.conf': 'foo: 1' }))).toThrow(
      'a.conf:1:0: unknown field "foo"\n',
    );
    expect(reloadOptions(['-c', 'a.conf'], sourcesOf({ 'a.conf': 'ping_interval: 5' })).pingIntervalMs).toBe(5_000);
    expect(() => reloadOptions(['-c', 'a.conf'], sourcesOf({}))).toThrow('open a.conf: no such file or directory');
    expect(() => reloadOptions(['-c', 'a.conf'], sourcesOf({ 'a.conf': 'lame_duck_grace_period: "5m"' }))).toThrow(
      'lame duck grace period (5m0s) should be strictly lower than lame duck duration (2m0s)',
    );
  });

  test('there has to be a file', () => {
    expect(() => reloadOptions(['-p', '1'], sourcesOf({}))).toThrow(
      'can only reload config when a file is provided using -c or --config',
    );
  });
});

describe('every option is compared', () => {
  const before = optionsOf('debug: false');
  const other = (value: unknown): unknown => {
    if (typeof value === 'boolean') return !value;
    if (typeof value === 'number' || value === null) return 7;
    if (typeof value === 'string') return `${value}x`;
    return Array.isArray(value) ? ['x'] : { x: 'y' };
  };
  /** Copies of the section that differ in one value each, by the path of that value. */
  const variants = (section: object, path: string): [string, object][] =>
    Object.entries(section).flatMap(([name, value]): [string, object][] => {
      const isSection = [
        'authorization',
        'jetstream',
        'limits',
        'leafnodes',
        'listener',
        'websocket',
        'cookies',
      ].includes(name);
      if (!isSection) return [[path + name, { ...section, [name]: other(value) }]];
      return variants(value, `${path}${name}.`).map(([where, inner]) => [where, { ...section, [name]: inner }]);
    });
  const { configFile: _file, configDigest: _digest, logWarnings: _warnings, ...compared } = before;

  test.each(variants(compared, ''))('%s', (_path, variant) => {
    const after: ServerOptions = { ...before, ...variant };
    expect(changedOptions(before, after)).toHaveLength(1);
  });
});
