/** JetStream of accounts, and its limits, as they change while the server runs; on nats-server and petiole alike. */
import { expect, test } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import type { WireClient } from '../helpers/wire-client.ts';

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
  const line = await client.line();
  if (!line.startsWith('HMSG')) return client.line();
  for (let rest = 0; rest < 4; rest++) await client.line();
  return line;
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
