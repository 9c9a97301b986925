/**
 * A stream with two subjects of 100,000 tokens ended the server, and a consumer with 40,000 filters kept it from
 * everything else for minutes: each filter was compared with each other.
 */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

const LONG = 'f.'.repeat(100_000);
const FILTERS = 8000;

describeTargets('a request with', (target) => {
  test('very long subjects and filters is answered', async () => {
    const client = await jetStreamOf(target);
    const made = await client.ask('STREAM.CREATE.S', { name: 'S', subjects: [`${LONG}x`, `${LONG}y`] });
    expect(made).toMatchObject({ config: { name: 'S' } });
    await client.ask('STREAM.CREATE.T', { name: 'T', subjects: ['f.>'] });
    expect(await client.ask('STREAM.INFO.S')).toMatchObject({ config: { name: 'S' } });
  });

  test('thousands of filters is answered, and refused when one covers another', async () => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.>'] });
    const filters = Array.from({ length: FILTERS }, (_, index) => `s.${index}`);
    const config = { durable_name: 'C', ack_policy: 'explicit', filter_subjects: filters };
    const made = await client.ask('CONSUMER.CREATE.S.C', { stream_name: 'S', config });
    expect(made).toMatchObject({ name: 'C' });
    const overlapping = { ...config, durable_name: 'D', filter_subjects: [...filters, 's.*'] };
    const refused = await client.ask('CONSUMER.CREATE.S.D', { stream_name: 'S', config: overlapping });
    expect(refused).toMatchObject({ error: { err_code: 10138 } });
  });
});
