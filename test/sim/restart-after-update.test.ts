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

it('a stream that was changed goes on taking messages under its subjects, old and new', () => {
  const world = new BatchWorld(2);
  const client = world.client('client');
  const heard: string[] = [];
  client.onMessage = ({ subject, payload }) => heard.push(`${subject} ${payload.toString()}`);
  client.subscribe('1', 'A.>');
  const publish = (...subjects: string[]): void => {
    for (const subject of subjects) client.send(`PUB ${subject} A.${subject} 5\r\nhello\r\n`);
    world.world.scheduler.runFor(1000);
  };
  const update = (...subjects: string[]): void => {
    world.request('STREAM.UPDATE.S', JSON.stringify({ name: 'S', subjects, allow_atomic: true }));
  };
  update('s.>', 't.>');
  publish('s.a', 't.a');
  update('t.>', 'u');
  publish('s.a', 't.a', 'u');
  const stored = ['s.a', 't.a', 't.a', 'u'].map((each, i) => `A.${each} {"stream":"S","seq":${i + 1}}`);
  expect(heard.filter((each) => each.includes('seq')).toSorted()).toEqual(stored.toSorted());
  expect(world.stream.store.lastSequence).toBe(4);
});
