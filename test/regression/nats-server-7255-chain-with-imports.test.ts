/** nats-server#7255: subjects did not get through a chain of leaf links whose middle hands them from account to account. */
import { expect, test } from 'vitest';
import { describePairs, serve } from '../helpers/describe-targets.ts';
import { natsClientOf } from '../helpers/linked-pair.ts';
import { until } from '../helpers/until.ts';

const LEAVES = 'leafnodes { listen: "127.0.0.1:-1", no_advertise: true }';

function middleConfig(hubPort: number): string {
  return `
    server_name: middle
    accounts {
      BELOW { users: [ { user: l, password: p } ], exports: [ { stream: "t.>" } ] }
      ABOVE { users: [ { user: h, password: p } ], imports: [ { stream: { account: BELOW, subject: "t.>" } } ] }
    }
    leafnodes {
      listen: "127.0.0.1:-1", no_advertise: true
      remotes: [ { url: "nats://127.0.0.1:${hubPort}", account: ABOVE } ]
    }`;
}

describePairs('a chain of leaf links, the middle from the first to the second', (middleTarget, endTarget) => {
  test('carries what the middle exports and imports, once', async () => {
    const hub = await serve(endTarget, `server_name: hub\n${LEAVES}`);
    const middle = await serve(middleTarget, middleConfig((await hub.listening('leafnode')).port));
    const { port } = await middle.listening('leafnode');
    const leaf = await serve(
      endTarget,
      `server_name: leaf\nleafnodes { remotes: [ { url: "nats://l:p@127.0.0.1:${port}" } ] }`,
    );
    const subscriber = await natsClientOf(hub);
    const publisher = await natsClientOf(leaf);
    const heard: string[] = [];
    subscriber.subscribe('t.1', { callback: (_, message) => void heard.push(message.string()) });
    await until(async () => {
      publisher.publish('t.1', 'try');
      await publisher.flush();
      return heard.length > 0;
    }, 'something to get through');
    publisher.publish('t.1', 'once');
    publisher.publish('t.1', 'end');
    await until(() => heard.includes('end'), 'the end');
    expect(heard.filter((text) => text !== 'try')).toEqual(['once', 'end']);
  });
});
