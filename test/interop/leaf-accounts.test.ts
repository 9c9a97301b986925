/** Links of the system account, and links that keep the interest of others apart, whichever server is at which end. */
import { expect, it, onTestFinished } from 'vitest';
import { describePairs, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial, type WireClient } from '../helpers/wire-client.ts';

const SYSTEM_USERS = 'accounts { $SYS { users [ { user: sys, password: sys } ] } }';

async function hubOf(target: Target, leafnodes = '', config = ''): Promise<RunningServer> {
  return serve(target, `server_name: hub\nleafnodes { listen: "127.0.0.1:-1"\n${leafnodes} }\n${config}`, {
    flags: ['-D'],
  });
}

async function leafOf(
  target: Target,
  hub: RunningServer,
  name: string,
  remote: string,
  config = '',
): Promise<RunningServer> {
  const { port } = await hub.listening('leafnode');
  const url = `url: "nats://${config === '' ? '' : 'sys:sys@'}127.0.0.1:${port}"`;
  const links = `leafnodes { reconnect: "100ms", remotes: [ { ${url}\n${remote} } ] }`;
  return serve(target, `server_name: ${name}\n${links}\n${config}`, { flags: ['-D'] });
}

async function clientOf(server: RunningServer, login: object = {}): Promise<WireClient> {
  const client = await dial(server.address());
  await client.line();
  client.send(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, ...login })}\r\nPING\r\n`);
  await client.expect('PONG\r\n');
  onTestFinished(() => client.close());
  return client;
}

describePairs('a link of the system account', (leaf, hub) => {
  it('carries requests to all servers, and keeps the JetStream of each apart', async () => {
    const up = await hubOf(hub, '', SYSTEM_USERS);
    const down = await leafOf(leaf, up, 'edge', 'account: "$SYS"', SYSTEM_USERS);
    await until(() => up.log.includes('System account connected from edge') || null, 'the log of the hub');
    await until(() => /System account connected from hub/.test(down.log) || null, 'the log of the leaf');
    expect(down.log).toContain('JetStream not extended, domains differ');
    const system = await clientOf(up, { user: 'sys', pass: 'sys' });
    system.send('SUB answers 1\r\n');
    const names = new Set<string>();
    await until(async () => {
      system.send('PUB $SYS.REQ.SERVER.PING.IDZ answers 0\r\n\r\nPING\r\n');
      const bytes = await system.take((view) => (view.includes('PONG\r\n') ? view.length : 'more'), 'answers');
      for (const [, name = ''] of bytes.toString().matchAll(/"name":"(\w+)"/g)) names.add(name);
      return names.has('edge') && names.has('hub');
    }, 'answers of both');
  });
});

/** Publishes until the receiver hears of the mark; whether it has heard of the other subject by then. */
async function hears(from: WireClient, subject: string, to: WireClient): Promise<boolean> {
  const seen = await until(() => {
    from.send(`PUB ${subject} 0\r\n\r\nPUB mark 0\r\n\r\n`);
    const found = to.tryTake((bytes) => (bytes.includes('MSG mark ') ? bytes.length : 'more'));
    return Buffer.isBuffer(found) ? found : null;
  }, 'the mark');
  return seen.includes(`MSG ${subject} `);
}

describePairs('links that are kept apart', (leaf, hub) => {
  it.each([
    ['when nobody says so', '', '', true],
    ['when the hub keeps them apart', 'isolate: true', '', false],
    ['when they ask for it', '', 'request_isolation: true', false],
  ])('hear of the interest of others %s: %j %j %s', async (_, leafnodes, remote, isHeard) => {
    const up = await hubOf(hub, leafnodes);
    const [one, two] = [await leafOf(leaf, up, 'one', remote), await leafOf(leaf, up, 'two', remote)];
    const [near, far, middle] = [await clientOf(one), await clientOf(two), await clientOf(up)];
    far.send('SUB east 1\r\nSUB mark 2\r\nPING\r\n');
    await far.expect('PONG\r\n');
    // The hub's own interest brings the mark to it, and from there it is a short way.
    middle.send('SUB mark 1\r\nPING\r\n');
    await middle.expect('PONG\r\n');
    await hears(near, 'east', far);
    expect(await hears(near, 'east', far)).toBe(isHeard);
  });
});
