/**
 * The same arguments and files given to petiole's configuration and to the real nats-server: same exit code, same bytes
 * on stdout and stderr, digest included. Skipped where there is no nats-server.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { interpretCommandLine } from '../../server/config/load.ts';
import { diskSources } from '../../server/config/sources.ts';
import { absenceIsFailure, isAbsent, natsServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const target = natsServer();
const USER_SEED = 'SUAKJDS7OKYX53UGWKNDJWWEGSEB6SG7PQWLU6RWATCNXRNFREMVM5JBWY';

/** One file each, tested with `-t`. Of mistakes in one map there is only one: nats-server tells them in any order. */
const FILES: readonly (string | Uint8Array)[] = [
  'port: 4222',
  '',
  '# nothing',
  'port: "x"',
  '\n\n   port: 1.5',
  'foo: 1',
  'a: 1 b',
  'listen: "a"',
  'ping_interval: 5',
  'ping_interval: "5"',
  'max_payload: 3g',
  'authorization { timeout: 2m }',
  'authorization { users: [ {user: a, password: 1234} ] }',
  'authorization { users: [ {user: a, password: b}, {user: a, password: c} ] }',
  'authorization { users: [ {user: a, password: b, permissions: {subscribe: {allow: "a b c"}}} ] }',
  'authorization { users: [ {user: a, password: b, permissions: {publish: [ {x: 1} ]}} ] }',
  'authorization { user: a, password: 5ADI_x }',
  'authorization { user: a, password: 4e2abc }',
  'x = { user: a, password: b }\nauthorization { users = [ $x ] }',
  'jetstream { limits { foo: 5 } }',
  'jetstream {\n limits { max_ack_pending: a } }',
  'jetstream { max_mem: "1g" }',
  'leafnodes { remotes: [ {urls: ["nats://x", "nats://x"]} ] }',
  'leafnodes { remotes: [ {urls: ["nats://a:b@x"]}, {urls: ["nats://a:b@x"]} ] }',
  'leafnodes { remotes: [ {url: "tls://x", compression: {mode: auto, rtts: ["5ms", "10ms"]}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", compression: {x: 1}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", compression: {mode: 5}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", compression: {rtts: ["x"]}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", compression: 5} ] }',
  'leafnodes { remotes: [ {url: "nats://x", creds: "/a.creds"}, {url: "nats://x", creds: "/b.creds"} ] }',
  `leafnodes { remotes: [ {url: "nats://x", seed: ${USER_SEED}} ] }`,
  'leafnodes { remotes: [ {url: "nats://x", tls: 5} ] }',
  'leafnodes { remotes: [ {url: "nats://x", tls: {insecure: true, min_version: "1.3", handshake_first: true}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", tls: {verify_cert_and_check_known_urls: true}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", tls: {ca_file: "/nowhere.pem"}} ] }',
  'leafnodes { remotes: [ {url: "ws://x", ws_compression: 5} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: 5} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: 5}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {nope: 1}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "127.0.0.1:8080"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: proxy}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "FTP://h"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http:h"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://h:x"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {username: a}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://h", username: a}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://h", timeout: "-1s"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://h", timeout: 5}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://h", timeout: "x"}} ] }',
  'leafnodes { remotes: [ {url: "wss://x", proxy: {url: "http://h"}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "http://h", tls: {}}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {tls: {}}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://h", tls: {}}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://h", tls: 5}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://h", tls: {verify: true}}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://h", tls: {nope: 1}}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://h", tls: {ca_file: "/nowhere.pem"}}} ] }',
  'leafnodes { remotes: [ {url: "nats://x", proxy: {url: "https://h", tls: {timeout: "-5s"}}} ] }',
  'accounts: [A, B]',
  'accounts: [A, A]',
  'accounts: [A, $G]',
  'accounts { $G {} }',
  'accounts { A: x }',
  'accounts { A { users: [ {user: a} ] } }',
  'accounts { A { users: [ {pass: a} ] } }',
  'accounts { A { users: [ {nkey: UCFU5YONVD7HN5DCIKCSM56WDH7CQGDOKYGDBHM2V5MZQFHNIM32ABQF, user: a} ] } }',
  'accounts { A { users: [ {nkey: UA} ] } }',
  'accounts { A { users: [ {nkey: UCFU5YONVD7HN5DCIKCSM56WDH7CQGDOKYGDBHM2V5MZQFHNIM32ABQF} ] } }',
  'accounts { A { users: [ {nkey: UCFU5YONVD7HN5DCIKCSM56WDH7CQGDOKYGDBHM2V5MZQFHNIM32ABQF}, {nkey: UCFU5YONVD7HN5DCIKCSM56WDH7CQGDOKYGDBHM2V5MZQFHNIM32ABQF} ] } }',
  'accounts { A { users: [ {user: a, password: b}, {user: a, password: b} ] } }',
  'accounts { A { nkey: x } }',
  'accounts { A { nope: x } }',
  'accounts { A { limits: x } }',
  'accounts { A { limits: { nope: 1 } } }',
  'accounts { A { limits: { max_subs: a } } }',
  'accounts { A { limits: { max_conn: 5, max_subs: -1, max_pay: 10, max_leafs: 1 } } }',
  'accounts { A { jetstream: { max_mem: x } } }',
  'accounts { A { jetstream: { max_streams: x } } }',
  'accounts { A { jetstream: { nope: 1 } } }',
  'accounts { A { jetstream: { max_bytes_required: 1 } } }',
  'accounts { A { jetstream: { max_mem: 1G, max_store: 2G, streams: 5, consumers: 3 } } }',
  'accounts { A { exports: x } }',
  'accounts { A { exports: [ x ] } }',
  'accounts { A { exports: [ {stream: 5} ] } }',
  'accounts { A { exports: [ {service: 5} ] } }',
  'accounts { A { exports: [ {stream: a, nope: 1} ] } }',
  'accounts { A { exports: [ {service: a, response: nope} ] } }',
  'accounts { A { exports: [ {service: a, response: 5} ] } }',
  'accounts { A { exports: [ {service: a, threshold: 5} ] } }',
  'accounts { A { exports: [ {service: a, threshold: "5"} ] } }',
  'accounts { A { exports: [ {service: a, threshold: "5s", response_type: chunked} ] } }',
  'accounts { A { exports: [ {stream: a, accounts: [B]} ] } }',
  'accounts { A { exports: [ {service: a, accounts: [B]} ] } }',
  'accounts { A { exports: [ {service: a, account_token_position: 1} ] } }',
  'accounts { A { exports: [ {stream: "a.*", account_token_position: 2} ] } }',
  ...['stream', 'service'].flatMap((kind) =>
    [
      `{${kind}: a}, {${kind}: a, accounts: [C]}`,
      `{${kind}: a, accounts: [C]}, {${kind}: a}`,
      `{${kind}: a, accounts: [C]}, {${kind}: a, accounts: [B]}`,
      `{${kind}: a, accounts: [B]}, {${kind}: a, accounts: [C]}`,
    ].map(
      (exports) =>
        `accounts { A { exports: [ ${exports} ] }, B { imports: [ {${kind}: {account: A, subject: a}} ] }, C {} }`,
    ),
  ),
  'accounts { A { exports: [ {service: a, latency: b}, {service: "*"} ] } }',
  'accounts { A { exports: [ {service: "*"}, {service: a, latency: b} ] } }',
  'accounts { A { exports: [ {service: a, latency: b}, {service: a, response_type: stream} ] } }',
  'accounts { A { exports: [ {service: a, response_type: stream}, {service: a, latency: b} ] } }',
  'accounts { A { imports: x } }',
  'accounts { A { imports: [ x ] } }',
  'accounts { A { imports: [ {stream: x} ] } }',
  'accounts { A { imports: [ {service: x} ] } }',
  'accounts { A { imports: [ {stream: {account: B}} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: a, nope: 1}} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: a}} ] } }',
  'accounts { A { imports: [ {service: {account: B, subject: a}} ] } }',
  'accounts { A { imports: [ {service: {account: B, subject: a}, nope: 1} ] } }',
  'accounts { A { imports: [ {service: {account: B, subject: a}}, {service: {account: B, subject: a}} ] }, B { exports: [ {service: a} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: a}}, {stream: {account: B, subject: a}} ] }, B { exports: [ {stream: a} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "a.*"}, to: "b.$2"} ] }, B { exports: [ {stream: "a.*"} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "a.*"}, to: "b"} ] }, B { exports: [ {stream: "a.*"} ] } }',
  'accounts { A { imports: [ {service: {account: B, subject: "a.*"}, to: "b"} ] }, B { exports: [ {service: "a.*"} ] } }',
  'accounts { A { imports: [ {service: {account: B, subject: "a.*.*"}, to: "b.$2.$1"} ] }, B { exports: [ {service: "a.>"} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "a.>"}, prefix: "b.*"} ] }, B { exports: [ {stream: "a.>"} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "a.>"}, prefix: "b."} ] }, B { exports: [ {stream: "a.>"} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "a.>"}} ] }, B { exports: [ {stream: "a.*"} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "A.x"}} ] }, B { exports: [ {stream: "*.x", account_token_position: 1} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "x"}} ] }, B { exports: [ {stream: x, accounts: [A]} ] } }',
  'accounts { A { imports: [ {stream: {account: B, subject: "x"}} ] }, B { exports: [ {stream: x, accounts: []} ] } }',
  'accounts { A { mappings: { a: "b.$1" } } }',
  'accounts { A { default_permissions: x } }',
  'accounts { A { users: [ {user: a, permissions: { allow_responses: x }} ] } }',
  'accounts { A { users: [ {user: a, permissions: { allow_responses: { nope: 1 } }} ] } }',
  'accounts { A { users: [ {user: a, permissions: { allow_responses: { ttl: 5 } }} ] } }',
  'accounts { A { users: [ {user: a, permissions: { allow_responses: { ttl: "5" } }} ] } }',
  'accounts { A { users: [ {user: a, permissions: { allow_responses: { max: x } }} ] } }',
  'accounts { A { users: [ {user: a, clients: [nope, STANDARD]} ] } }',
  'accounts { A { users: [ {user: a, clients: 5} ] } }',
  'accounts { A { users: [ {user: a, clients: standard} ] } }',
  'accounts: 5',
  'mappings { a.*: "b.$2" }',
  'mappings { a: [ {dest: b, weight: 60}, {dest: c, weight: 50} ] }',
  'mappings { "é.*": "ü.$2" }',
  'server_metadata { a: "<&>\\x01\\t\u2028é", "\\u": "x" }',
  'server_tags: [1.50, -0.0 ]',
  'HOST_NAME: "a b"\nserver_name: $HOST_NAME',
  'port: $NO_SUCH_VARIABLE_ANYWHERE',
  'port: $CYCLE',
  'include no-such-file.conf',
  'include inner.conf',
  'lame_duck_duration: "1h2m3.5s", debug: yes\nmax_payload: 1KiB; max_pending: 1e',
  'ports_file_dir (\n a block\n)\n',
  Buffer.from('log_file: \xff\xfe', 'latin1'),
  '{ "port": 1, "server_metadata": {"b": "1", "a": "2"} }',
];

