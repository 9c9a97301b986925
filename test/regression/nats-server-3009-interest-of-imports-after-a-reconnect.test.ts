/**
 * nats-server#3009, #3024, #3027: interest that exists only through imports of other accounts was not told again when a
 * leaf link came back, and everything behind it went silent.
 */
import { expect, test } from 'vitest';
import { describePairs } from '../helpers/describe-targets.ts';
import { isAnswered, natsClientOf, startLinkedPair } from '../helpers/linked-pair.ts';
import { until } from '../helpers/until.ts';

const LEAF = `
  accounts {
    LINKED {
      users: [ { user: l, password: p } ]
      exports: [ { stream: "events.>" } ]
      imports: [ { service: { account: APP, subject: "svc.>" } } ]
    }
    APP {
      users: [ { user: a, password: p } ]
      exports: [ { service: "svc.>" } ]
      imports: [ { stream: { account: LINKED, subject: "events.>" } } ]
    }
  }`;

describePairs('imports behind a leaf link', (leafTarget, hubTarget) => {
  test('are told of after every reset, and when the leaf comes back', async () => {
    const pair = await startLinkedPair(leafTarget, hubTarget, { leaf: LEAF, remote: 'account: LINKED' });
    const hub = await natsClientOf(pair.hub);
    let heard: string[] = [];
    const follow = async (server: typeof pair.leaf): Promise<void> => {
      const app = await natsClientOf(server, { user: 'a', pass: 'p' });
      app.subscribe('events.*', { callback: (_, message) => void heard.push(message.string()) });
      app.subscribe('svc.echo', { callback: (_, message) => void message.respond(message.data) });
      await app.flush();
    };
    const flows = async (round: number): Promise<void> => {
      await until(async () => isAnswered(hub, 'svc.echo'), `an answer in round ${round}`, 10_000);
      heard = [];
      hub.publish('events.x', `round ${round}`);
      await until(() => heard.length > 0, `the event of round ${round}`);
      expect(heard).toEqual([`round ${round}`]);
    };
    await follow(pair.leaf);
    await flows(0);
    for (let round = 1; round <= 3; round++) {
      pair.proxy.reset();
      await flows(round);
    }
    await follow(await pair.restartLeaf());
    await flows(4);
  });
});
