/** A leaf link in /connz and /varz, as nats-server shows one of its own to the same hub. */
import { expect, it } from 'vitest';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, natsServer, petiole } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { type Json, observe, type Observed, settled } from './monitor-scenario.ts';

describeWithHub('a leaf link in monitoring', () => {
  it('is a connection like others, open and closed', async () => {
    const hub = await startHub();
    const observed: Observed[] = [];
    for (const target of [natsServer(), petiole()]) {
      if (isAbsent(target)) throw new Error(target.absent);
      const remote = `remotes: [ { url: "${hub.url()}" } ]`;
      const config = `http: "127.0.0.1:-1", server_name: ${target.name}, leafnodes { ${remote} }`;
      observed.push(await observe(target, { config }));
    }
    try {
      for (const each of observed) await until(() => isLinked(each), 'the link');
      const [theirs, ours] = await Promise.all(observed.map((each) => told(each)));
      expect(ours).toEqual(theirs);
      await hub.server.stop();
      for (const each of observed) await until(async () => (await rows(each, 'closed')).length > 0, 'the link to end');
      const [theirsClosed, oursClosed] = await Promise.all(observed.map((each) => closedRow(each)));
      expect(oursClosed).toEqual(theirsClosed);
      expect(oursClosed).toContain('"reason": "Client Closed"');
    } finally {
      await Promise.all(observed.map((each) => each.stop()));
    }
  });
});

async function isLinked(observed: Observed): Promise<boolean> {
  return (await observed.json('/varz'))['leafnodes'] === 1;
}

async function rows(observed: Observed, state: string): Promise<Json[]> {
  return (await observed.json(`/connz?state=${state}`))['connections'] as Json[];
}

/** What the two servers want to hear of each other is not the same, nor how much they have told each other. */
const OWN = /^ *"(subscriptions|in_msgs|in_bytes|out_msgs|out_bytes)": \d+,?\n/gm;

async function told(observed: Observed): Promise<string> {
  const { text } = await observed.page('/connz?auth=1&sort=subs');
  const { leaf } = await observed.json('/varz');
  return settled(text).replaceAll(OWN, '') + JSON.stringify(leaf);
}

async function closedRow(observed: Observed): Promise<string> {
  const [row] = await rows(observed, 'closed');
  return settled(JSON.stringify({ connections: [row] }, null, 2)).replaceAll(OWN, '');
}
