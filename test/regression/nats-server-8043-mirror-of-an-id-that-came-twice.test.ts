/** nats-server#8043: a mirror stopped when its origin held two messages of one id, the second published after the window. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';
import { until } from '../helpers/until.ts';

const WINDOW_NS = 100_000_000;

describeTargets('a mirror of a stream with a short window', (target) => {
  test('has messages of one id as often as its origin', async () => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'], duplicate_window: WINDOW_NS });
    await client.ask('STREAM.CREATE.M', { name: 'M', mirror: { name: 'O' } });
    await client.publish('o', 'first', { 'Nats-Msg-Id': 'same' });
    const again = async (): Promise<boolean> => {
      const { duplicate } = await client.publish('o', 'second', { 'Nats-Msg-Id': 'same' });
      return duplicate !== true;
    };
    await until(again, 'the window to pass');
    await client.publish('o', 'third');
    await until(async () => (await client.state('M')).messages === 3, 'the mirror to have all');
    const payloads = await Promise.all([1, 2, 3].map(async (seq) => (await client.message('M', { seq }))?.payload));
    expect(payloads).toEqual(['first', 'second', 'third']);
  });
});
