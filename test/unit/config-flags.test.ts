/**
 * The command line: Go's rules for flags, what wins over what, and what the program prints and ends with instead of
 * starting. Compared with nats-server 2.15.2, but for the words of the usage.
 */
import { describe, expect, test } from 'vitest';
import type { ServerOptions } from '../../server/config/options.ts';
import { exitOf, optionsOf, run, sourcesOf } from './config-files.ts';
import { interpretCommandLine } from '../../server/config/load.ts';

function options(...args: string[]): ServerOptions {
  const outcome = run(args);
  if (outcome.kind !== 'start') throw new Error(JSON.stringify(outcome));
  return outcome.options;
}

describe('every flag sets its option', () => {
  test.each<[string, Partial<ServerOptions>]>([
    ['-a h', { host: 'h', monitorHost: 'h' }],
    ['--addr h', { host: 'h' }],
    ['-net=h', { host: 'h' }],
    ['-p 5', { port: 5 }],
    ['--port -1', { port: 0 }],
    ['-n x', { serverName: 'x' }],
    ['--name x', { serverName: 'x' }],
    ['-server_name x', { serverName: 'x' }],
    ['-client_advertise a:1', { clientAdvertise: 'a:1' }],
    ['-P f', { pidFile: 'f' }],
    ['--pid f', { pidFile: 'f' }],
    ['-ports_file_dir d', { portsFileDirectory: 'd' }],
    ['-m 8', { monitorPort: 8 }],
    ['-http_port -1', { monitorPort: 0 }],
    ['-l f', { logFile: 'f' }],
    ['--log f', { logFile: 'f' }],
    ['-T=false', { logTime: false }],
    ['-logtime=0', { logTime: false }],
    ['-logtime_utc', { logTimeUtc: true }],
    ['-D', { debug: true, trace: false }],
    ['-debug=T', { debug: true }],
    ['-V', { trace: true, debug: false }],
    ['-trace', { trace: true }],
    ['-DV', { debug: true, trace: true, traceVerbose: false }],
    ['-VV', { debug: false, trace: true, traceVerbose: true }],
    ['-DVV', { debug: true, trace: true, traceVerbose: true }],
    ['-D -DV=false', { debug: false, trace: false }],
    ['-DVV -VV=false', { debug: true, trace: false, traceVerbose: false }],
    ['-max_traced_msg_len 0x10', { maxTracedMessageBytes: 16 }],
    ['-user u -pass p', { authorization: { ...optionsOf('debug: no').authorization, username: 'u', password: 'p' } }],
    ['-auth t', { authorization: { ...optionsOf('debug: no').authorization, token: 't' } }],
  ])('%s', (line, expected) => {
    expect(options(...line.split(' '))).toMatchObject(expected);
  });

  test('JetStream and its folder', () => {
    expect(options('-js', '-sd', '/d').jetstream).toMatchObject({ isEnabled: true, storeDirectory: '/d' });
    expect(options('--jetstream', '--store_dir', '/d').jetstream).toMatchObject({ isEnabled: true });
    expect(options('-js=false').jetstream.isEnabled).toBe(false);
  });
});

describe("Go's rules", () => {
  test.each([
    ['-p 5 -p 6', 6],
    ['-p=7', 7],
    ['--p 0x1F', 31],
    ['-p 0b11', 3],
    ['-p 0o17', 15],
    ['-p 017', 15],
    ['-p 1_000', 1_000],
    ['-p +5', 5],
    ['-p 0', 4222],
  ])('%s', (line, port) => {
    expect(options(...line.split(' ')).port).toBe(port);
  });

  test.each([
    ['-zzz', 'flag provided but not defined: -zzz'],
    ['--zzz=1', 'flag provided but not defined: -zzz'],
    ['-p', 'flag needs an argument: -p'],
    ['-p x', 'invalid value "x" for flag -p: parse error'],
    ['-p 08', 'invalid value "08" for flag -p: parse error'],
    ['-p 1__0', 'invalid value "1__0" for flag -p: parse error'],
    ['-p=', 'invalid value "" for flag -p: parse error'],
    ['-p 99999999999999999999', 'invalid value "99999999999999999999" for flag -p: value out of range'],
    ['-D=x', 'invalid boolean value "x" for -D: parse error'],
    ['-=x', 'bad flag syntax: -=x'],
    ['---x', 'bad flag syntax: ---x'],
    ['-v -zzz', 'flag provided but not defined: -zzz'],
  ])('%s shows the usage and ends well', (line, reason) => {
    const { code, stdout, stderr } = exitOf(line.split(' '));
    expect([code, stderr]).toEqual([0, `${reason}\n`]);
    expect(stdout).toMatch(/^\nUsage: nats-server \[options\]\n/);
  });

  test.each([
    ['foo', '"foo"'],
    ['-D true', '"true"'],
    ['-p 1 -', '"-"'],
    ['-- -v', '"-v"'],
  ])('%s has a word too many', (line, word) => {
    expect(exitOf(line.split(' '))).toEqual({
      code: 1,
      stdout: '',
      stderr: `nats-server: unrecognized command: ${word}\n`,
    });
  });
});

