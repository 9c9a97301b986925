/** nats-server#1344: answers of a service across a leaf link were not delivered any more when the leaf had been restarted. */
import { expect, test } from 'vitest';
import { describePairs } from '../helpers/describe-targets.ts';
import { isAnswered, natsClientOf, startLinkedPair } from '../helpers/linked-pair.ts';
import { until } from '../helpers/until.ts';

/** The service is another account's; leaves join the account that imports it. */
const HUB = `
  accounts {
    SERVICES { users: [ { user: s, password: p } ], exports: [ { service: "svc.>" } ] }
    SITES { users: [ { user: l, password: p } ], imports: [ { service: { account: SERVICES, subject: "svc.>" } } ] }
  }`;

describePairs('a service behind a leaf link', (leafTarget, hubTarget) => {
  test('answers after the leaf was restarted', async () => {
    const pair = await startLinkedPair(leafTarget, hubTarget, { hub: HUB, login: 'l:p' });
    const service = await natsClientOf(pair.hub, { user: 's', pass: 'p' });
    service.subscribe('svc.echo', { callback: (_, message) => void message.respond(message.data) });
    const before = await natsClientOf(pair.leaf);
    await until(async () => isAnswered(before, 'svc.echo'), 'an answer');
    const after = await natsClientOf(await pair.restartLeaf());
    await until(async () => isAnswered(after, 'svc.echo'), 'an answer after the restart');
    const answer = await after.request('svc.echo', 'whole', { timeout: 2000 });
    expect(answer.string()).toBe('whole');
  });
});
