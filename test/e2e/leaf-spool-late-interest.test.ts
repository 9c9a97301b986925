/**
 * A hub that links again, but takes long to tell what it wants to hear: what is published meanwhile is not lost, since it
 * is known from before.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import { serve } from '../helpers/describe-targets.ts';
import { natsClientOf } from '../helpers/linked-pair.ts';
import { type ScriptedHub, startScriptedHub } from '../helpers/scripted-hub.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';
import type { WireClient } from '../helpers/wire-client.ts';

/** Longer than a hub that answers has to be quiet until its interest is taken for whole. */
const SETTLED_MS = 1500;

const target = petiole();

describeUnless(isAbsent(target) ? target.absent : null, 'a hub that tells its interest late', () => {
  it('gets what was published before it did', async () => {
    if (isAbsent(target)) throw new Error(target.absent);
    const hub = await startScriptedHub();
    const remote = `{ url: "${hub.url}", compression: off, spool { subjects: ["telemetry.>"] } }`;
    const site = await serve(
      target,
      `jetstream { store_dir: "store", domain: site }\nleafnodes { reconnect: "100ms", remotes: [ ${remote} ] }`,
    );
    const client = await natsClientOf(site);
    const first = await openedLink(hub);
    first.send('LS+ telemetry.>\r\nPONG\r\n');
    await delay(SETTLED_MS);
    client.publish('telemetry.a', 'one');
    await heard(first, '\r\none\r\n');
    await first.close();
    const second = await openedLink(hub);
    await delay(SETTLED_MS);
    client.publish('telemetry.a', 'two');
    await client.flush();
    await delay(SETTLED_MS);
    // Neither PONG nor interest has come yet.
    second.send('LS+ telemetry.>\r\nPONG\r\n');
    const bytes = await heard(second, '\r\ntwo\r\n');
    expect(bytes).toContain('HMSG telemetry.a ');
  });
});

/** The next link, opened, with everything read that it says up to its first PING. */
async function openedLink(hub: ScriptedHub): Promise<WireClient> {
  const { link } = await hub.open({ compression: 'off' });
  await heard(link, 'PING\r\n');
  return link;
}

async function heard(link: WireClient, text: string): Promise<string> {
  const bytes = await link.take((received) => (received.includes(text) ? received.length : 'more'), text);
  return bytes.toString('latin1');
}
