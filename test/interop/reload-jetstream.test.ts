/** JetStream of accounts, and its limits, as they change while the server runs; on nats-server and petiole alike. */
import { expect, test } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { clientOf, describeTargets, page, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { dial, type WireClient } from '../helpers/wire-client.ts';

const APPLIED = /^Reloaded server configuration/;
const NOT_ENABLED = '"err_code":10039,"description":"JetStream not enabled for account"';
const NO_RESPONDERS = /^HMSG _INBOX.1 1 \d+ \d+$/;

function account(name: string, more = ''): string {
  const user = name.toLowerCase();
  return `${name} { users: [ { user: ${user}, password: ${user} } ], ${more} }\n`;
}

/** `block`: more lines of the block about JetStream. */
function config(accounts: string, block = '', directory = './store'): string {
  return `jetstream { store_dir: "${directory}", ${block} }\naccounts { ${accounts} ${account('Z', 'jetstream: enabled')} }`;
}

async function clientNamed(server: RunningServer, user: string): Promise<WireClient> {
  const client = await clientOf(server, { user, pass: user, headers: true, no_responders: true });
  client.send('SUB _INBOX.1 1\r\nPING\r\n');
  await client.expect('PONG\r\n');
  return client;
}

/** The body of the answer; of one that says that nobody listens, the line. */
async function ask(client: WireClient, subject: string, body: object | string = ''): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  client.send(`PUB ${subject} _INBOX.1 ${text.length}\r\n${text}\r\n`);
  const line = await lineOf(client);
  if (!line.startsWith('HMSG')) return client.line();
  for (let rest = 0; rest < 4; rest++) await client.line();
  return line;
}

/** The next line that is no PING: a reload may take so long that the server asks whether the client is still there. */
async function lineOf(client: WireClient): Promise<string> {
  const line = await client.line();
  if (line !== 'PING') return line;
  client.send('PONG\r\n');
  return lineOf(client);
}

const streamOf = (name: string, more = {}): object => ({ name, subjects: [name.toLowerCase()], ...more });

