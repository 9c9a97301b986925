/** nats-server#4640, #3268, #6710: whoever watches a bucket was not told that a key had expired. */
import type { Msg } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';
import { until } from '../helpers/until.ts';

describeTargets('a watcher', (target) => {
  test.each(['file', 'memory'])(
    'gets a marker when a key expires, in %s',
    async (storage) => {
      const client = await jetStreamOf(target);
      const limits = { max_msgs_per_subject: 1, subject_delete_marker_ttl: 60e9, allow_msg_ttl: true };
      await client.ask('STREAM.CREATE.KV_B', {
        name: 'KV_B',
        subjects: ['$KV.B.>'],
        storage,
        discard: 'new',
        ...limits,
      });
      const came: Msg[] = [];
      client.connection.subscribe('watch', { callback: (_error, message) => void came.push(message) });
      const consumer = { deliver_subject: 'watch', deliver_policy: 'last_per_subject', ack_policy: 'none' };
      const config = { ...consumer, filter_subject: '$KV.B.>', mem_storage: true };
      await client.ask('CONSUMER.CREATE.KV_B', { stream_name: 'KV_B', config });
      await client.publish('$KV.B.key', 'value', { 'Nats-TTL': '1s' });
      await client.publish('$KV.B.other', 'value');
      await until(() => came.length === 3, 'the marker to come', 10_000);
      const [, , marker] = came as [Msg, Msg, Msg];
      expect(marker.subject).toBe('$KV.B.key');
      expect(marker.headers?.get('Nats-Marker-Reason')).toBe('MaxAge');
      expect(marker.headers?.get('Nats-TTL')).toBe('1m0s');
      expect(marker.string()).toBe('');
      expect(await client.state('KV_B')).toMatchObject({ messages: 2 });
    },
    20_000,
  );
});
