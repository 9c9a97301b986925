/** What a client hears when it asks who it is. */
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';

const SUBJECT = '$SYS.REQ.USER.INFO';
const CONFIG = `
  server_name: asked
  server_tags: [edge]
  authorization { users: [
    { user: all, password: p }
    { user: some, password: p, permissions: {
      publish: { allow: ["${SUBJECT}"] }, subscribe: { allow: [">"], deny: ["y"] }
    } }
    { user: publisher, password: p, permissions: { publish: { deny: "secret.>" } } }
    { user: mute, password: p, permissions: { publish: "other" } }
  ] }
  no_auth_user: all
`;

interface Answer {
  readonly server: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

describeTargets('who am I', (target) => {
  async function asked(config: string | undefined, credentials: object): Promise<Answer> {
    const { host, port } = (await serve(target, config)).address();
    const connection = await connect({ servers: `${host}:${port}`, timeout: 2000, ...credentials });
    onTestFinished(() => connection.close());
    return (await connection.request(SUBJECT, 'whatever', { timeout: 1000 })).json();
  }

  test.each([
    ['some', { publish: { allow: [SUBJECT] }, subscribe: { allow: ['>'], deny: ['y'] } }],
    ['publisher', { publish: { deny: ['secret.>'] }, subscribe: {} }],
    ['all', undefined],
  ])('as %s', async (user, permissions) => {
    const { server, data } = await asked(CONFIG, { user, pass: 'p' });
    const rules = permissions === undefined ? {} : { permissions };
    expect(data).toEqual({ user, account: '$G', account_name: '$G', ...rules });
    const { name, host, ver, tags, jetstream, flags } = server;
    expect({ name, host, ver, tags, jetstream, flags }).toEqual({
      name: 'asked',
      host: '127.0.0.1',
      ver: '2.15.2',
      tags: ['edge'],
      jetstream: false,
      flags: 0,
    });
  });

  test('as the user of those who say nothing', async () => {
    expect((await asked(CONFIG, {})).data).toEqual({ user: 'all', account: '$G', account_name: '$G' });
  });

  test('as nobody, as somebody nobody checks, and with a token', async () => {
    const account = { account: '$G', account_name: '$G' };
    expect((await asked(undefined, {})).data).toEqual({ user: '', ...account });
    expect((await asked(undefined, { user: 'joe', pass: 'x' })).data).toEqual({ user: 'joe', ...account });
    const config = 'authorization { token: s3cret }';
    expect((await asked(config, { token: 's3cret' })).data).toEqual({ user: '[REDACTED]', ...account });
  });

  test('only if asking is allowed', async () => {
    await expect(asked(CONFIG, { user: 'mute', pass: 'p' })).rejects.toThrow(/[Pp]ermissions [Vv]iolation/);
  });
});
