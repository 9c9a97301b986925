/** A start that can't succeed ends with 1 and a line that says why; what stands on the disk stays as it was. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { describeTargets } from '../helpers/describe-targets.ts';
import { inLife } from '../helpers/jetstream-client.ts';
import { isAbsent, petiole, startRefused, startServer, type Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { dial } from '../helpers/wire-client.ts';

describeTargets('a start that cannot succeed', (target) => {
  test('says that the client port is in use', async () => {
    const port = await portInUse();
    const refusal = await startRefused(target, { flags: ['-p', `${port}`] });
    expect(refusal.code).toBe(1);
    expect(lastLine(refusal.log)).toMatch(
      /\[FTL\] Error listening on port: .*"listen tcp 127\.0\.0\.1:\d+: bind: address already in use"$/,
    );
  });

  test.each(
    [99_999, -5].flatMap((port) =>
      [
        { config: `port: ${port}`, line: `Error listening on port: 127.0.0.1:${port}, "REASON"` },
        { config: `listen: "127.0.0.1:${port}"`, line: `Error listening on port: 127.0.0.1:${port}, "REASON"` },
        { config: `http: ${port}`, line: "Can't start monitoring: can't listen to the monitor port: REASON" },
        {
          config: `http: "127.0.0.1:${port}"`,
          line: "Can't start monitoring: can't listen to the monitor port: REASON",
        },
        {
          config: `websocket { port: ${port}, no_tls: true }`,
          line: 'Unable to listen for websocket connections: REASON',
        },
        { config: `leafnodes { port: ${port} }`, line: `Error listening on leafnode port: ${port} - REASON` },
      ].map((each) => ({ ...each, port })),
    ),
  )('says that there is no such port: $config', async ({ config, line, port }) => {
    const flags = /^(?:port|listen)/.test(config) ? ['-p', `${port}`] : [];
    const refusal = await startRefused(target, { config, flags });
    expect(refusal.code).toBe(1);
    expect(lastLine(refusal.log)).toContain(
      `[FTL] ${line.replace('REASON', `listen tcp: address ${port}: invalid port`)}`,
    );
    expect(refusal.log).not.toContain('RangeError');
  });

  test.each([99_999, -5])('says that there is no such port for HTTPS: %d', async (port) => {
    const { certFile, keyFile } = new TestAuthority(temporaryDirectory()).issueServer();
    const config = `https: ${port}\ntls { cert_file: "${certFile}", key_file: "${keyFile}" }`;
    const refusal = await startRefused(target, { config });
    expect(refusal.code).toBe(1);
    const reason = `listen tcp: address ${port}: invalid port`;
    expect(lastLine(refusal.log)).toContain(`Can't start monitoring: can't listen to the monitor port: ${reason}`);
  });

  test.each([
    { config: 'https: 99999', reason: 'TLS cert and key required for HTTPS' },
    { config: 'http: -1\nhttps: -5', reason: `can't specify both HTTP (-1) and HTTPs (-5) ports` },
  ])('says why it cannot serve HTTPS: $config', async ({ config, reason }) => {
    const refusal = await startRefused(target, { config });
    expect(refusal.code).toBe(1);
    expect(lastLine(refusal.log)).toContain(`Can't start monitoring: ${reason}`);
  });

  test.each(
    [
      { advertise: 'a:b', reason: 'strconv.Atoi: parsing "b": invalid syntax' },
      { advertise: 'a:', reason: 'strconv.Atoi: parsing "": invalid syntax' },
      {
        advertise: 'a:99999999999999999999',
        reason: 'strconv.Atoi: parsing "99999999999999999999": value out of range',
      },
      { advertise: 'a:b:c', reason: 'address a:b:c: too many colons in address' },
      { advertise: '[::1', reason: `address [::PORT: missing ']' in address` },
      { advertise: '[a]b:1', reason: 'address [a]b:1:PORT: missing port in address' },
      { advertise: '[a]:1:2', reason: 'address [a]:1:2: too many colons in address' },
      { advertise: 'a[b:3', reason: `address a[b:3: unexpected '[' in address` },
      { advertise: 'a]b:3', reason: `address a]b:3: unexpected ']' in address` },
    ].flatMap(({ advertise, reason }) => [
      {
        config: `client_advertise: "${advertise}"`,
        line: `Error setting server INFO with ClientAdvertise value of ${advertise}, err=${reason}`,
      },
      {
        config: `websocket { listen: "127.0.0.1:-1", no_tls: true, advertise: "${advertise}" }`,
        line: `Unable to get websocket connect URLs: ${reason}`,
      },
      {
        config: `leafnodes { listen: "127.0.0.1:-1", advertise: "${advertise}" }`,
        line: `Error setting leafnode INFO with LeafNode.Advertise value of ${advertise}, err=${reason}`,
      },
    ]),
  )('says that what is to be told is no address: $config', async ({ config, line }) => {
    const refusal = await startRefused(target, { config });
    expect(refusal.code).toBe(1);
    // Which port it is that would be told is known when it is open, or not at all.
    expect(lastLine(refusal.log).replace(/:\d+(?=: missing .* in address$)/, ':PORT')).toContain(`[FTL] ${line}`);
  });

  test.each([
    ['a:99999', 'a', 99_999],
    ['a', 'a', null],
    ['a:-1', 'a', null],
    [' a : 1 ', 'a', 1],
    ['[::1]', '::1', null],
    [':1', '', 1],
  ])('takes for an address what may be one: %s', async (advertise, host, port) => {
    const config = [
      `client_advertise: "${advertise}"`,
      `websocket { listen: "127.0.0.1:-1", no_tls: true, advertise: "${advertise}" }`,
      `leafnodes { listen: "127.0.0.1:-1", advertise: "${advertise}" }`,
    ].join('\n');
    const server = await startServer(target, { config });
    onTestFinished(() => server.stop());
    const client = await dial(server.address());
    expect(await client.line()).toContain(`"host":"${host}","port":${port ?? server.address().port},`);
    await client.close();
  });

  test('does not look at what a port that is not there would tell', async () => {
    const config = 'websocket { no_tls: true, advertise: "a:b" }\nleafnodes { advertise: "a:b" }';
    const server = await startServer(target, { config });
    onTestFinished(() => server.stop());
    expect(server.exited).toBe(false);
  });

  test('says that a remote has URLs of both kinds', async () => {
    const urls = '["nats://a:b@h", "ws://c:d@h"]';
    const refusal = await startRefused(target, { config: `leafnodes { remotes: [ { urls: ${urls} } ] }` });
    expect(refusal.code).toBe(1);
    expect(lastLine(refusal.log)).toMatch(
      /remote leaf node configuration cannot have a mix of websocket and non-websocket urls: \["nats:\/\/a:xxxxx@h:7422" "ws:\/\/c:xxxxx@h:7422"\]$/,
    );
  });

  test('says that the store directory is a file', async () => {
    const path = join(temporaryDirectory(), 'store');
    writeFileSync(path, 'mine');
    const refusal = await startRefused(target, { config: `jetstream { store_dir: "${path}" }` });
    expect(refusal.code).toBe(1);
    expect(lastLine(refusal.log)).toMatch(/\[FTL\] Can't start JetStream: .*/);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });
});

