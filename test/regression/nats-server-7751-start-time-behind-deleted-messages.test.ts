/** nats-server#7751: where most messages had been deleted, the first one since a moment was not found. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

const MESSAGES = 200;

describeTargets('the first message since a moment', (target) => {
  test.each(['file', 'memory'])('is found behind deleted ones, in %s', async (storage) => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'], storage });
    for (let i = 0; i < MESSAGES; i++) await client.publish('s', `${i}`);
    const kept = [1, 2, 60, 61, 150, 199, 200];
    const times = new Map<number, string>();
    for (const seq of kept) {
      const { message } = await client.ask<{ message: { time: string } }>('STREAM.MSG.GET.S', { seq });
      times.set(seq, message.time);
    }
    for (let seq = 1; seq <= MESSAGES; seq++) if (!kept.includes(seq)) await client.ask('STREAM.MSG.DELETE.S', { seq });
    for (const [seq, start_time] of times) expect(await client.message('S', { start_time })).toMatchObject({ seq });
    for (const seq of [2, 61, 150]) {
      const since = later(times.get(seq) as string);
      const next = kept[kept.indexOf(seq) + 1];
      expect(await client.message('S', { start_time: since })).toMatchObject({ seq: next });
    }
    expect(await client.message('S', { start_time: later(times.get(200) as string) })).toBeNull();
  });
});

/** A nanosecond later. */
function later(time: string): string {
  const [, seconds = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? [];
  return `${seconds}.${(BigInt(fraction.padEnd(9, '0')) + 1n).toString().padStart(9, '0')}Z`;
}