describe('instead of starting', () => {
  test.each(['-v', '--version', 'version', 'VERSION', '-v -h', '-v foo', '-p 5 version'])('%s', (line) => {
    expect(exitOf(line.split(' '))).toEqual({ code: 0, stdout: 'nats-server: v2.15.2\n', stderr: '' });
  });

  test.each(['-h', '--help', 'help', 'HELP', '-h -t'])('%s', (line) => {
    const { code, stdout, stderr } = exitOf(line.split(' '));
    expect([code, stderr]).toEqual([0, '']);
    for (const flag of ['-a, --addr', '-p, --port', '-c, --config', '-js, --jetstream', '--tls']) {
      expect(stdout).toContain(flag);
    }
  });

  test('-h=false is no cry for help', () => {
    expect(options('-h=false', '-v=false').port).toBe(4222);
  });

  test('-t tells that the file is valid, with its digest', () => {
    expect(exitOf(['-t', '-c', 'a.conf'], 'foo\nbar\nx: $foo').code).toBe(1);
    expect(exitOf(['--t', '--config=a.conf'], 'port: 4222')).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'nats-server: configuration file a.conf is valid ' +
        '(sha256:797533ebd0dfba7d34a0f9337ecf147e442871f48ddfd07ed751575a5737267e)\n',
    });
  });

  test('-t needs a file', () => {
    expect(exitOf(['-t'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'nats-server: must specify [-c, --config] option to check configuration file syntax\n',
    });
  });

  test('a file that is not there', () => {
    const reason = 'nats-server: open nope.conf: no such file or directory\n';
    expect(exitOf(['-c', 'nope.conf'])).toEqual({ code: 1, stdout: '', stderr: reason });
    expect(exitOf(['-t', '-c', 'nope.conf'])).toEqual({ code: 1, stdout: '', stderr: reason });
  });

  test('a file that cannot be parsed', () => {
    const reason = `nats-server: Parse error on line 1: 'Expected a top-level value to end with a new line, comment or EOF, but got 'x' instead.'\n`;
    expect(exitOf(['-c', 'a.conf'], 'a: 1 x')).toEqual({ code: 1, stdout: '', stderr: reason });
  });
});

describe('what petiole does not have yet', () => {
  test.each([
    '-help_tls',
    '-cluster nats://h:1',
    '-cluster_listen nats://h:1',
    '-cluster_name c',
    '-cluster_advertise h:1',
    '-routes nats://h:1',
    '-no_advertise',
    '-connect_retries 3',
    '-profile 1',
    '-s',
    '-syslog',
  ])('%s', (line) => {
    const flag = line.replace(/^-+/, '').replace(/[ =].*/, '');
    expect(exitOf(line.split(' '))).toEqual({
      code: 1,
      stdout: '',
      stderr: `nats-server: -${flag}: not supported by petiole yet\n`,
    });
  });

  test('leaving it off is fine', () => {
    const args = [
      '-tls=false',
      '-cluster',
      '',
      '-routes=',
      '-s=false',
      '-r',
      '',
      '-profile',
      '0',
      '-ms',
      '0',
      '-no_advertise=0',
    ];
    expect(options(...args)).toEqual(options());
  });
});

describe('flags and file', () => {
  test('flags win wherever they stand', () => {
    const config = 'port: 1, debug: true, logtime: false, jetstream: true, server_name: a, http: "h:9"';
    expect(optionsOf(config, ['-p', '2', '-D=false', '-n', 'b'])).toMatchObject({
      port: 2,
      debug: false,
      logTime: false,
      serverName: 'b',
      monitorHost: 'h',
      monitorPort: 9,
    });
    expect(optionsOf(config, ['-T']).logTime).toBe(true);
    expect(optionsOf(config, ['-js=false']).jetstream.isEnabled).toBe(false);
    expect(optionsOf(config, ['-m', '0']).monitorPort).toBeNull();
  });

  test('the folder of JetStream stands in one place only', () => {
    expect(exitOf(['-sd', '/d', '-c', 'a.conf'], 'jetstream { store_dir: x }').stderr).toBe(
      "nats-server: a.conf:1:12: Duplicate 'store_dir' configuration\n\n",
    );
  });

  test('names given as flags are checked too', () => {
    expect(exitOf(['-n', 'a b']).stderr).toBe('nats-server: server name cannot contain spaces\n');
  });

  test('the options know their file', () => {
    expect(optionsOf('port: 1')).toMatchObject({
      configFile: 'a.conf',
      configDigest: expect.stringMatching(/^sha256:/),
    });
    expect(options()).toMatchObject({ configFile: '', configDigest: '' });
  });

  test('variables come from the environment', () => {
    const outcome = interpretCommandLine(['-c', 'a.conf'], sourcesOf({ 'a.conf': 'port: $P' }, { P: '77' }));
    expect(outcome).toMatchObject({ kind: 'start', options: { port: 77 } });
  });
});
