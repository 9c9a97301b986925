/** Accounts that come, go and share other things while the server runs, on nats-server and petiole alike. */
import { expect, test } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { dial } from '../helpers/wire-client.ts';

const APPLIED = /^Reloaded server configuration/;

function account(name: string, more = ''): string {
  const user = name.toLowerCase();
  return `${name} { users: [ { user: ${user}, password: ${user} } ], ${more} }\n`;
}

const ann = { user: 'a', pass: 'a' };
const bob = { user: 'b', pass: 'b' };

describeTargets('a reload of accounts', (target) => {
  test('adds one, and keeps the others apart from it', async () => {
    const server = await serve(target, `accounts { ${account('A')} }`);
    const a = await clientOf(server, ann);
    expect(await reload(server, `accounts { ${account('A')} ${account('B')} }`)).toMatch(APPLIED);
    expect(server.log).toContain('Reloaded: accounts\n');
    const b = await clientOf(server, bob);
    a.send('SUB x 1\r\nPING\r\n');
    await a.expect('PONG\r\n');
    b.send('SUB _I 1\r\nSUB x 2\r\nPUB x 2\r\nhi\r\nPING\r\n');
    await b.expect('MSG x 2 2\r\nhi\r\nPONG\r\n');
    b.send('PUB $SYS.REQ.USER.INFO _I 0\r\n\r\n');
    expect(await b.line()).toMatch(/^MSG _I 1 /);
    expect(await b.line()).toContain('"account":"B"');
    a.send('PING\r\n');
    await a.expect('PONG\r\n');
  });

  test('removes one: its clients go without a word, and can not come back', async () => {
    const server = await serve(target, `accounts { ${account('A')} ${account('B')} }`);
    const [a, b] = [await clientOf(server, ann), await clientOf(server, bob)];
    expect(await reload(server, `accounts { ${account('A')} }`)).toMatch(APPLIED);
    await b.closed();
    const again = await dial(server.address());
    await again.line();
    again.send(`CONNECT ${JSON.stringify(bob)}\r\nPING\r\n`);
    await again.expect(`-ERR 'Authorization Violation'\r\n`);
    await again.close();
    a.send('PING\r\n');
    await a.expect('PONG\r\n');
    expect(await reload(server, `accounts { ${account('A')} ${account('B')} }`)).toMatch(APPLIED);
    const back = await clientOf(server, bob);
    back.send('SUB x 1\r\nPUB x 0\r\n\r\n');
    await back.expect('MSG x 1 0\r\n\r\n');
  });

  test('begins and ends the import of a stream for subscriptions that are there', async () => {
    const apart = `accounts { ${account('A', 'exports: [ { stream: "s.>" } ]')} ${account('B')} }`;
    const imports = (to: string): string => `imports: [ { stream: { account: A, subject: "s.>" }, prefix: ${to} } ]`;
    const joined = (to: string): string =>
      `accounts { ${account('A', 'exports: [ { stream: "s.>" } ]')} ${account('B', imports(to))} }`;
    const server = await serve(target, apart);
    const [a, b] = [await clientOf(server, ann), await clientOf(server, bob)];
    b.send('SUB in.> 1\r\nSUB into.> 2\r\nPING\r\n');
    await b.expect('PONG\r\n');
    const published = async (): Promise<void> => {
      a.send('PUB s.1 0\r\n\r\nPING\r\n');
      await a.expect('PONG\r\n');
      b.send('PING\r\n');
    };
    await published();
    await b.expect('PONG\r\n');
    expect(await reload(server, joined('in'))).toMatch(APPLIED);
    await published();
    await b.expect('MSG in.s.1 1 0\r\n\r\nPONG\r\n');
    expect(await reload(server, joined('into'))).toMatch(APPLIED);
    await published();
    await b.expect('MSG into.s.1 2 0\r\n\r\nPONG\r\n');
    expect(await reload(server, apart)).toMatch(APPLIED);
    await published();
    await b.expect('PONG\r\n');
  });

  test('begins and ends the import of a service; an answer on its way arrives', async () => {
    const exporter = account('A', 'exports: [ { service: "svc" }, { service: "other" } ]');
    const imports = 'imports: [ { service: { account: A, subject: "svc" } } ]';
    const apart = `accounts { ${exporter} ${account('B')} }`;
    const joined = (more = ''): string => `accounts { ${exporter} ${account('B', imports + more)} }`;
    const server = await serve(target, apart);
    const [a, b] = [await clientOf(server, ann), await clientOf(server, bob)];
    a.send('SUB svc 1\r\nPING\r\n');
    await a.expect('PONG\r\n');
    b.send('SUB _I 1\r\nPUB svc _I 0\r\n\r\nPING\r\n');
    await b.expect('PONG\r\n');
    expect(await reload(server, joined())).toMatch(APPLIED);
    b.send('PUB svc _I 0\r\n\r\n');
    const request = /^MSG svc 1 (_R_\S+) /.exec(await a.line());
    await a.expect('\r\n');
    expect(await reload(server, joined(', mappings: { x: y }'))).toMatch(APPLIED);
    a.send(`PUB ${request?.[1]} 2\r\nok\r\n`);
    await b.expect('MSG _I 1 2\r\nok\r\n');
    expect(await reload(server, apart)).toMatch(APPLIED);
    b.send('PUB svc _I 0\r\n\r\nPING\r\n');
    await b.expect('PONG\r\n');
    a.send('PING\r\n');
    await a.expect('PONG\r\n');
  });

  test('that lowers how much may be subscribed to closes who has more', async () => {
    const server = await serve(target, `accounts { ${account('A')} }`);
    const [many, few] = [await clientOf(server, ann), await clientOf(server, ann)];
    many.send('SUB x 1\r\nSUB y 2\r\nSUB z 3\r\nPING\r\n');
    few.send('SUB x 1\r\nPING\r\n');
    for (const each of [many, few]) await each.expect('PONG\r\n');
    expect(await reload(server, `accounts { ${account('A', 'limits { max_subscriptions: 2 }')} }`)).toMatch(APPLIED);
    await many.expect(`-ERR 'maximum subscriptions exceeded'\r\n`);
    await many.closed();
    few.send('SUB y 2\r\nSUB z 3\r\nPING\r\n');
    await few.expect(`-ERR 'maximum subscriptions exceeded'\r\nPONG\r\n`);
    expect(server.log).toContain('maximum subscriptions exceeded\n');
  });

  test('refuses another system account', async () => {
    const accounts = `accounts { ${account('A')} ${account('B')} }\n`;
    const server = await serve(target, accounts);
    expect(await reload(server, `${accounts}system_account: A`)).toBe(
      'Failed to reload server configuration: config reload not supported for SystemAccount: old=, new=A',
    );
    const fixed = await serve(target, `${accounts}system_account: A`);
    expect(await reload(fixed, `${accounts}system_account: B`)).toBe(
      'Failed to reload server configuration: config reload not supported for SystemAccount: old=A, new=B',
    );
    expect(await reload(fixed, accounts)).toBe(
      'Failed to reload server configuration: config reload not supported for SystemAccount: old=A, new=',
    );
  });

  test('takes other limits of JetStream on, and keeps what is stored', async () => {
    const config = (streams: number): string =>
      `jetstream { store_dir: "store" }\naccounts { ${account('A', `jetstream: { max_streams: ${streams} }`)} }`;
    const server = await serve(target, config(1));
    const a = await clientOf(server, ann);
    a.send('SUB _I 1\r\nPING\r\n');
    await a.expect('PONG\r\n');
    const ask = async (name: string, body: object): Promise<string> => {
      const json = JSON.stringify(body);
      a.send(`PUB $JS.API.${name} _I ${json.length}\r\n${json}\r\n`);
      await a.line();
      return a.line();
    };
    const create = (name: string): Promise<string> => ask(`STREAM.CREATE.${name}`, { name, subjects: [name] });
    expect(await create('S')).toContain('"did_create":true');
    expect(await create('T')).toContain('"err_code":10027');
    expect(await reload(server, config(2))).toMatch(APPLIED);
    expect(await create('T')).toContain('"did_create":true');
    expect(await ask('INFO', {})).toContain('"max_streams":2');
  });

  test('with an import that nobody exports changes nothing, and says where', async () => {
    const server = await serve(target, `accounts { ${account('A')} }`);
    const wrong = account('B', 'imports: [ { service: { account: A, subject: "svc" } } ]');
    expect(await reload(server, `max_payload: 5\naccounts { ${account('A')} ${wrong} }`)).toMatch(
      /server\.conf:2:\d+: Error adding service import "svc": service import not authorized/,
    );
    const a = await clientOf(server, ann);
    a.send('SUB x 1\r\nPUB x 6\r\nsixsix\r\n');
    await a.expect('MSG x 1 6\r\nsixsix\r\n');
  });
});
