/** What streams keep by interest and as work queues, and what consumers may do with them: as with nats-server. */
import { describeTalks, type JetStreamTalk, type Talk } from '../helpers/jetstream-talk.ts';

describeTalks('retention', '', [
  [
    'by interest keeps nothing without a consumer, and counts sequences',
    async (to) => {
      await stream(to, 'I1', 'interest');
      await to.publish('I1.a', 'one');
      await to.publish('I1.b', 'two', { 'Nats-Msg-Id': 'x' });
      await to.publish('I1.b', 'two', { 'Nats-Msg-Id': 'x' });
      await to.publish('I1.b', 'three', { 'Nats-Expected-Last-Sequence': '2' });
      await to.publish('I1.b', 'four', { 'Nats-Expected-Last-Subject-Sequence': '3' });
      await to.publish('I1.b', 'five', { 'Nats-Expected-Last-Msg-Id': 'x' });
      await to.state('I1');
      await consumer(to, 'I1', 'c');
      await to.publish('I1.a', 'six');
      await to.state('I1', 'c');
    },
  ],
  ...['file', 'memory'].map((storage): [string, Talk] => [
    `by interest lets go what everybody is done with, in a ${storage} stream`,
    async (to) => {
      const name = `I2${storage}`;
      await stream(to, name, 'interest', { storage });
      await consumer(to, name, 'one');
      await consumer(to, name, 'two');
      for (const payload of ['a', 'b', 'c', 'd']) await to.publish(`${name}.x`, payload);
      const first = await to.pull(name, 'one', 4);
      for (const message of first) await to.ack(message);
      await to.state(name, 'one', 'two');
      const second = await to.pull(name, 'two', 3);
      await to.ack(second[1]);
      await to.state(name, 'one', 'two');
      await to.ack(second[0], '+TERM');
      await to.state(name, 'one', 'two');
      await to.ack(second[2], '-NAK');
      await to.state(name, 'one', 'two');
    },
  ]),
  [
    'by interest asks only those whose filter a message passes',
    async (to) => {
      await stream(to, 'I3', 'interest');
      await consumer(to, 'I3', 'a', { filter_subject: 'I3.a' });
      await consumer(to, 'I3', 'ab', { filter_subjects: ['I3.a', 'I3.b'] });
      for (const subject of ['I3.a', 'I3.b', 'I3.c', 'I3.a']) await to.publish(subject, subject);
      await to.state('I3', 'a', 'ab');
      for (const message of await to.pull('I3', 'ab', 3)) await to.ack(message);
      await to.state('I3', 'a', 'ab');
      for (const message of await to.pull('I3', 'a', 3)) await to.ack(message);
      await to.state('I3', 'a', 'ab');
    },
  ],
  [
    'by interest lets go what nobody waits for when a consumer goes, or wants something else',
    async (to) => {
      await stream(to, 'I4', 'interest');
      await consumer(to, 'I4', 'one', { filter_subject: 'I4.*' });
      await consumer(to, 'I4', 'two', { filter_subject: 'I4.b' });
      for (const subject of ['I4.a', 'I4.b', 'I4.c', 'I4.b']) await to.publish(subject, subject);
      const [first] = await to.pull('I4', 'one');
      await to.ack(first);
      await consumer(to, 'I4', 'one', { filter_subject: 'I4.c' });
      await to.state('I4', 'one', 'two');
      await to.api('CONSUMER.DELETE.I4.two');
      await to.state('I4', 'one');
      await to.api('CONSUMER.DELETE.I4.one');
      await to.state('I4');
    },
  ],
  [
    'by interest keeps what a consumer got as often as allowed and never acknowledged',
    async (to) => {
      await stream(to, 'I5', 'interest');
      await consumer(to, 'I5', 'once', { max_deliver: 1, ack_wait: 200_000_000 });
      await consumer(to, 'I5', 'other');
      await to.publish('I5.a', 'a');
      await to.publish('I5.a', 'b');
      await to.pull('I5', 'once', 2);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      for (const message of await to.pull('I5', 'other', 2)) await to.ack(message);
      await to.state('I5', 'other');
    },
  ],
  [
    'changes from limits to interest and back',
    async (to) => {
      await stream(to, 'I6', 'limits');
      for (const payload of ['a', 'b', 'c']) await to.publish('I6.x', payload);
      await consumer(to, 'I6', 'c');
      const [first] = await to.pull('I6', 'c');
      await to.ack(first);
      await stream(to, 'I6', 'interest', {}, 'UPDATE');
      await to.state('I6', 'c');
      const [second] = await to.pull('I6', 'c');
      await to.ack(second);
      await to.state('I6', 'c');
      await stream(to, 'I6', 'limits', {}, 'UPDATE');
      const [third] = await to.pull('I6', 'c');
      await to.ack(third);
      await to.publish('I6.x', 'd');
      await to.state('I6', 'c');
      await stream(to, 'I6', 'workqueue', {}, 'UPDATE');
      await to.api('CONSUMER.DELETE.I6.c');
      await stream(to, 'I6', 'interest', {}, 'UPDATE');
      await to.state('I6');
    },
  ],
  [
    'by interest counts no message that nobody wants against limits',
    async (to) => {
      await stream(to, 'I7', 'interest', { max_msgs: 2, discard: 'new' });
      await consumer(to, 'I7', 'c', { filter_subject: 'I7.a' });
      for (const subject of ['I7.a', 'I7.b', 'I7.b', 'I7.a', 'I7.b', 'I7.a']) await to.publish(subject, subject);
      await to.state('I7', 'c');
    },
  ],
  [
    'by interest hears acknowledgements for all messages, and none at all',
    async (to) => {
      await stream(to, 'I8', 'interest');
      await consumer(to, 'I8', 'all', { ack_policy: 'all' });
      for (const payload of ['a', 'b', 'c', 'd']) await to.publish('I8.x', payload);
      const messages = await to.pull('I8', 'all', 3);
      await to.ack(messages[1]);
      await to.state('I8', 'all');
      await to.ack(messages[2]);
      await to.state('I8', 'all');
      await stream(to, 'I9', 'interest');
      await consumer(to, 'I9', 'none', { ack_policy: 'none' });
      for (const payload of ['a', 'b', 'c']) await to.publish('I9.x', payload);
      await to.pull('I9', 'none', 2);
      await to.state('I9', 'none');
    },
  ],
  ...['file', 'memory'].map((storage): [string, Talk] => [
    `as a work queue keeps a message until its consumer is done, in a ${storage} stream`,
    async (to) => {
      const name = `W1${storage}`;
      await stream(to, name, 'workqueue', { storage });
      for (const subject of ['a', 'b', 'c', 'a']) await to.publish(`${name}.${subject}`, subject);
      await to.state(name);
      await consumer(to, name, 'a', { filter_subject: `${name}.a` });
      const got = await to.pull(name, 'a', 5);
      await to.ack(got[1]);
      await to.state(name, 'a');
      await to.ack(got[0], '+TERM because');
      await to.state(name, 'a');
      await to.api(`CONSUMER.DELETE.${name}.a`);
      await to.state(name);
      await consumer(to, name, 'rest');
      const rest = await to.pull(name, 'rest', 5);
      await to.ack(rest[0], '-NAK');
      for (const message of await to.pull(name, 'rest', 5)) await to.ack(message);
      await to.state(name, 'rest');
    },
  ]),
  [
    'as a work queue allows only consumers that share no message',
    async (to) => {
      await stream(to, 'W2', 'workqueue');
      await consumer(to, 'W2', 'none', { ack_policy: 'none' });
      await consumer(to, 'W2', 'all', { ack_policy: 'all' });
      await consumer(to, 'W2', 'new', { deliver_policy: 'new' });
      await consumer(to, 'W2', 'last', { deliver_policy: 'last' });
      await consumer(to, 'W2', 'a', { filter_subject: 'W2.a' });
      await consumer(to, 'W2', 'everything');
      await consumer(to, 'W2', 'any', { filter_subject: 'W2.*' });
      await consumer(to, 'W2', 'again', { filter_subject: 'W2.a' });
      await consumer(to, 'W2', 'several', { filter_subjects: ['W2.b', 'W2.c'] });
      await consumer(to, 'W2', 'c', { filter_subjects: ['W2.c', 'W2.d'] });
      await consumer(to, 'W2', 'a', { filter_subject: 'W2.b' });
      await consumer(to, 'W2', 'a', { filter_subject: 'W2.d' });
      await consumer(to, 'W2', 'several', { filter_subject: 'W2.d' });
      await to.api('CONSUMER.DELETE.W2.several');
      await consumer(to, 'W2', 'a');
      await consumer(to, 'W2', 'late', { filter_subject: 'W2.z' });
      await to.api('CONSUMER.NAMES.W2');
    },
  ],
  [
    'as a work queue keeps what was delivered as often as allowed',
    async (to) => {
      await stream(to, 'W3', 'workqueue');
      await consumer(to, 'W3', 'once', { max_deliver: 1, ack_wait: 200_000_000 });
      await to.publish('W3.a', 'a');
      await to.publish('W3.a', 'b');
      const got = await to.pull('W3', 'once', 2);
      await to.ack(got[0]);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await to.pull('W3', 'once', 2);
      await to.state('W3', 'once');
    },
  ],
  [
    'limits and purges work beside it',
    async (to) => {
      await stream(to, 'W4', 'workqueue', { max_msgs: 3 });
      for (const payload of ['a', 'b', 'c', 'd', 'e']) await to.publish('W4.x', payload);
      await consumer(to, 'W4', 'c');
      const [first] = await to.pull('W4', 'c');
      await to.publish('W4.x', 'f');
      await to.ack(first);
      await to.state('W4', 'c');
      await to.api('STREAM.PURGE.W4', { keep: 1 });
      await to.state('W4', 'c');
      await to.api('STREAM.PURGE.W4');
      await to.state('W4', 'c');
    },
  ],
]);

async function stream(
  to: JetStreamTalk,
  name: string,
  retention: string,
  fields: object = {},
  verb = 'CREATE',
): Promise<void> {
  await to.api(`STREAM.${verb}.${name}`, { name, subjects: [`${name}.>`], retention, ...fields });
}

async function consumer(to: JetStreamTalk, stream: string, name: string, fields: object = {}): Promise<void> {
  const config = { name, durable_name: name, ack_policy: 'explicit', ...fields };
  await to.api(`CONSUMER.CREATE.${stream}.${name}`, { stream_name: stream, config });
}
