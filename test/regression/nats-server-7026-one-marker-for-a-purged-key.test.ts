/** nats-server#7026, #7177: a key purged with a TTL left two markers, and the TTL in the header was not the one that counted. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';
import { until } from '../helpers/until.ts';

describeTargets('a key that is purged with a TTL', (target) => {
  test.each(['file', 'memory'])(
    'leaves one marker, whose header says how long, in %s',
    async (storage) => {
      const client = await jetStreamOf(target);
      const limits = { max_msgs_per_subject: 5, subject_delete_marker_ttl: 3e9 };
      await client.ask('STREAM.CREATE.KV_B', { name: 'KV_B', subjects: ['$KV.B.>'], storage, ...limits });
      await client.publish('$KV.B.key', 'one');
      await client.publish('$KV.B.key', 'two');
      await client.publish('$KV.B.key', '', { 'KV-Operation': 'PURGE', 'Nats-Rollup': 'sub', 'Nats-TTL': '1s' });
      expect(await client.state('KV_B')).toMatchObject({ messages: 1, last_seq: 3 });
      expect((await client.message('KV_B', { seq: 3 }))?.headers).toContain('\r\nNats-TTL: 3\r\n');
      await until(async () => (await client.state('KV_B')).messages === 0, 'the marker to go', 10_000);
      expect(await client.state('KV_B')).toMatchObject({ messages: 0, last_seq: 3 });
    },
    20_000,
  );
});
