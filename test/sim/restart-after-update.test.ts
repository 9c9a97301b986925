/** A stream and its consumers were changed shortly before the power went: they are the changed ones afterwards, once. */
import { expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';

it('a message is stored once, and delivered once to the changed consumers', () => {
  const world = new BatchWorld(1);
  const pushed = { durable_name: 'pushed', ack_policy: 'explicit', filter_subject: 's.a' };
  const consumer = (deliver_subject: string): string =>
    JSON.stringify({ stream_name: 'S', config: { ...pushed, deliver_subject } });
  world.request('CONSUMER.DURABLE.CREATE.S.pushed', consumer('d.old'));
  world.request('CONSUMER.DURABLE.CREATE.S.pushed', consumer('d.new'));
  const changed = { name: 'S', subjects: ['s.>', 't.>'], allow_atomic: true, allow_batched: true };
  world.request('STREAM.UPDATE.S', JSON.stringify(changed));
  world.restart();

  const client = world.client('client');
  const heard: string[] = [];
  client.onMessage = ({ sid, subject, payload }) => heard.push(`${sid} ${subject} ${payload.toString()}`);
  for (const each of ['new', 'old']) client.subscribe(each, `d.${each}`);
  client.subscribe('2', 'A');
  for (const subject of ['s.a', 't.a']) client.send(`PUB ${subject} A 5\r\nhello\r\n`);
  world.world.scheduler.runFor(1000);
  expect(heard.toSorted()).toEqual(['2 A {"stream":"S","seq":1}', '2 A {"stream":"S","seq":2}', 'new s.a hello']);
  expect(world.stream.store.lastSequence).toBe(2);
});