const COMMAND_LINES: readonly string[] = [
  '-v',
  '--version',
  'version',
  '-p',
  '-p x',
  '-p 99999999999999999999',
  '-D=x',
  '-=x',
  '---x',
  '-',
  'foo',
  '-D true',
  '-t',
  '-t -c nope.conf',
  '-c nope.conf',
  '-c .',
  '-n=a%b foo',
];

const label = isAbsent(target) ? target.absent : target.version;

describe.skipIf(isAbsent(target) && !absenceIsFailure())(`like nats-server (${label})`, () => {
  const directory = temporaryDirectory(afterAll);
  const environment = { CYCLE: '[$CYCLE]', PATH: '/bin', HOME: directory };
  const sources = diskSources({ readFileNow: (path) => readFileSync(join(directory, path)) }, environment);

  function answers(args: readonly string[]): { theirs: unknown; ours: unknown } {
    if (isAbsent(target)) throw new Error(target.absent);
    const [program = '', ...first] = target.command;
    const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { cwd: directory, env: environment });
    const outcome = interpretCommandLine(args, sources);
    // The usage is petiole's own.
    const known = (text: string): string => (text.includes('Usage:') ? 'usage' : text);
    return {
      theirs: { kind: 'exit', code: status, stdout: known(stdout.toString()), stderr: stderr.toString() },
      ours: 'stdout' in outcome ? { ...outcome, stdout: known(outcome.stdout) } : outcome,
    };
  }

  // nats-server walks maps in any order, and so places a few mistakes differently each time.
  test.each(FILES.map((text) => [text]))('%j', { retry: 8 }, (text) => {
    writeFileSync(join(directory, 'a.conf'), text);
    writeFileSync(join(directory, 'inner.conf'), 'port: 1\n wrong: $port\n');
    const { theirs, ours } = answers(['-t', '-c', 'a.conf']);
    expect(ours).toEqual(theirs);
  });

  test.each(COMMAND_LINES)('%s', (line) => {
    const { theirs, ours } = answers(line.split(' '));
    expect(ours).toEqual(theirs);
  });

  test('two remotes with one key, which nats-server places at either entry of the second, by chance', () => {
    const remotes = `{url: "nats://x", seed: ${USER_SEED}}, {url: "nats://x", nkey: ${USER_SEED}}`;
    writeFileSync(join(directory, 'a.conf'), `leafnodes { remotes: [ ${remotes} ] }`);
    const { theirs, ours } = answers(['-t', '-c', 'a.conf']) as Record<string, { stderr: string }>;
    expect(theirs?.stderr).toMatch(/^nats-server: a\.conf:1:(109|126): duplicate remote /);
    expect(ours).toEqual({ ...theirs, stderr: theirs?.stderr.replace(':1:109:', ':1:126:') });
  });
});
