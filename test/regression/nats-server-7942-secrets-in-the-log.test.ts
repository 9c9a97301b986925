/**
 * nats-server#7942: the traced CONNECT showed more of what a client gave to prove who it is than its name.
 */
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const SECRETS = { pass: 'PASSWORD-7942', sig: 'SIGNATURE-7942', auth_token: 'TOKEN-7942' };

const CONNECTS = [
  JSON.stringify({ user: 'someone', ...SECRETS }),
  `{"user":"someone","pass":"${SECRETS.pass}",}`,
  `{"user":"someone","auth_token":"${SECRETS.auth_token}"`,
  `{"user":"someone","pass":"${SECRETS.pass}"} x`,
];

describeTargets('the log of everything', (target) => {
  test('holds no password, token or signature of a client that is refused', async () => {
    const config = 'authorization { user: someone, password: else }';
    const server = await serve(target, config, { flags: ['-DV'] });
    for (const json of CONNECTS) {
      const client = await dial(server.address());
      await client.line();
      client.send(`CONNECT ${json}\r\n`);
      await client.cut();
    }
    const closed = /Client connection closed/g;
    await until(() => (server.log.match(closed) ?? []).length === CONNECTS.length, 'all to be logged');
    expect(Object.values(SECRETS).filter((secret) => server.log.includes(secret))).toEqual([]);
    expect(server.log).toContain('User "someone"');
  });
});
