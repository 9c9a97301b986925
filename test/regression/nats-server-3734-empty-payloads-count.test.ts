/** nats-server#3734: messages without a payload did not count against max_bytes. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

const PUBLISHED = 100;

describeTargets('empty messages', (target) => {
  test.each([
    ['file', 31],
    ['memory', 17],
  ])('count what it takes to store them, in %s', async (storage, bytes) => {
    const client = await jetStreamOf(target);
    const max_bytes = 10 * bytes + 5;
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'], storage, max_bytes });
    for (let at = 0; at < PUBLISHED; at++) await client.connection.request('s');
    expect(await client.ask('STREAM.INFO.S', {})).toMatchObject({
      state: { messages: 10, bytes: 10 * bytes, first_seq: PUBLISHED - 9, last_seq: PUBLISHED },
    });
  });
});
