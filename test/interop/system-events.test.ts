/** What petiole tells in `$SYS` of clients that come and go is what nats-server tells. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { dial, type WireClient } from '../helpers/wire-client.ts';
import { type Asked, describeAsked, type Json, settled } from './system-scenario.ts';

/** A server that is told one line after the other reads them one after the other. */
const BETWEEN_LINES_MS = 50;

describeAsked('events in the system account', (both) => {
  it.each<[string, readonly string[], (asked: Asked) => Promise<void>]>([
    [
      'a client that comes, publishes and goes',
      ['$SYS.ACCOUNT.A.CONNECT', '$SYS.ACCOUNT.A.DISCONNECT'],
      async (asked) => {
        const client = await asked.client('a', 'meter <7>');
        client.publish('x', '12345');
        await client.flush();
        await client.close();
      },
    ],
    [
      'a client of two accounts, one after the other',
      ['$SYS.ACCOUNT.A.CONNECT', '$SYS.ACCOUNT.B.CONNECT', '$SYS.ACCOUNT.B.DISCONNECT'],
      (asked) => talk(asked, [connectLine({ user: 'a', pass: 'p' }), connectLine({ user: 'b', pass: 'p' })]),
    ],
    [
      'a client that is refused',
      ['$SYS.ACCOUNT.$G.DISCONNECT', '$SYS.SERVER.ID.CLIENT.AUTH.ERR'],
      (asked) => talk(asked, [connectLine({ user: 'a', pass: 'wrong', name: 'n', lang: 'l', version: '1.2.3' })]),
    ],
    [
      'a client with a token where there is none',
      ['$SYS.ACCOUNT.$G.DISCONNECT', '$SYS.SERVER.ID.CLIENT.AUTH.ERR'],
      (asked) => talk(asked, [connectLine({ auth_token: 'secret' })]),
    ],
    [
      'a client that does not say who it is',
      ['$SYS.ACCOUNT.$G.DISCONNECT', '$SYS.SERVER.ID.CLIENT.AUTH.ERR'],
      (asked) => talk(asked, ['PUB x 1\r\nx\r\n']),
    ],
    ['a client that says nothing', ['$SYS.ACCOUNT.$G.DISCONNECT'], (asked) => talk(asked, [''])],
    [
      'a client that breaks the protocol',
      ['$SYS.ACCOUNT.B.CONNECT', '$SYS.ACCOUNT.B.DISCONNECT'],
      (asked) => talk(asked, [connectLine({ user: 'b', pass: 'p' }), 'NONSENSE\r\n']),
    ],
  ])('are alike for %s', async (_, subjects, life) => {
    const [theirs, ours] = await Promise.all(both().map((asked) => eventsOf(asked, subjects, () => life(asked))));
    expect(ours).toEqual(theirs);
  });
});

describeAsked('events about accounts', (both) => {
  it('tell how many are connected, under both subjects', async () => {
    const [theirs, ours] = await Promise.all(
      both().map(async ({ system, server }) => {
        const heard: { readonly subject: string; readonly body: Json }[] = [];
        const callback = (_error: Error | null, { subject, data }: Msg): void => {
          heard.push({ subject, body: JSON.parse(Buffer.from(data).toString()) as Json });
        };
        system.subscribe('$SYS.ACCOUNT.*.SERVER.CONNS', { callback });
        system.subscribe('$SYS.SERVER.ACCOUNT.*.CONNS', { callback });
        await system.flush();
        for (const [before, user] of ['b', 'a'].entries()) {
          const client = await dial(server.address());
          client.send(connectLine({ user, pass: 'p' }));
          await until(() => heard.length >= before * 4 + 2, 'to hear that a client has come');
          // Longer than changes are put together.
          await delay(150);
          await client.close();
          await until(() => heard.length >= before * 4 + 4, 'to hear that a client has gone');
          await delay(150);
        }
        return heard.map(({ subject, body }) => settled({ subject, body: { ...body, conns: body['conns'] } }));
      }),
    );
    expect(theirs).toHaveLength(8);
    expect(ours).toEqual(theirs);
  });
});

