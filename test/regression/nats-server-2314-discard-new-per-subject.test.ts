/** nats-server#2314, #4247: a stream with a limit per subject and `discard: new` went on taking messages, or did not say why not. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

const REFUSED = { err_code: 10077, description: 'maximum messages per subject exceeded' };

describeTargets('a stream that discards what is new of a subject', (target) => {
  test.each(['file', 'memory'])('refuses the sixth message of a subject that may have five, in %s', async (storage) => {
    const client = await jetStreamOf(target);
    const config = { name: 'S', subjects: ['s.*'], storage, discard: 'new', max_msgs_per_subject: 5 };
    await client.ask('STREAM.CREATE.S', { ...config, discard_new_per_subject: true });
    const subjects = Array.from({ length: 12 }, (_, at) => `s.${at % 2}`);
    const answers = await Promise.all(
      subjects.map(async (each) => (await client.connection.request(each)).json<{ seq: number; error?: object }>()),
    );
    expect(answers.slice(0, 10).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(answers.slice(10)).toMatchObject([{ error: REFUSED }, { error: REFUSED }]);
    await client.ask('STREAM.PURGE.S', { filter: 's.0', keep: 4 });
    expect((await client.connection.request('s.0')).json()).toMatchObject({ seq: 11 });
    expect((await client.connection.request('s.1')).json()).toMatchObject({ error: REFUSED });
  });
});
