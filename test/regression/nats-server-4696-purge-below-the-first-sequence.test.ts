/**
 * nats-server#4696, #8241: a purge below sequence 1 emptied the stream, and in memory a purge that keeps some counted
 * those that were deleted before.
 */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

describeTargets('a purge', (target) => {
  test.each(['file', 'memory'])(
    'removes nothing below sequence 1, and keeps as many as it is told, in %s',
    async (storage) => {
      const client = await jetStreamOf(target);
      await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'], storage });
      for (let i = 1; i <= 10; i++) await client.publish('s.a');
      expect(await client.ask('STREAM.PURGE.S', { seq: 1 })).toMatchObject({ success: true, purged: 0 });
      expect(await client.ask('STREAM.PURGE.S', { seq: 1, filter: 's.a' })).toMatchObject({ success: true, purged: 0 });
      for (const seq of [3, 5, 6, 9]) await client.ask('STREAM.MSG.DELETE.S', { seq });
      expect(await client.ask('STREAM.PURGE.S', { keep: 3 })).toMatchObject({ success: true, purged: 3 });
      expect(await client.state('S')).toMatchObject({ messages: 3, first_seq: 7, last_seq: 10 });
    },
  );
});
