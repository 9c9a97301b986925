/** A petiole that spools for a hub of which the test writes every byte. */
import type { NatsConnection } from '@nats-io/transport-node';
import { serve } from './describe-targets.ts';
import { natsClientOf } from './linked-pair.ts';
import { type ScriptedHub, startScriptedHub } from './scripted-hub.ts';
import type { Target } from './targets.ts';
import type { WireClient } from './wire-client.ts';

/** The hub, and a client of the site below it, which spools `telemetry.>`. */
export async function startSpooling(target: Target): Promise<{ hub: ScriptedHub; client: NatsConnection }> {
  const hub = await startScriptedHub();
  const remote = `{ url: "${hub.url}", compression: off, spool { subjects: ["telemetry.>"] } }`;
  const site = await serve(
    target,
    `jetstream { store_dir: "store", domain: site }\nleafnodes { reconnect: "100ms", remotes: [ ${remote} ] }`,
  );
  return { hub, client: await natsClientOf(site) };
}

/** The next link, opened, with everything read that it says up to its first PING. */
export async function openedLink(hub: ScriptedHub): Promise<WireClient> {
  const { link } = await hub.open({ compression: 'off' });
  await heard(link, 'PING\r\n');
  return link;
}

/** What the link says until this text has come. */
export async function heard(link: WireClient, text: string): Promise<string> {
  const bytes = await link.take((received) => (received.includes(text) ? received.length : 'more'), text);
  return bytes.toString('latin1');
}
