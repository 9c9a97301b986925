/** nats-server#7704: a stream whose only block had been cut off took no more messages, or began again at 1. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { inLife } from '../helpers/jetstream-client.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const MESSAGES = 50;
/** A record is longer than its payload; so much cut off tears no more than two. */
const PAYLOAD = 'x'.repeat(100);
const TORN_MAX = 2;

describeTargets('a stream whose only block was cut off', (target) => {
  test.each([
    ['to a few bytes', 10, MESSAGES],
    ['within the last record', -60, TORN_MAX],
    ['within the one before it', -200, TORN_MAX],
  ])('goes on behind its last sequence: %s', async (_what, bytes, lostMax) => {
    const folder = temporaryDirectory();
    await inLife(target, folder, async (client) => {
      await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'] });
      for (let each = 0; each < MESSAGES; each++) await client.publish('s', PAYLOAD);
    });
    const [block = '', ...others] = blocksBelow(folder);
    expect(others).toEqual([]);
    truncateSync(block, bytes < 0 ? statSync(block).size + bytes : bytes);

    await inLife(target, folder, async (client) => {
      expect(await client.publish('s', 'more')).toEqual({ stream: 'S', seq: MESSAGES + 1 });
    });
    await inLife(target, folder, async (client) => {
      expect(await client.state('S')).toMatchObject({ last_seq: MESSAGES + 1 });
      expect(await client.message('S', { seq: MESSAGES + 1 })).toMatchObject({ payload: 'more' });
      for (let seq = 1; seq <= MESSAGES - lostMax; seq++) {
        expect(await client.message('S', { seq })).toMatchObject({ seq, payload: PAYLOAD });
      }
    });
  });
});

function blocksBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.blk'))
    .map((path) => join(folder, path));
}
