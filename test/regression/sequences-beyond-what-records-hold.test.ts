/**
 * A purge to sequence 2^64-1 stopped the server at the next publish, and one to 2^48 or above, or a stream that began
 * there, made it acknowledge messages that a restart did not find. nats-server takes any such number.
 */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { inLife } from '../helpers/jetstream-client.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';

const UNHEARD_OF = ['281474976710656', '9007199254740991', '18446744073709551615'];
const HIGH = 2 ** 47;

describeTargets('a stream that begins at a very high sequence', (target) => {
  test.runIf(target.name === 'petiole')('is refused where records have no room for the number', async () => {
    await inLife(target, makeTemporaryDirectory(), async (client) => {
      await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'] });
      await client.publish('s');
      const consumer = { durable_name: 'C', ack_policy: 'explicit' };
      await client.ask('CONSUMER.CREATE.S.C', { stream_name: 'S', config: consumer });
      for (const sequence of UNHEARD_OF) {
        const purged = await client.ask('STREAM.PURGE.S', `{"seq":${sequence}}`);
        expect(purged).toMatchObject({ error: { err_code: 10110 } });
        const made = await client.ask('STREAM.CREATE.T', `{"name":"T","subjects":["t"],"first_seq":${sequence}}`);
        expect(made).toMatchObject({ error: { err_code: 10052 } });
        const start = `{"durable_name":"D","deliver_policy":"by_start_sequence","opt_start_seq":${sequence}}`;
        const begun = await client.ask('CONSUMER.CREATE.S.D', `{"stream_name":"S","config":${start}}`);
        expect(begun).toMatchObject({ error: { err_code: 10012 } });
        const reset = await client.ask('CONSUMER.RESET.S.C', `{"seq":${sequence}}`);
        expect(reset).toMatchObject({ error: { err_code: 10204 } });
      }
      // What does not make the stream begin there removes as ever.
      await client.ask('STREAM.PURGE.S', `{"seq":${UNHEARD_OF[2]},"filter":"s"}`);
      expect(await client.state('S')).toMatchObject({ messages: 0, last_seq: 1 });
      expect(await client.publish('s')).toMatchObject({ seq: 2 });
    });
  });

  test.each(['file', 'memory'])('goes on from 2^47, in %s', async (storage) => {
    const folder = makeTemporaryDirectory();
    await inLife(target, folder, async (client) => {
      await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'], storage });
      await client.publish('s');
      expect(await client.ask('STREAM.PURGE.S', { seq: HIGH })).toMatchObject({ success: true, purged: 1 });
      expect(await client.publish('s')).toMatchObject({ seq: HIGH });
      expect(await client.message('S', { seq: HIGH })).toMatchObject({ seq: HIGH });
    });
    if (storage === 'memory') return;
    await inLife(target, folder, async (client) => {
      expect(await client.state('S')).toMatchObject({ messages: 1, first_seq: HIGH, last_seq: HIGH });
      expect(await client.publish('s')).toMatchObject({ seq: HIGH + 1 });
    });
  });
});
