/** Encrypted links to the leaf port, whichever of the two servers is at which end, and logins by certificate and key. */
/* oxlint-disable vitest/expect-expect -- what is exchanged is looked at where that happens */
import { createHash, X509Certificate } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { type CertificateFiles, TestAuthority } from '../helpers/certificates.ts';
import { describePairs, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

/** Made for tests alone. */
const USER_KEY = 'UBH2RYMNALFLMBJXV5ZF5POLYODFZLX3VBKSLUPMNY3KWY6SVMV37N5I';
const USER_SEED = 'SUAKJDS7OKYX53UGWKNDJWWEGSEB6SG7PQWLU6RWATCNXRNFREMVM5JBWY';

interface Keys {
  readonly authority: TestAuthority;
  readonly hub: CertificateFiles;
  readonly edge: CertificateFiles;
}

function makeKeys(): Keys {
  const authority = new TestAuthority(temporaryDirectory());
  const hub = authority.issueServer('hub');
  return { authority, hub, edge: authority.issue('edge', '/O=petiole/CN=edge', 'DNS:edge.test') };
}

function files({ certFile, keyFile }: CertificateFiles, { file }: TestAuthority): string {
  return `cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${file}"`;
}

async function hubOf(
  target: Target,
  { hub, authority }: Keys,
  more = '',
  beside = '',
  config = '',
): Promise<RunningServer> {
  const tls = `tls { ${files(hub, authority)}, ${more} }`;
  const text = `server_name: hub\nleafnodes { listen: "127.0.0.1:-1"\n${tls}\n${beside} }\n${config}`;
  return serve(target, text, { flags: ['-D'] });
}

async function leafOf(
  target: Target,
  hub: RunningServer,
  tls: string,
  remote = '',
  login = '',
): Promise<RunningServer> {
  const { port } = await hub.listening('leafnode');
  const entry = `{ url: "nats://${login}localhost:${port}", tls { ${tls} }\n${remote} }`;
  return serve(target, `server_name: edge\nleafnodes { reconnect: "100ms", remotes: [ ${entry} ] }`, { flags: ['-D'] });
}

async function clientOf(server: RunningServer, options: object = {}): Promise<NatsConnection> {
  const { host, port } = server.address();
  const connection = await connect({ servers: `${host}:${port}`, reconnect: false, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

/** A request from the hub, answered at the leaf. */
async function exchange(hub: RunningServer, leaf: RunningServer, options: object = {}): Promise<void> {
  const [above, below] = [await clientOf(hub, options), await clientOf(leaf)];
  const payload = 'temperature 21.5; '.repeat(5000);
  below.subscribe('ask', { callback: (_, message) => void message.respond(message.data) });
  const answer = await until(
    () =>
      above.request('ask', payload, { timeout: 1000 }).then(
        (message) => message.string(),
        () => null,
      ),
    'an answer from the leaf',
  );
  expect(answer).toBe(payload);
}

function pin({ certificate }: CertificateFiles): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('hex');
}

describePairs('an encrypted leaf link', (leaf, hub) => {
  it.each([
    ['behind INFO', '', ''],
    ['before INFO', 'handshake_first: true', 'handshake_first: true'],
    ['before INFO, where the hub waits for that', 'handshake_first: auto', 'handshake_first: true'],
    // nats-server#5772: this was refused on the leaf port.
    ['behind INFO, where the hub waited', 'handshake_first: "100ms"', ''],
  ])('shakes hands %s', async (_, atHub, atLeaf) => {
    const keys = makeKeys();
    const up = await hubOf(hub, keys, atHub);
    const down = await leafOf(leaf, up, `ca_file: "${keys.authority.file}", ${atLeaf}`);
    await exchange(up, down);
  });

  it('is refused without the certificate that is asked for, and with one that is not pinned', async () => {
    const keys = makeKeys();
    const asking = await hubOf(hub, keys, 'verify: true');
    await leafOf(leaf, asking, `ca_file: "${keys.authority.file}"`);
    await until(() => asking.log.includes('TLS leafnode handshake error'), 'the missing certificate');
    const down = await leafOf(leaf, asking, files(keys.edge, keys.authority));
    await exchange(asking, down);
    const picky = await hubOf(hub, keys, `verify: true, pinned_certs: ["${pin(keys.hub)}"]`);
    await leafOf(leaf, picky, files(keys.edge, keys.authority));
    await until(() => picky.log.includes('certificate not pinned'), 'the certificate that is not pinned');
    expect(picky.log).not.toContain('JetStream using domains');
  });

  it('joins the account of the user that its certificate names', async () => {
    const keys = makeKeys();
    const users = 'authorization { users: [ { user: "someone", account: A }, { user: "edge.test", account: B } ] }';
    const accounts = 'accounts { A: { users: [ {user: a, password: a} ] }, B: { users: [ {user: b, password: b} ] } }';
    const up = await hubOf(hub, keys, 'verify_and_map: true', users, accounts);
    const down = await leafOf(leaf, up, files(keys.edge, keys.authority));
    await exchange(up, down, { user: 'b', pass: 'b' });
    expect(up.log).not.toContain('found in connect proto');
    await leafOf(leaf, up, files(keys.edge, keys.authority), '', 'someone@');
    const notice = '[WRN] User "someone" found in connect proto, but user required from cert';
    await until(() => up.log.includes(notice), 'a name to be passed over');
    const other = keys.authority.issue('other', '/CN=other', 'DNS:other.test');
    await leafOf(leaf, up, files(other, keys.authority));
    await until(
      () => up.log.includes('Leafnode connection closed: Authentication Failure'),
      'the stranger to be refused',
    );
  });

  it('logs in with a key', async () => {
    const keys = makeKeys();
    const up = await hubOf(hub, keys, '', `authorization { nkey: ${USER_KEY} }`);
    const down = await leafOf(leaf, up, `ca_file: "${keys.authority.file}"`, `nkey: ${USER_SEED}`);
    await exchange(up, down);
    const stranger = await leafOf(leaf, up, `ca_file: "${keys.authority.file}"`);
    await until(() => stranger.log.includes('Authorization Violation'), 'a leaf without the key to be refused');
  });
});
