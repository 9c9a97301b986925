/** nats-server#8022: the expected sequence was compared with that of the subject before its transform. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

const EXPECTED = 'Nats-Expected-Last-Subject-Sequence';

describeTargets('the expected sequence of a subject', (target) => {
  test('is that of the subject under which messages are stored', async () => {
    const client = await jetStreamOf(target);
    const transform = { src: 'a.>', dest: 'c.>' };
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['a.>', 'c.>'], subject_transform: transform });
    expect(await client.publish('a.x', '', { [EXPECTED]: '0' })).toMatchObject({ seq: 1 });
    expect(await client.publish('c.x', '', { [EXPECTED]: '0' })).toMatchObject({ error: { err_code: 10071 } });
    expect(await client.publish('c.x', '', { [EXPECTED]: '1' })).toMatchObject({ seq: 2 });
    expect(await client.publish('a.x', '', { [EXPECTED]: '2' })).toMatchObject({ seq: 3 });
    expect(await client.publish('a.x', '', { [EXPECTED]: '2' })).toMatchObject({ error: { err_code: 10071 } });
  });
});
