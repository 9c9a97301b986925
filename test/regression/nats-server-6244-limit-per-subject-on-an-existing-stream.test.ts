/** nats-server#6244, #4643: a limit per subject that came, or fell, removed nothing, or made lookups fail. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

describeTargets('a stream that gets a limit per subject', (target) => {
  test.each(['file', 'memory'])('has what the limit allows at once, and finds it, in %s', async (storage) => {
    const client = await jetStreamOf(target);
    const config = { name: 'S', subjects: ['s.*'], storage };
    await client.ask('STREAM.CREATE.S', config);
    for (let at = 0; at < 30; at++) await client.connection.request(`s.${at % 3}`, String(at));
    for (const max of [8, 2, 1]) {
      const answer = await client.ask('STREAM.UPDATE.S', { ...config, max_msgs_per_subject: max });
      expect(answer).toMatchObject({ config: { max_msgs_per_subject: max } });
      expect(await client.ask('STREAM.INFO.S', {})).toMatchObject({ state: { messages: 3 * max, last_seq: 30 } });
      for (const last of [27, 28, 29]) {
        const found = await client.ask('STREAM.MSG.GET.S', { last_by_subj: `s.${last % 3}` });
        expect(found).toMatchObject({ message: { seq: last + 1, data: Buffer.from(String(last)).toString('base64') } });
      }
    }
  });
});