describe('a store that petiole cannot take', () => {
  const target = petiole() as Target;

  test('is one of nats-server', async () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'jetstream', '$G', 'streams', 'S'), { recursive: true });
    writeFileSync(join(folder, 'jetstream', '$G', 'streams', 'S', 'meta.inf'), '{}');
    expect(await refusalOf(target, folder)).toEqual(
      untouchedBecause(/is a store of nats-server, which petiole can't read and has not touched/),
    );
  });

  test('is of a newer format', async () => {
    const folder = temporaryDirectory();
    await inLife(target, folder, async (client) => client.ask('STREAM.CREATE.S', { name: 'S' }));
    writeFileSync(join(folder, 'petiole', 'format'), 'petiole store 999\n');
    expect(await refusalOf(target, folder)).toEqual(untouchedBecause(/is of a newer format .*nothing was touched/));
  });

  test('is used by another server', async () => {
    const folder = temporaryDirectory();
    const first = await startServer(target, { config: `jetstream { store_dir: "${folder}" }` });
    onTestFinished(() => first.stop());
    expect(await refusalOf(target, folder)).toEqual(untouchedBecause(/another server uses the store in "/));
    expect(first.exited).toBe(false);
  });

  test('is there with what petiole needs', () => {
    expect(isAbsent(petiole())).toBe(false);
  });
});

interface Refusal {
  readonly code: number;
  readonly lines: readonly string[];
  readonly isUntouched: boolean;
}

function untouchedBecause(reason: RegExp): Refusal {
  return { code: 1, lines: [expect.stringMatching(reason) as string], isUntouched: true };
}

async function refusalOf(target: Target, folder: string): Promise<Refusal> {
  const before = digestOf(folder);
  const { code, log } = await startRefused(target, { config: `jetstream { store_dir: "${folder}" }` });
  const lines = log.split('\n').filter((line) => line.includes('[FTL]'));
  return { code, lines, isUntouched: digestOf(folder).join() === before.join() };
}

/** Names and contents of all files. */
function digestOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
    .toSorted();
}

function lastLine(log: string): string {
  return log.trimEnd().split('\n').at(-1) ?? '';
}

async function portInUse(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close());
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
