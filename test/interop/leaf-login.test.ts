/** Logging in at a real hub with a key, with a file of credentials, and with what the hub does not take. */
/* oxlint-disable vitest/expect-expect -- waiting for a condition asserts, too */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import { expect, it } from 'vitest';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { remoteConfig } from '../helpers/leaf-remote-config.ts';
import { credentialsFile, operatorTokens } from '../helpers/operator-jwt.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const VIOLATION = "Leafnode Error 'Authorization Violation'";

function newKey(): { readonly seed: string; readonly id: string } {
  const user = createUser();
  return { seed: new TextDecoder().decode(user.getSeed()), id: user.getPublicKey() };
}

function writeCredentials(content: string): string {
  const path = join(temporaryDirectory(), 'edge.creds');
  writeFileSync(path, content);
  return path;
}

describeWithHub('logging in at the hub', () => {
  it.each(['off', 's2_fast'])('with a key, compression: %s', async (compression) => {
    const { seed, id } = newKey();
    const hub = await startHub({ config: `accounts { TENANT { users [ { nkey: ${id} } ] } }` });
    const remote = remoteConfig(`nkey: ${seed}, compression: ${compression}`);
    const edge = await startLeafPetiole({ urls: [hub.url()], remote });
    await edge.link();
    expect(edge.leafNodes.linkSnapshots()[0]).toMatchObject({ remoteAccount: 'TENANT', compression });
    expect(edge.log.join('\n')).not.toContain(seed);
  });

  it('not with a key that the hub does not know', async () => {
    const hub = await startHub({ config: `accounts { TENANT { users [ { nkey: ${newKey().id} } ] } }` });
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: remoteConfig(`nkey: ${newKey().seed}`) });
    await until(() => edge.logged(VIOLATION), 'the refusal');
    await until(
      () => edge.logged(/link to remote server "127\.0\.0\.1:\d+" not established \(.*\), next attempt in/),
      'log',
    );
    expect(edge.leafNodes.links()).toEqual([]);
  });

  it('not with a wrong password, which the remote gives as the reason', async () => {
    const hub = await startHub({ config: 'authorization { user: edge, password: right }' });
    const edge = await startLeafPetiole({ urls: [hub.url('edge:wrong')] });
    await until(() => edge.logged(/ not established \(Authorization Violation\), next attempt in /), 'the reason');
    expect(edge.leafNodes.remoteSnapshots()[0]?.lastFailure?.text).toBe('Authorization Violation');
    expect(edge.logged('(Client Closed), next attempt')).toBe(false);
  });

  it.each(['off', 's2_better'])('with a file of credentials, compression: %s', async (compression) => {
    const { hubConfig, accountId, credentials } = operatorTokens({ isTrusted: true });
    const hub = await startHub({ config: hubConfig });
    const path = writeCredentials(credentials);
    const remote = remoteConfig(`creds: "${path}", compression: ${compression}`);
    const edge = await startLeafPetiole({ urls: [hub.url()], remote });
    await edge.link();
    expect(edge.leafNodes.linkSnapshots()[0]).toMatchObject({ remoteAccount: accountId, compression });
    const log = edge.log.join('\n');
    for (const secret of credentials.split('\n').filter((line) => /^(?:eyJ|SU)/.test(line))) {
      expect(log).not.toContain(secret);
    }
  });

  it('not with credentials of somebody whom the hub does not trust', async () => {
    const { hubConfig, credentials } = operatorTokens({ isTrusted: false });
    const hub = await startHub({ config: hubConfig });
    const remote = remoteConfig(`creds: "${writeCredentials(credentials)}"`);
    const edge = await startLeafPetiole({ urls: [hub.url()], remote });
    await until(() => edge.logged(VIOLATION), 'the refusal');
  });

  it('with a file that has been replaced meanwhile', async () => {
    const { hubConfig, credentials } = operatorTokens({ isTrusted: true });
    const hub = await startHub({ config: hubConfig });
    const proxy = await startFaultProxy(hub.leafAddress);
    const path = writeCredentials(credentialsFile('e.y.J', newKey().seed));
    const edge = await startLeafPetiole({
      urls: [`nats://127.0.0.1:${proxy.address.port}`],
      remote: { ...remoteConfig(`creds: "${path}"`), followsDiscoveredServers: false },
    });
    await until(() => edge.logged(VIOLATION), 'the refusal');
    writeFileSync(path, credentials);
    await edge.link();
  });

  it.each<[string, (path: string) => void, (file: string) => string]>([
    [
      'is not there',
      () => undefined,
      (path) => `Error reading LeafNode Remote Credentials file "${path}": open ${path}: no such file or directory`,
    ],
    [
      'holds something else',
      (path) => writeFileSync(path, 'hello'),
      (path) => `LeafNode Remote Credentials file "${path}" malformed`,
    ],
    [
      'holds no seed',
      (path) => writeFileSync(path, credentialsFile('e.y.J', 'SUXXX')),
      (path) => `LeafNode Remote Credentials file "${path}" has malformed seed`,
    ],
  ])('not with a file that %s', async (_, prepare, textOf) => {
    const hub = await startHub();
    const path = join(temporaryDirectory(), 'none.creds');
    const text = textOf(path);
    prepare(path);
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: remoteConfig(`creds: "${path}"`) });
    await until(() => edge.logged(`[ERR] ${text}`), 'the log before the first dial');
    await until(() => edge.logged(` - ${text}`), 'the log of the link');
    await until(() => edge.log.filter((line) => line.includes('next attempt in')).length > 1, 'another attempt');
    expect(edge.logged(`not established (${text}), next attempt in`)).toBe(true);
    expect(edge.leafNodes.remoteSnapshots()[0]?.lastFailure?.text).toBe(text);
  });

  it('a file that is not there is told while there is no hub, too', async () => {
    const path = join(temporaryDirectory(), 'none.creds');
    const edge = await startLeafPetiole({ urls: ['nats://127.0.0.1:9'], remote: remoteConfig(`creds: "${path}"`) });
    await until(() => edge.logged(`[ERR] Error reading LeafNode Remote Credentials file "${path}": open`), 'the log');
  });
});
