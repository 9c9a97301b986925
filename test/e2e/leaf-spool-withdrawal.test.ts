/**
 * A hub that withdraws what it wants to hear: when it goes right after that, what was published in between is not lost,
 * and when it stays nobody is sent what nobody wanted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import type { ScriptedHub } from '../helpers/scripted-hub.ts';
import { heard, openedLink, startSpooling } from '../helpers/spooling-site.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';
import type { WireClient } from '../helpers/wire-client.ts';

/** Longer than a hub that answers has to be quiet until its interest is taken for whole. */
const SETTLED_MS = 1500;
/** Longer than what is withdrawn counts. */
const COUNTED_MS = 3500;
const WANTED = 'LS+ telemetry.>\r\nPONG\r\n';

const target = petiole();

describeUnless(isAbsent(target) ? target.absent : null, 'a hub that withdraws its interest', () => {
  it('gets what was published before its end, after its return', async () => {
    const { hub, client, first } = await start();
    await withdraw(first);
    await publish(client, 'two');
    await publish(client, 'three');
    await first.close();
    const bytes = await heard(await returned(hub), '\r\nthree\r\n');
    expect(bytes).toMatch(/HMSG telemetry\.a [^]*\r\ntwo\r\nHMSG telemetry\.a /);
  });

  it('does not get what was published when it stayed', async () => {
    const { hub, client, first } = await start();
    await withdraw(first);
    await publish(client, 'two');
    await delay(COUNTED_MS);
    first.send('LS+ telemetry.>\r\n');
    await answer(first);
    await publish(client, 'three');
    await first.close();
    expect(await heard(await returned(hub), '\r\nthree\r\n')).not.toContain('\r\ntwo\r\n');
  });

  it('does not get what was published before it wanted to hear it again', async () => {
    const { hub, client, first } = await start();
    await withdraw(first);
    await publish(client, 'two');
    first.send('LS+ telemetry.>\r\n');
    await answer(first);
    await publish(client, 'three');
    expect(await heard(first, '\r\nthree\r\n')).not.toContain('\r\ntwo\r\n');
    await first.close();
    expect(await heard(await returned(hub), '\r\nthree\r\n')).not.toContain('\r\ntwo\r\n');
  });

  it('leaves requests without an answer at once, and groups to those who are there', async () => {
    const { client, first } = await start();
    first.send('LS+ telemetry.> workers 1\r\n');
    await withdraw(first);
    first.send('LS- telemetry.> workers\r\n');
    await answer(first);
    await expect(client.request('telemetry.a', '', { timeout: 1000 })).rejects.toThrow(/no responders/i);
    client.subscribe('telemetry.>', { queue: 'workers', callback: (_, message) => void message.respond('here') });
    expect((await client.request('telemetry.a', '', { timeout: 1000 })).string()).toBe('here');
  });
});

/** A site with a spool, whose hub wants to hear it and is known to. */
async function start(): Promise<{ hub: ScriptedHub; client: NatsConnection; first: WireClient }> {
  if (isAbsent(target)) throw new Error(target.absent);
  const { hub, client } = await startSpooling(target);
  const first = await returned(hub);
  await delay(SETTLED_MS);
  await publish(client, 'one');
  await heard(first, '\r\none\r\n');
  first.send('PONG\r\n');
  return { hub, client, first };
}

/** The next link of the site, on which the hub has told what it wants. */
async function returned(hub: ScriptedHub): Promise<WireClient> {
  const link = await openedLink(hub);
  link.send(WANTED);
  return link;
}

async function withdraw(link: WireClient): Promise<void> {
  link.send('LS- telemetry.>\r\n');
  await answer(link);
}

/** The site has taken what was sent before. */
async function answer(link: WireClient): Promise<void> {
  link.send('PING\r\n');
  await heard(link, 'PONG\r\n');
}

async function publish(client: NatsConnection, payload: string): Promise<void> {
  client.publish('telemetry.a', payload);
  await client.flush();
}
