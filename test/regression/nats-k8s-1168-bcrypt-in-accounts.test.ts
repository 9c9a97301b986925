/** nats-io/k8s#1168: a user of an account whose password is a bcrypt hash was refused, while a plain one got in. */
import { hashSync } from 'bcryptjs';
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { dial } from '../helpers/wire-client.ts';

describeTargets('users of accounts', (target) => {
  test('log in with plain and with hashed passwords, and with no others', async () => {
    const hash = hashSync('secret', 4);
    const server = await serve(
      target,
      `accounts { A { users: [ { user: plain, password: "secret" }, { user: hashed, password: "${hash}" } ] } }`,
    );
    for (const user of ['plain', 'hashed']) {
      const client = await clientOf(server, { user, pass: 'secret' });
      client.send('SUB a 1\r\nPUB a 2\r\nhi\r\n');
      await client.expect('MSG a 1 2\r\nhi\r\n');
      for (const pass of ['other', hash]) {
        const stranger = await dial(server.address());
        await stranger.line();
        stranger.send(`CONNECT ${JSON.stringify({ verbose: false, user, pass })}\r\n`);
        expect(await stranger.line()).toBe(`-ERR 'Authorization Violation'`);
        await stranger.close();
      }
    }
  });
});
