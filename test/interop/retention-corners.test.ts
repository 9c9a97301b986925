/** Retention where other features meet it: as with nats-server. */
import { setTimeout as delay } from 'node:timers/promises';
import { describeTalks, type JetStreamTalk } from '../helpers/jetstream-talk.ts';

describeTalks('retention', '', [
  [
    'by interest lets go what a consumer skips when it begins anew',
    async (to) => {
      await create(to, 'R1', 'interest');
      await consumer(to, 'R1', 'c');
      for (const payload of ['a', 'b', 'c', 'd', 'e']) await to.publish('R1.x', payload);
      const [first] = await to.pull('R1', 'c');
      await to.ack(first);
      await to.api('CONSUMER.RESET.R1.c', { seq: 4 });
      await to.state('R1', 'c');
      await to.pull('R1', 'c', 5);
      await to.state('R1', 'c');
    },
  ],
  [
    'by interest and atomic batches that nobody wants',
    async (to) => {
      await create(to, 'R2', 'interest', { allow_atomic: true });
      const batch = (sequence: number, commit = ''): Record<string, string> => ({
        'Nats-Batch-Id': 'b',
        'Nats-Batch-Sequence': String(sequence),
        ...(commit === '' ? {} : { 'Nats-Batch-Commit': commit }),
      });
      to.tell('R2.x', 'before');
      await to.publish('R2.x', 'one', batch(1));
      await to.publish('R2.x', 'two', batch(2, '1'));
      await to.state('R2');
      await consumer(to, 'R2', 'c', { filter_subject: 'R2.y' });
      await to.publish('R2.x', 'one', batch(1));
      await to.publish('R2.y', 'two', batch(2));
      await to.publish('R2.x', 'three', batch(3, '1'));
      await to.state('R2', 'c');
    },
  ],
  [
    'by interest and messages that are deleted while somebody has them',
    async (to) => {
      await create(to, 'R3', 'interest');
      await consumer(to, 'R3', 'c');
      for (const payload of ['a', 'b', 'c']) await to.publish('R3.x', payload);
      const got = await to.pull('R3', 'c', 2);
      await to.api('STREAM.MSG.DELETE.R3', { seq: 1 });
      await to.api('STREAM.MSG.DELETE.R3', { seq: 3 });
      await to.state('R3', 'c');
      await to.ack(got[1]);
      await to.state('R3', 'c');
    },
  ],
  [
    'as a work queue and age',
    async (to) => {
      await create(to, 'R4', 'workqueue', { max_age: 400_000_000 });
      await consumer(to, 'R4', 'c');
      for (const payload of ['a', 'b', 'c']) await to.publish('R4.x', payload);
      const got = await to.pull('R4', 'c', 2);
      await to.ack(got[1]);
      await delay(1500);
      await to.state('R4', 'c');
      await to.publish('R4.x', 'd');
      await to.pull('R4', 'c', 5);
    },
  ],
  [
    'by limits and age, with consumers of every kind',
    async (to) => {
      await create(to, 'A1', 'limits', { max_age: 1_000_000_000 });
      await consumer(to, 'A1', 'explicit');
      await consumer(to, 'A1', 'all', { ack_policy: 'all' });
      await consumer(to, 'A1', 'none', { ack_policy: 'none' });
      await consumer(to, 'A1', 'some', { filter_subject: 'A1.b' });
      const names = ['explicit', 'all', 'none', 'some'];
      for (const subject of ['a', 'b', 'a', 'b', 'a']) await to.publish(`A1.${subject}`, subject);
      for (const name of names) await to.pull('A1', name, 2);
      await to.state('A1', ...names);
      await delay(2500);
      await to.state('A1', ...names);
      for (const subject of ['a', 'b']) await to.publish(`A1.${subject}`, subject);
      for (const name of names) await to.pull('A1', name, 1);
      await to.state('A1', ...names);
    },
  ],
  [
    'by interest and a purge of one subject',
    async (to) => {
      await create(to, 'R5', 'interest');
      await consumer(to, 'R5', 'a', { filter_subject: 'R5.a' });
      await consumer(to, 'R5', 'b', { filter_subject: 'R5.b' });
      for (const subject of ['R5.a', 'R5.b', 'R5.a', 'R5.b']) await to.publish(subject, subject);
      await to.api('STREAM.PURGE.R5', { filter: 'R5.a' });
      await to.publish('R5.a', 'new');
      for (const message of await to.pull('R5', 'b', 5)) await to.ack(message);
      for (const message of await to.pull('R5', 'a', 5)) await to.ack(message);
      await to.state('R5');
    },
  ],
  [
    'by interest and a limit of messages per subject',
    async (to) => {
      await create(to, 'R6', 'interest', { max_msgs_per_subject: 1 });
      await consumer(to, 'R6', 'c');
      for (const subject of ['a', 'b', 'a', 'a']) await to.publish(`R6.${subject}`, subject);
      await to.pull('R6', 'c', 1);
      await to.publish('R6.b', 'b');
      for (const message of await to.pull('R6', 'c', 5)) await to.ack(message);
      await to.state('R6', 'c');
    },
  ],
  [
    'by interest and roll-ups',
    async (to) => {
      await create(to, 'R7', 'interest', { allow_rollup_hdrs: true });
      await consumer(to, 'R7', 'c', { filter_subject: 'R7.a' });
      for (const subject of ['R7.a', 'R7.a', 'R7.b']) await to.publish(subject, subject);
      await to.publish('R7.b', 'nobody wants it', { 'Nats-Rollup': 'sub' });
      await to.state('R7', 'c');
      await to.publish('R7.a', 'alone', { 'Nats-Rollup': 'sub' });
      await to.state('R7');
    },
  ],
  ...(['memory', 'file'] as const).map((storage): [string, (to: JetStreamTalk) => Promise<void>] => [
    `by interest and a roll-up of everything by what nobody wants, in ${storage}`,
    async (to) => {
      const name = `R7${storage}`;
      await create(to, name, 'interest', { allow_rollup_hdrs: true, storage });
      await consumer(to, name, 'c', { filter_subject: `${name}.a` });
      for (const subject of ['a', 'b', 'a', 'a']) await to.publish(`${name}.${subject}`, subject);
      await to.pull(name, 'c', 1);
      await to.publish(`${name}.b`, 'nobody wants it', { 'Nats-Rollup': 'all', 'Nats-Msg-Id': 'known' });
      await to.state(name, 'c');
      await to.publish(`${name}.a`, 'the same', { 'Nats-Msg-Id': 'known' });
      await to.publish(`${name}.a`, 'next');
      await to.pull(name, 'c', 5);
      await to.state(name, 'c');
    },
  ]),
  ...(['memory', 'file'] as const).map((storage): [string, (to: JetStreamTalk) => Promise<void>] => [
    `by limits and purges of some of what consumers want, in ${storage}`,
    async (to) => {
      const name = `P1${storage}`;
      await create(to, name, 'limits', { storage });
      await consumer(to, name, 'all');
      await consumer(to, name, 'wide', { filter_subject: `${name}.*` });
      await consumer(to, name, 'two', { filter_subjects: [`${name}.a`, `${name}.b`] });
      await consumer(to, name, 'other', { filter_subject: `${name}.c` });
      await consumer(to, name, 'busy');
      const names = ['all', 'wide', 'two', 'other', 'busy'];
      for (const subject of ['a', 'a', 'b', 'c', 'a', 'b']) await to.publish(`${name}.${subject}`, subject);
      await to.pull(name, 'busy', 4);
      await to.api(`STREAM.PURGE.${name}`, { filter: `${name}.a`, keep: 1 });
      await to.state(name, ...names);
      await to.api(`STREAM.PURGE.${name}`, { filter: `${name}.b` });
      await to.state(name, ...names);
      for (const each of names) await to.pull(name, each, 2);
      await to.publish(`${name}.a`, 'last');
      await to.state(name, ...names);
    },
  ]),
  [
    'as a work queue and acknowledgements of every kind',
    async (to) => {
      await create(to, 'R8', 'workqueue');
      await consumer(to, 'R8', 'c', { ack_wait: 300_000_000 });
      for (const payload of ['a', 'b', 'c', 'd']) await to.publish('R8.x', payload);
      const got = await to.pull('R8', 'c', 4);
      await to.ack(got[0], '+WPI');
      await to.ack(got[1], 'nonsense');
      await to.ack(got[2], '-NAK {"delay": 60000000000}');
      await to.ack(got[3]);
      await to.state('R8');
      await delay(1000);
      for (const message of await to.pull('R8', 'c', 4)) await to.ack(message);
      await to.state('R8');
    },
  ],
  [
    'by interest and consumers that end',
    async (to) => {
      await create(to, 'R9', 'interest');
      const config = { name: 'e', ack_policy: 'explicit', inactive_threshold: 300_000_000 };
      await to.api('CONSUMER.CREATE.R9.e', { stream_name: 'R9', config });
      for (const payload of ['a', 'b']) await to.publish('R9.x', payload);
      await to.state('R9');
      await delay(1500);
      await to.state('R9');
      await to.publish('R9.x', 'c');
      await to.state('R9');
    },
  ],
]);

async function create(to: JetStreamTalk, name: string, retention: string, fields: object = {}): Promise<void> {
  await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], retention, ...fields });
}

async function consumer(to: JetStreamTalk, stream: string, name: string, fields: object = {}): Promise<void> {
  const config = { name, durable_name: name, ack_policy: 'explicit', ...fields };
  await to.api(`CONSUMER.CREATE.${stream}.${name}`, { stream_name: stream, config });
}
