/** nats-server#7344, #2662: after a restart messages lived their TTL, or the stream's maximum age, once more. */
import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { inLife } from '../helpers/jetstream-client.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const LIFE_MS = 5000;
/** A slow machine, and a server that looks once a second. */
const LATE_MS = 2500;

describeTargets('the life of a message', (target) => {
  test.each([
    ['its own', { allow_msg_ttl: true }, { 'Nats-TTL': '5s' }],
    ['the maximum age', { max_age: 5e9, duplicate_window: 5e9 }, {}],
  ])(
    'is not begun anew by a restart: %s',
    async (_what, config, lines) => {
      const folder = makeTemporaryDirectory();
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      let storedMs = 0;
      await inLife(target, folder, async (client) => {
        await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'], ...config });
        await client.publish('s', 'x', lines);
        storedMs = performance.now();
        await new Promise((resolve) => setTimeout(resolve, LIFE_MS / 2));
      });
      let servedMs = 0;
      const goneMs = await inLife(target, folder, async (client) => {
        servedMs = performance.now();
        await until(async () => (await client.state('S')).messages === 0, 'the message to go', LIFE_MS * 2);
        return performance.now();
      });
      expect(goneMs - storedMs).toBeGreaterThan(LIFE_MS - 100);
      // A start may take longer than what is left of the life; begun anew it would be a whole one from here on.
      expect(goneMs - Math.max(servedMs, storedMs + LIFE_MS)).toBeLessThan(LATE_MS);
    },
    30_000,
  );
});
