/** Limits that leaf links meet, or count in, whichever of the two servers is at which end. */
import { expect, it } from 'vitest';
import { clientOf, describePairs, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const TOO_MANY = 'maximum account active connections exceeded';
const REFUSED = `Leafnode Error '${TOO_MANY}'`;
const BIG = 2000;

interface HubSettings {
  /** Of the account that leaves join. */
  readonly limits?: string;
  readonly config?: string;
}

async function hubOf(target: Target, { limits = '', config = '' }: HubSettings): Promise<RunningServer> {
  const accounts = `accounts { A { users: [ { user: a, password: a } ], limits { ${limits} } } }`;
  const listener = 'http: "127.0.0.1:-1"\nleafnodes { listen: "127.0.0.1:-1" }';
  return serve(target, `server_name: hub\n${listener}\n${accounts}\n${config}`);
}

/** `limits`: of its own account. */
async function leafOf(
  target: Target,
  hub: RunningServer,
  { name = 'edge', limits = '', config = '' } = {},
): Promise<RunningServer> {
  const { host, port } = await hub.listening('leafnode');
  const remote = `{ url: "nats://a:a@${host}:${port}", account: L }`;
  const accounts = `accounts { L { users: [ { user: l, password: l } ], limits { ${limits} } } }`;
  return serve(
    target,
    `server_name: ${name}\n${accounts}\nleafnodes { reconnect: "5s", remotes: [ ${remote} ] }\n${config}`,
  );
}

async function links(hub: RunningServer): Promise<string[]> {
  const { host, port } = await hub.listening('monitor');
  const { leafs } = (await (await fetch(`http://${host}:${port}/leafz`)).json()) as {
    leafs: { name: string }[] | null;
  };
  return (leafs ?? []).map(({ name }) => name);
}

async function linked(hub: RunningServer, ...names: string[]): Promise<void> {
  await until(async () => (await links(hub)).join() === names.join(), `links of ${names.join()}`);
}

/** What a client hears that logs in. */
async function welcome(server: RunningServer, user: string): Promise<string> {
  const client = await dial(server.address());
  await client.line();
  client.send(`CONNECT {"verbose":false,"user":"${user}","pass":"${user}"}\r\nPING\r\n`);
  const line = await client.line();
  await client.close();
  return line;
}

describePairs('a link and limits', (leaf, hub) => {
  it('is refused where the account has as many leaves as it may have', async () => {
    const up = await hubOf(hub, { limits: 'max_leafnodes: 1' });
    await leafOf(leaf, up, { name: 'one' });
    await linked(up, 'one');
    const two = await leafOf(leaf, up, { name: 'two' });
    await until(() => two.log.includes(REFUSED), 'the refusal');
    const end = 'Leafnode connection closed: Maximum Account Connections Exceeded';
    await until(() => up.log.includes(end), 'the end of the second link');
    expect(up.log).toMatch(/lid:\d+ - maximum account active connections exceeded\n/);
    await linked(up, 'one');
  });

  it('is not opened where the account of the leaf may have none', async () => {
    const up = await hubOf(hub, {});
    const one = await leafOf(leaf, up, { limits: 'max_leafnodes: 0' });
    await until(() => up.log.includes(REFUSED), 'the refusal');
    const end = 'Leafnode connection closed: Maximum Account Connections Exceeded';
    await until(() => one.log.includes(end), 'the end of the link');
    expect(one.log).toMatch(/lid:\d+ - maximum account active connections exceeded\n/);
    await linked(up);
  });

  it('is there beside as many clients as may be, and counts as one', async () => {
    const up = await hubOf(hub, { limits: 'max_connections: 1' });
    const first = await clientOf(up, { user: 'a', pass: 'a' });
    const one = await leafOf(leaf, up, { limits: 'max_connections: 1' });
    await linked(up, 'edge');
    await first.close();
    await until(async () => (await welcome(one, 'l')).startsWith('-ERR'), 'the link to count at the leaf');
    expect(await welcome(up, 'a')).toBe(`-ERR '${TOO_MANY}'`);
    expect(await welcome(one, 'l')).toBe(`-ERR '${TOO_MANY}'`);
    expect(await links(up)).toEqual(['edge']);
  });

  it('does not count among the connections of the server', async () => {
    const up = await hubOf(hub, { config: 'max_connections: 1' });
    await clientOf(up, { user: 'a', pass: 'a' });
    await leafOf(leaf, up);
    await linked(up, 'edge');
    expect(await welcome(up, 'a')).toBe("-ERR 'maximum connections exceeded'");
  });

  it('carries no message that is too large for the other side', async () => {
    const up = await hubOf(hub, { config: 'max_payload: 1000' });
    const one = await leafOf(leaf, up, { config: 'max_payload: 1MB' });
    await linked(up, 'edge');
    const above = await clientOf(up, { user: 'a', pass: 'a' });
    const below = await clientOf(one, { user: 'l', pass: 'l' });
    above.send('SUB x 1\r\nPING\r\n');
    await above.expect('PONG\r\n');
    await until(() => {
      below.send('PUB x 0\r\n\r\n');
      return above.unread.length > 0;
    }, 'the interest to cross');
    below.send(`PUB x ${BIG}\r\n${'x'.repeat(BIG)}\r\n`);
    await below.quiet();
    // A leaf of petiole remembers what the hub said, and keeps the message and the link.
    const told = leaf.name === 'petiole' ? /the remote accepts 1000/ : /Leafnode Error 'Maximum Payload Violation'/;
    await until(() => told.test(one.log), 'the log to say so');
    expect(up.log.includes(`maximum payload exceeded: ${BIG} vs 1000`)).toBe(leaf.name !== 'petiole');
    expect(above.unread.toString()).not.toContain(` ${BIG}\r\n`);
  });
});
