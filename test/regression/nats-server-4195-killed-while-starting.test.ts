/**
 * nats-server#4195, #5703, #8365, #8366: killed while it was starting, a server left files with which the next could not
 * open its streams. KILLS in the environment asks for more of it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { inLife } from '../helpers/jetstream-client.ts';
import { RunningServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const KILLS = Number(process.env['KILLS'] ?? 6);
const MS_PER_KILL = 8000;
const MESSAGES = 500;
const PAYLOAD = 'x'.repeat(1000);
const CONSUMER = { durable_name: 'c', ack_policy: 'explicit' };
/** Most of what a start does lies between these two lines, and some of it behind the second. */
const KILL_WITHIN_MS = 150;

describeTargets('a server that is killed while it starts', (target) => {
  test(
    'finds everything the next time',
    async () => {
      const folder = temporaryDirectory();
      await inLife(target, folder, async (client) => {
        await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'] });
        await client.ask('CONSUMER.DURABLE.CREATE.S.c', { stream_name: 'S', config: CONSUMER });
        await Promise.all(Array.from({ length: MESSAGES }, async (_, i) => client.publish(`s.${i}`, PAYLOAD)));
      });
      for (let kill = 0; kill < KILLS; kill++) {
        const starting = new RunningServer(target, { config: `jetstream { store_dir: "${folder}" }` });
        onTestFinished(() => starting.stop());
        await until(() => starting.log !== '' || starting.exited, 'the first line', 20_000);
        await delay((KILL_WITHIN_MS * kill) / KILLS);
        expect(starting.exited).toBe(false);
        starting.signal('SIGKILL');
        await until(() => starting.exited, 'the kill');
      }
      await inLife(target, folder, async (client) => {
        expect(await client.state('S')).toMatchObject({ messages: MESSAGES, last_seq: MESSAGES });
        expect(await client.ask('CONSUMER.INFO.S.c')).toMatchObject({ num_pending: MESSAGES });
      });
    },
    60_000 + KILLS * MS_PER_KILL,
  );
});