describeTargets('a reload of JetStream', (target) => {
  test('tells accounts that have none, old and new, that it is not enabled for them', async () => {
    const server = await serve(target, config(account('A')));
    const a = await clientNamed(server, 'a');
    expect(await ask(a, '$JS.API.INFO')).toContain(NOT_ENABLED);
    expect(await reload(server, config(account('A') + account('B')))).toMatch(APPLIED);
    const b = await clientNamed(server, 'b');
    expect(await ask(b, '$JS.API.INFO')).toContain(NOT_ENABLED);
    expect(await ask(b, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain(NOT_ENABLED);
    expect(await ask(a, '$JS.API.INFO')).toContain(NOT_ENABLED);
  });

  test('gives it to an account, with what is stored for it', async () => {
    const on = config(account('A', 'jetstream: enabled'));
    const server = await serve(target, config(account('A')));
    const a = await clientNamed(server, 'a');
    expect(await reload(server, on)).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
    expect(await ask(a, 's', 'one')).toBe('{"stream":"S","seq":1}');
    expect(await ask(a, '$JS.API.INFO')).toContain('"streams":1');
    expect(await reload(server, config(account('A', 'jetstream: { max_streams: 1 }')))).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.CREATE.T', streamOf('T'))).toContain('"err_code":10027');
    expect(await reload(server, on)).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.CREATE.T', streamOf('T'))).toContain('"subjects":["t"]');
  });

  test('gives it to an account that had it before the start', async () => {
    const directory = temporaryDirectory();
    const [on, off] = ['jetstream: enabled', ''].map((more) => config(account('A', more), '', directory)) as [
      string,
      string,
    ];
    const earlier = await serve(target, on);
    const before = await clientNamed(earlier, 'a');
    expect(await ask(before, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
    expect(await ask(before, 's', 'one')).toBe('{"stream":"S","seq":1}');
    await earlier.stop();
    const server = await serve(target, off);
    const a = await clientNamed(server, 'a');
    expect(await ask(a, '$JS.API.STREAM.INFO.S')).toContain(NOT_ENABLED);
    expect(await ask(a, 's', 'lost')).toMatch(NO_RESPONDERS);
    expect(await reload(server, on)).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.INFO.S')).toContain('"messages":1');
    expect(await ask(a, 's', 'two')).toBe('{"stream":"S","seq":2}');
  });

  test('takes it from an account, and leaves the others alone', async () => {
    const server = await serve(target, config(account('A', 'jetstream: enabled') + account('B', 'jetstream: enabled')));
    const [a, b] = [await clientNamed(server, 'a'), await clientNamed(server, 'b')];
    for (const client of [a, b]) {
      expect(await ask(client, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
      expect(await ask(client, '$JS.API.STREAM.CREATE.M', streamOf('M', { storage: 'memory' }))).toContain('"memory"');
      expect(await ask(client, 's', 'one')).toBe('{"stream":"S","seq":1}');
      expect(await ask(client, 'm', 'one')).toBe('{"stream":"M","seq":1}');
    }
    const durable = { stream_name: 'S', config: { durable_name: 'D', ack_policy: 'explicit' } };
    expect(await ask(a, '$JS.API.CONSUMER.DURABLE.CREATE.S.D', durable)).toContain('"durable_name":"D"');
    expect(await reload(server, config(account('A') + account('B', 'jetstream: enabled')))).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.INFO.S')).toContain(NOT_ENABLED);
    expect(await ask(a, 's', 'two')).toMatch(NO_RESPONDERS);
    expect(await ask(a, '$JS.API.CONSUMER.MSG.NEXT.S.D', '1')).toMatch(NO_RESPONDERS);
    expect(await ask(a, '$JS.API.DIRECT.GET.S', '{"seq":1}')).toMatch(NO_RESPONDERS);
    expect(await ask(b, 's', 'two')).toBe('{"stream":"S","seq":2}');
    expect(await ask(b, '$JS.API.INFO')).toContain('"streams":2');
    expect(await ask(b, 'm', 'two')).toBe('{"stream":"M","seq":2}');
  });

  test('raises what may be stored, and lowers nothing', async () => {
    const limits = (memory: string, file: string): string => config('', `max_mem: ${memory}, max_file: ${file}`);
    const server = await serve(target, limits('1MiB', '10MiB'));
    const z = await clientNamed(server, 'z');
    const large = streamOf('L', { storage: 'memory', max_bytes: 1_500_000 });
    expect(await ask(z, '$JS.API.STREAM.CREATE.L', large)).toContain('"err_code":10028');
    expect(await reload(server, limits('2MiB', '30MiB'))).toMatch(APPLIED);
    expect(server.log).toContain('Reloaded: JetStream max_mem_store = 2.00 MB\n');
    expect(server.log).toContain('Reloaded: JetStream max_file_store = 30.00 MB\n');
    expect(await ask(z, '$JS.API.STREAM.CREATE.L', large)).toContain('"max_bytes":1500000');
    expect(await reload(server, limits('2MiB', '20MiB'))).toMatch(
      /config reload not supported for decreasing jetstream max memory and max store|decreasing jetstream max memory and store/,
    );
  });

  test('has other limits for streams and consumers from then on', async () => {
    const limits = (duplicates: string): string => config('', `limits: { duplicate_window: ${duplicates} }`);
    const server = await serve(target, limits('1h'));
    const z = await clientNamed(server, 'z');
    const long = streamOf('L', { duplicate_window: 60_000_000_000 });
    expect(await reload(server, limits('30s'))).toMatch(APPLIED);
    expect(server.log).toContain('Reloaded: JetStream limits\n');
    expect(await ask(z, '$JS.API.STREAM.CREATE.L', long)).toContain('duplicates window');
    expect(await reload(server, limits('1h'))).toMatch(APPLIED);
    expect(await ask(z, '$JS.API.STREAM.CREATE.L', long)).toContain('"duplicate_window":60000000000');
  });
});

/** `null`: a server without JetStream, whose accounts may have it all the same. */
function wholeConfig(block: string | null): string {
  const accounts = account('A', 'jetstream: enabled') + account('SYS');
  const jetstream = block === null ? '' : `jetstream { ${block} }`;
  return `http: "127.0.0.1:-1"\n${jetstream}\naccounts { ${accounts} }\nsystem_account: SYS`;
}

describeTargets('a reload that turns JetStream on or off', (target) => {
  test('turns it on', async () => {
    const server = await serve(target, wholeConfig(null));
    const before = await clientNamed(server, 'a');
    expect(await ask(before, '$JS.API.INFO')).toMatch(NO_RESPONDERS);
    const logged = server.log.length;
    expect(await reload(server, wholeConfig('store_dir: "./store", max_mem: 1MB, max_file: 10MB'))).toMatch(APPLIED);
    const lines = server.log.slice(logged).matchAll(/(Reloaded: \w+|\w+ing JetStream|Max \w+: .*|Reloaded server)/g);
    expect([...lines].map(([line]) => line).filter((line) => !/authorization|accounts/.test(line))).toEqual([
      'Reloaded: JetStream',
      'Restarting JetStream',
      'Starting JetStream',
      'Max Memory:      1.00 MB',
      'Max Storage:     10.00 MB',
      'Reloaded server',
    ]);
    expect(await ask(before, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
    expect(await ask(before, 's', 'one')).toBe('{"stream":"S","seq":1}');
    const { body } = await page(server, '/jsz');
    expect(body).toMatchObject({ streams: 1, messages: 1, accounts: 1 });
    expect(await greeting(server)).toMatch(/"jetstream":\s*true/);
  });

  test('turns it off, and on again with what was on disk', async () => {
    const on = wholeConfig('store_dir: "./store", max_mem: 1MB, max_file: 10MB');
    const server = await serve(target, on);
    const a = await clientNamed(server, 'a');
    expect(await ask(a, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
    expect(await ask(a, '$JS.API.STREAM.CREATE.M', streamOf('M', { storage: 'memory' }))).toContain('"memory"');
    const durable = { stream_name: 'S', config: { durable_name: 'D', ack_policy: 'explicit' } };
    expect(await ask(a, '$JS.API.CONSUMER.DURABLE.CREATE.S.D', durable)).toContain('"durable_name":"D"');
    expect(await ask(a, 's', 'one')).toBe('{"stream":"S","seq":1}');
    const logged = server.log.length;
    expect(await reload(server, wholeConfig(null))).toMatch(APPLIED);
    const lines = server.log.slice(logged);
    expect(lines).toMatch(/Reloaded: JetStream\n[^]*Initiating JetStream Shutdown\.\.\.\n[^]*JetStream Shutdown\n/);
    expect(await ask(a, 's', 'lost')).toMatch(NO_RESPONDERS);
    expect((await page(server, '/jsz')).body).toMatchObject({ disabled: true, streams: 0 });
    expect((await page(server, '/healthz')).status).toBe(200);
    expect(await greeting(server)).not.toMatch(/"jetstream":\s*true/);
    expect(await reload(server, on)).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.INFO.S')).toContain('"messages":1');
    expect(await ask(a, '$JS.API.STREAM.INFO.M')).toContain('"err_code":10059');
    expect(await ask(a, '$JS.API.CONSUMER.INFO.S.D')).toContain('"num_pending":1');
    expect(await ask(a, 's', 'two')).toBe('{"stream":"S","seq":2}');
    expect(await reload(server, wholeConfig('enabled: false, store_dir: "./store", max_mem: 1MB'))).toMatch(APPLIED);
    expect(await ask(a, 's', 'lost')).toMatch(NO_RESPONDERS);
    // Limits that could not become smaller while it runs can while it does not.
    expect(await reload(server, wholeConfig('store_dir: "./store", max_mem: 1MB, max_file: 5MB'))).toMatch(APPLIED);
    expect(await ask(a, 's', 'three')).toBe('{"stream":"S","seq":3}');
  });

  test('goes on without it where it can not start, and tries again', async () => {
    const server = await serve(target, wholeConfig(null));
    const a = await clientNamed(server, 'a');
    expect(await reload(server, wholeConfig('store_dir: "/proc/none"'))).toMatch(APPLIED);
    expect(server.log).toMatch(/\[WRN\] Can't start JetStream: could not create storage directory/);
    expect(await page(server, '/healthz')).toEqual({
      status: 503,
      body: { status: 'unavailable', error: 'JetStream not enabled (10076)' },
    });
    expect(await reload(server, wholeConfig('store_dir: "./store"'))).toMatch(APPLIED);
    expect(await ask(a, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
    expect((await page(server, '/healthz')).status).toBe(200);
  });

  test('refuses another domain or folder, on or off', async () => {
    const server = await serve(target, wholeConfig('store_dir: "./store"'));
    expect(await reload(server, wholeConfig('store_dir: "./other"'))).toContain(
      'config reload not supported for jetstream storage directory',
    );
    for (const block of ['store_dir: "./store", domain: d', 'enabled: false, store_dir: "./store", domain: d']) {
      expect(await reload(server, wholeConfig(block))).toContain('config reload not supported for JetStreamDomain');
    }
    const a = await clientNamed(server, 'a');
    expect(await ask(a, '$JS.API.STREAM.CREATE.S', streamOf('S'))).toContain('"subjects":["s"]');
  });
});

/** The INFO that a client gets who comes now. */
async function greeting(server: RunningServer): Promise<string> {
  const client = await dial(server.address());
  const line = await client.line();
  await client.close();
  return line;
}
