/** What the two ends of a leaf link tell in their system accounts when the link comes and goes. */
import { connect, type Msg } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { isAbsent, natsServer, type RunningServer, type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { type Json, settled } from './system-scenario.ts';

const ACCOUNTS = `
  accounts { SYS { users: [{ user: sys, password: p }] }, A { users: [{ user: a, password: p }] } }
  system_account: SYS
`;
const HUB = `server_name: hub
  ${ACCOUNTS}
  leafnodes { listen: "127.0.0.1:-1", authorization { users: [{ user: l, password: p, account: A }] } }`;

describeTargets('events of a leaf link', (target) => {
  it('are told where it was dialled', async () => {
    const hub = await serve(other(target), HUB);
    const { port } = await hub.listening('leafnode');
    const leaf = await serve(
      target,
      `server_name: leaf
       ${ACCOUNTS}
       leafnodes { reconnect: 1, remotes: [{ url: "nats://l:p@127.0.0.1:${port}", account: A }] }`,
    );
    await until(async () => (await leafs(leaf)) === 1, 'the link to open');
    const heard = await watch(leaf);
    await hub.stop();
    await until(() => heard.length >= 2, 'to hear that the link has gone', 10_000);
    expect(heard.map(({ subject }) => subject).toSorted()).toEqual(['A.DISCONNECT', 'A.SERVER.CONNS']);
    const gone = heard.find(({ subject }) => subject === 'A.DISCONNECT')?.body as Json;
    expect(gone).toMatchObject({ reason: 'Client Closed', sent: {}, received: {} });
    expect(Object.keys(gone['client'] as object).filter((key) => key !== 'rtt')).toEqual(
      'start host id acc stop name_tag kind'.split(' '),
    );
    expect(heard.find(({ subject }) => subject === 'A.SERVER.CONNS')?.body).toMatchObject({
      conns: 0,
      leafnodes: 0,
      total_conns: 0,
    });
  });

  it('are told where it was accepted', async () => {
    const hub = await serve(target, HUB);
    const { port } = await hub.listening('leafnode');
    const heard = await watch(hub);
    const leaf = await serve(
      other(target),
      `server_name: leaf
       ${ACCOUNTS}
       leafnodes { remotes: [{ url: "nats://l:p@127.0.0.1:${port}", account: A }] }`,
    );
    await until(() => heard.length >= 1, 'to hear that the link has come');
    await leaf.stop();
    await until(() => heard.length >= 3, 'to hear that the link has gone');
    expect(heard.map(({ subject, body }) => [subject, body['leafnodes']])).toEqual(
      expect.arrayContaining([
        ['A.SERVER.CONNS', 1],
        ['A.SERVER.CONNS', 0],
        ['A.DISCONNECT', undefined],
      ]),
    );
    const gone = heard.find(({ subject }) => subject === 'A.DISCONNECT')?.body as Json;
    expect(settled(gone['client'])).toMatchObject({
      acc: 'A',
      user: 'l',
      name: 'leaf',
      ver: '2.15.2',
      kind: 'Leafnode',
    });
  });
});

describeTargets('servers that share a system account', (target) => {
  it('know of each other, until one goes', async () => {
    const hub = await serve(
      other(target),
      `server_name: hub
       ${ACCOUNTS}
       leafnodes { listen: "127.0.0.1:-1", authorization { users: [{ user: l, password: p, account: SYS }] } }`,
    );
    const { port } = await hub.listening('leafnode');
    const leaf = await serve(
      target,
      `server_name: leaf
       ${ACCOUNTS}
       leafnodes { remotes: [{ url: "nats://l:p@127.0.0.1:${port}", account: SYS }] }`,
    );
    const system = await systemOf(leaf);
    const active = async (): Promise<Record<string, number>> => {
      const found: Record<string, number> = {};
      for await (const message of await system.requestMany('$SYS.REQ.SERVER.PING', '', { maxWait: 300 })) {
        const { server, statsz } = message.json<Record<'server' | 'statsz', Json>>();
        found[String(server['name'])] = Number(statsz['active_servers']);
      }
      return found;
    };
    await until(
      async () => Object.values(await active()).join(' ') === '2 2',
      'the servers to know of each other',
      15_000,
    );
    await hub.stop();
    await until(async () => (await active())['leaf'] === 1, 'the leaf to be alone', 5_000);
    expect(await active()).toEqual({ leaf: 1 });
  }, 40_000);
});

/** The server at the other end is always the real one. */
function other(target: Target): Target {
  const found = natsServer();
  return isAbsent(found) ? target : found;
}

/** What is told of account A from now on. */
async function watch(server: RunningServer): Promise<{ readonly subject: string; readonly body: Json }[]> {
  const system = await systemOf(server);
  const heard: { readonly subject: string; readonly body: Json }[] = [];
  const callback = (_error: Error | null, { subject, data }: Msg): void => {
    const body = JSON.parse(Buffer.from(data).toString()) as Json;
    heard.push({ subject: subject.slice('$SYS.ACCOUNT.'.length), body });
  };
  system.subscribe('$SYS.ACCOUNT.A.>', { callback });
  await system.flush();
  return heard;
}

async function leafs(server: RunningServer): Promise<number> {
  const system = await systemOf(server);
  const answer = await system.request('$SYS.REQ.SERVER.PING.LEAFZ');
  return answer.json<{ readonly data: { readonly leafnodes: number } }>().data.leafnodes;
}

async function systemOf(server: RunningServer): ReturnType<typeof connect> {
  const { host, port } = server.address();
  const system = await connect({ servers: `${host}:${port}`, user: 'sys', pass: 'p', reconnect: false });
  onTestFinished(() => system.close());
  return system;
}
