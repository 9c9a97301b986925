/**
 * nats-server#1357: /subsz showed zeros as soon as accounts were used. Here it is users with permissions that take the
 * place of accounts.
 */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, page, serve } from '../helpers/describe-targets.ts';

interface Subsz {
  readonly num_subscriptions: number;
  readonly num_inserts: number;
  readonly total: number;
  readonly subscriptions_list: readonly { readonly subject: string }[];
}

const CONFIG = `
  http: "127.0.0.1:-1"
  authorization { users: [ { user: a, password: secret, permissions: { subscribe: "news.>" } } ] }
`;

describeTargets('/subsz of a server with users', (target) => {
  test('counts and lists their subscriptions', async () => {
    const server = await serve(target, CONFIG);
    const before = (await page(server, '/subsz?acc=$G')).body as Subsz;
    const client = await clientOf(server, { user: 'a', pass: 'secret' });
    client.send('SUB news.1 1\r\nSUB news.* queue 2\r\n');
    await client.quiet();
    const after = (await page(server, '/subsz?subs=1&acc=$G')).body as Subsz;
    // nats-server has many subscriptions of its own.
    expect(after.num_subscriptions - before.num_subscriptions).toBe(2);
    expect(after.num_inserts - before.num_inserts).toBe(2);
    const ours = after.subscriptions_list.filter(({ subject }) => subject.startsWith('news.'));
    expect(ours).toHaveLength(2);
    expect(ours).toContainEqual(expect.objectContaining({ account: '$G', subject: 'news.1', sid: '1' }));
    expect(ours).toContainEqual(expect.objectContaining({ subject: 'news.*', qgroup: 'queue', sid: '2' }));
  });
});
