/** Leaf links that come over the WebSocket port of a hub, whichever of the two servers is at which end. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { describePairs, describeTargets, page, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { enter } from '../helpers/web-client.ts';

const authority = new TestAuthority(temporaryDirectory(afterAll));
const ours = authority.issueServer();

interface Setting {
  /** More of `websocket`, `leafnodes` and the file of the hub. */
  readonly websocket?: string;
  readonly leafnodes?: string;
  readonly config?: string;
  /** More of the remote. */
  readonly remote?: string;
  readonly scheme?: 'ws' | 'wss';
  /** `user:password@`. */
  readonly login?: string;
}

async function hubOf(target: Target, setting: Setting): Promise<RunningServer> {
  const { websocket = '', leafnodes = '', config = '', scheme = 'ws' } = setting;
  const tls = `tls { cert_file: "${ours.certFile}", key_file: "${ours.keyFile}" }`;
  const security = scheme === 'wss' ? tls : 'no_tls: true';
  const block = `websocket { listen: "127.0.0.1:-1", ${security}\n${websocket} }`;
  const text = `server_name: hub\nhttp: "127.0.0.1:-1"\n${block}\nleafnodes { listen: "127.0.0.1:-1"\n${leafnodes} }\n${config}`;
  return serve(target, text, { flags: ['-D'] });
}

async function leafOf(target: Target, hub: RunningServer, setting: Setting): Promise<RunningServer> {
  const { port } = await hub.listening('websocket');
  const { remote = '', scheme = 'ws', login = '' } = setting;
  const tls = scheme === 'wss' ? `tls { ca_file: "${authority.file}" }` : '';
  const remotes = `remotes: [ { url: "${scheme}://${login}localhost:${port}"\n${tls}\n${remote} } ]`;
  const text = `server_name: edge\nhttp: "127.0.0.1:-1"\nleafnodes { reconnect: "100ms"\n${remotes} }`;
  return serve(target, text, { flags: ['-D'] });
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const connection = await connect({ servers: `${host}:${port}`, reconnect: false });
  onTestFinished(() => connection.close());
  return connection;
}

/** Requests cross the link in both directions, small ones and large. */
async function talk(hub: RunningServer, leaf: RunningServer): Promise<void> {
  const [atHub, atLeaf] = [await clientOf(hub), await clientOf(leaf)];
  for (const [from, to, subject] of [
    [atHub, atLeaf, 'at.leaf'],
    [atLeaf, atHub, 'at.hub'],
  ] as const) {
    to.subscribe(subject, { callback: (_, message) => void message.respond(message.data) });
    const ask = (payload: string): Promise<string | null> =>
      from.request(subject, payload, { timeout: 1000 }).then(
        (answer) => answer.string(),
        () => null,
      );
    await until(async () => (await ask('hi')) === 'hi', `${subject} to answer`);
    const large = 'some text that can be made smaller '.repeat(20_000);
    expect(await ask(large)).toBe(large);
  }
}

const SETTINGS: readonly (readonly [what: string, setting: Setting])[] = [
  ['as it is', {}],
  ['compressed by WebSocket', { websocket: 'compression: true', remote: 'ws_compression: true' }],
  ['without masks', { remote: 'ws_no_masking: true' }],
  ['compressed by S2', { leafnodes: 'compression: s2_fast', remote: 'compression: s2_fast' }],
  ['encrypted', { scheme: 'wss' }],
];

describePairs('a leaf link over the WebSocket port', (leafTarget, hubTarget) => {
  test.each(SETTINGS)('carries what crosses it, %s', async (_, setting) => {
    const hub = await hubOf(hubTarget, setting);
    const leaf = await leafOf(leafTarget, hub, setting);
    await talk(hub, leaf);
    expect(hub.log).toMatch(/127\.0\.0\.1:\d+ - lid_ws:\d+ - Leafnode connection created/);
    const { body } = await page(hub, '/leafz');
    const compression = setting.leafnodes === undefined ? undefined : 's2_fast';
    expect(body).toMatchObject({ leafs: [{ name: 'edge', websocket: true, ...(compression && { compression }) }] });
  });
});

describePairs('the login of a leaf over WebSocket', (leafTarget, hubTarget) => {
  const users = `accounts { A { users: [
    {user: web, password: p, allowed_connection_types: [LEAFNODE_WS]}
    {user: tcp, password: p, allowed_connection_types: [LEAFNODE]}
  ] } }`;

  test('is of users that may link there, or of the one for those without', async () => {
    const hub = await hubOf(hubTarget, { config: users, websocket: 'no_auth_user: web' });
    await leafOf(leafTarget, hub, { login: 'tcp:p@' });
    await until(() => /lid_ws:\d+.*authentication error/i.test(hub.log), 'the hub to refuse the leaf');
    const leaf = await leafOf(leafTarget, hub, {});
    await until(async () => {
      const { body } = await page(hub, '/leafz');
      return (body as { leafs?: { account: string }[] }).leafs?.some(({ account }) => account === 'A');
    }, 'the leaf without a login to link');
    expect(leaf.log).not.toContain('Authorization Violation');
  });
});

describeTargets('the greeting of leaves over WebSocket', (target) => {
  test('offers S2 unless WebSocket compresses already', async () => {
    const hub = await hubOf(target, { websocket: 'compression: true' });
    const address = await hub.listening('websocket');
    const plain = await enter(address, { path: '/leafnode' });
    expect(plain.info).toMatchObject({ compression: 's2_auto', auth_required: true });
    expect(plain.info.nonce).toMatch(/^[\w-]{15}$/);
    const headers = { 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    const compressed = await enter(address, { path: '/a/leafnode?b', headers });
    expect(compressed.info).not.toHaveProperty('compression');
  });
});
