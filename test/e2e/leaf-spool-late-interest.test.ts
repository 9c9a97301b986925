/**
 * A hub that links again, but takes long to tell what it wants to hear: what is published meanwhile is not lost, since it
 * is known from before.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import { heard, openedLink, startSpooling } from '../helpers/spooling-site.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';

/** Longer than a hub that answers has to be quiet until its interest is taken for whole. */
const SETTLED_MS = 1500;

const target = petiole();

describeUnless(isAbsent(target) ? target.absent : null, 'a hub that tells its interest late', () => {
  it('gets what was published before it did', async () => {
    if (isAbsent(target)) throw new Error(target.absent);
    const { hub, client } = await startSpooling(target);
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