describeTargets('events in the account of everybody', (target) => {
  it('tell the owners of those who are refused', async () => {
    const server = await serve(target, 'authorization { users: [{ user: g, password: p }] }');
    const owner = await clientOf(server, { user: 'g', pass: 'p' });
    owner.send('SUB $SYS.ACCOUNT.CLIENT.AUTH.ERR 1\r\nPING\r\n');
    await owner.expect('PONG\r\n');
    const refused = await dial(server.address());
    await refused.line();
    refused.send(connectLine({ user: 'g', pass: 'wrong' }));
    await refused.expect("-ERR 'Authorization Violation'\r\n");
    await refused.closed();
    expect(await owner.line()).toMatch(/^MSG \$SYS\.ACCOUNT\.CLIENT\.AUTH\.ERR 1 +\d+/);
    const event = JSON.parse(await owner.line()) as Json;
    expect(settled(event)).toMatchObject({
      type: 'io.nats.server.advisory.v1.client_disconnect',
      client: { acc: '$G', user: 'g', name_tag: '$G', kind: 'Client', client_type: 'nats' },
      reason: 'Authentication Failure',
    });
  });
});

describeTargets('events of a server as a whole', (target) => {
  async function watched(subject: string): Promise<{ server: RunningServer; watcher: WireClient }> {
    const server = await serve(
      target,
      'server_name: watched, accounts { S { users: [{ user: s, password: p }] } }, system_account: S',
    );
    const watcher = await clientOf(server, { user: 's', pass: 'p' });
    watcher.send(`SUB ${subject} 1\r\nPING\r\n`);
    await watcher.expect('PONG\r\n');
    return { server, watcher };
  }

  it.each<[string, NodeJS.Signals]>([
    ['SHUTDOWN', 'SIGTERM'],
    ['LAMEDUCK', 'SIGUSR2'],
  ])('tell of %s', async (kind, signal) => {
    const { server, watcher } = await watched(`$SYS.SERVER.*.${kind}`);
    server.signal(signal);
    expect(await watcher.line()).toMatch(new RegExp(`^MSG \\$SYS\\.SERVER\\.N[A-Z2-7]{55}\\.${kind} 1 +\\d+`));
    const { name, id, seq, ...rest } = JSON.parse(await watcher.line()) as Json;
    expect({ name, id: String(id).length, seq: typeof seq }).toEqual({ name: 'watched', id: 56, seq: 'number' });
    expect(Object.keys(rest)).toEqual(['host', 'ver', 'feature_flags', 'jetstream', 'flags', 'time']);
  });

  it('summarize, soon at first and then ever less often', async () => {
    const { watcher } = await watched('$SYS.SERVER.*.STATSZ');
    const moments: number[] = [];
    for (let i = 0; i < 3; i++) {
      let line = await watcher.line();
      // The server measures the round trip meanwhile.
      if (line === 'PING') line = await watcher.line();
      expect(line).toMatch(/^MSG \$SYS\.SERVER\.N[A-Z2-7]{55}\.STATSZ 1 +\d+/);
      const { statsz, server } = JSON.parse(await watcher.line()) as Record<string, Json>;
      expect(statsz).toMatchObject({ active_servers: 1, active_accounts: 1, connections: 1 });
      moments.push(Date.parse(String(server?.['time'])));
    }
    const [first = 0, second = 0, third = 0] = moments;
    expect(third - second).toBeGreaterThan((second - first) * 1.5);
  });
});

function connectLine(options: object): string {
  return `CONNECT ${JSON.stringify({ verbose: false, ...options })}\r\n`;
}

/** Says these lines, one after the other, and ends. */
async function talk({ server }: Asked, lines: readonly string[]): Promise<void> {
  const client = await dial(server.address());
  for (const line of lines) {
    client.send(line);
    await delay(BETWEEN_LINES_MS);
  }
  await client.close();
}

/** What is heard until each of these subjects was heard; of the same subject in the order of its events. */
async function eventsOf(
  { system, id }: Asked,
  subjects: readonly string[],
  life: () => Promise<void>,
): Promise<unknown[]> {
  const heard: { readonly subject: string; readonly body: unknown }[] = [];
  const callback = (_error: Error | null, message: Msg): void => {
    const subject = message.subject.replace(id, 'ID');
    if (!/\.(?:CONNS|STATSZ)$/.test(subject)) heard.push({ subject, body: message.json() });
  };
  const subscriptions = ['$SYS.ACCOUNT.>', '$SYS.SERVER.>'].map((all) => system.subscribe(all, { callback }));
  await system.flush();
  await life();
  await until(() => subjects.every((subject) => heard.some((event) => event.subject === subject)), subjects.join(', '));
  for (const subscription of subscriptions) subscription.unsubscribe();
  return heard.toSorted((a, b) => (a.subject < b.subject ? -1 : 1)).map((event) => settled(event));
}
