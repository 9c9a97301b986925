/** What streams take, refuse and let go by their configuration, and what may become of that: as with nats-server. */
import { setTimeout as delay } from 'node:timers/promises';
import { describeTalks, type JetStreamTalk, type Talk } from '../helpers/jetstream-talk.ts';

const BOTH = ['file', 'memory'];

describeTalks('a stream', '', [
  ...BOTH.flatMap((storage): [string, Talk][] => [
    [
      `discards what is new beyond max_msgs, in ${storage}`,
      async (to) => {
        const name = `D1${storage}`;
        await create(to, name, { storage, discard: 'new', max_msgs: 2 });
        for (const payload of ['a', 'b', 'c']) await to.publish(`${name}.x`, payload);
        await to.api(`STREAM.MSG.DELETE.${name}`, { seq: 1 });
        await to.publish(`${name}.x`, 'd', { 'Nats-Msg-Id': 'd' });
        await to.publish(`${name}.x`, 'e', { 'Nats-Msg-Id': 'e' });
        await to.publish(`${name}.x`, 'd', { 'Nats-Msg-Id': 'd' });
        await to.publish(`${name}.x`, 'f', { 'Nats-Expected-Last-Sequence': '1' });
        await to.state(name);
      },
    ],
    [
      `discards what is new beyond max_bytes, in ${storage}`,
      async (to) => {
        const name = `D2${storage}`;
        await create(to, name, { storage, discard: 'new', max_bytes: 200 });
        for (let size = 60; size > 0; size -= 10) await to.publish(`${name}.x`, 'x'.repeat(size));
        await to.publish(`${name}.x`, '', { A: 'b' });
        for (let i = 0; i < 6; i++) await to.publish(`${name}.x`);
        await to.state(name);
      },
    ],
    [
      `discards what is new of a subject that has enough, in ${storage}`,
      async (to) => {
        const name = `D3${storage}`;
        await create(to, name, { storage, discard: 'new', max_msgs_per_subject: 2, discard_new_per_subject: true });
        for (const subject of ['a', 'a', 'b', 'a', 'b', 'b', 'c']) await to.publish(`${name}.${subject}`, subject);
        await to.api(`STREAM.PURGE.${name}`, { filter: `${name}.a` });
        for (let i = 0; i < 3; i++) await to.publish(`${name}.a`);
        await to.state(name);
      },
    ],
    [
      `replaces a subject's first message although nothing new is taken, in ${storage}`,
      async (to) => {
        const name = `D4${storage}`;
        await create(to, name, { storage, discard: 'new', max_msgs_per_subject: 1, max_msgs: 2, max_bytes: 150 });
        for (const subject of ['a', 'b', 'c', 'a', 'b']) await to.publish(`${name}.${subject}`, subject);
        await to.state(name);
        await to.publish(`${name}.a`, 'x'.repeat(40));
        await to.publish(`${name}.a`, 'x'.repeat(80));
        await to.publish(`${name}.a`, 'x');
        await to.state(name);
      },
    ],
    [
      `drops what is old, in ${storage}`,
      async (to) => {
        const name = `D5${storage}`;
        await create(to, name, { storage, max_msgs: 4, max_bytes: 200, max_msgs_per_subject: 2 });
        for (const subject of ['a', 'a', 'a', 'b', 'c', 'd', 'e']) await to.publish(`${name}.${subject}`, subject);
        await to.state(name);
        await to.publish(`${name}.f`, 'x'.repeat(100));
        await to.state(name);
        await to.publish(`${name}.g`, 'x'.repeat(400));
        await to.state(name);
        await change(to, name, { storage, max_msgs: 1 });
        await to.state(name);
      },
    ],
    [
      `takes messages up to max_msg_size, headers included, in ${storage}`,
      async (to) => {
        const name = `D6${storage}`;
        await create(to, name, { storage, max_msg_size: 30 });
        for (const size of [29, 30, 31]) await to.publish(`${name}.x`, 'x'.repeat(size));
        for (const size of [1, 9, 10, 11]) await to.publish(`${name}.x`, 'x'.repeat(size), { A: 'b' });
        await change(to, name, { storage, max_msg_size: 5 });
        await to.publish(`${name}.x`, 'x'.repeat(10));
        await to.publish(`${name}.x`, 'x'.repeat(10), { 'Nats-Expected-Stream': 'other' });
        await to.state(name);
      },
    ],
    [
      `forgets by age, in ${storage}`,
      async (to) => {
        const name = `A1${storage}`;
        await create(to, name, { storage, max_age: 300_000_000 });
        await to.publish(`${name}.x`, 'a', { 'Nats-Msg-Id': 'a' });
        await to.publish(`${name}.x`, 'a', { 'Nats-Msg-Id': 'a' });
        await delay(1500);
        await to.state(name);
        await to.publish(`${name}.x`, 'a', { 'Nats-Msg-Id': 'a' });
        await change(to, name, { storage, max_age: 0, duplicate_window: 60e9 });
        await delay(1500);
        await to.state(name);
        await change(to, name, { storage, max_age: 200_000_000 });
        await delay(1500);
        await to.state(name);
      },
    ],
    [
      `begins at first_seq, in ${storage}`,
      async (to) => {
        const name = `F1${storage}`;
        await create(to, name, { storage, first_seq: 1000 });
        await to.state(name);
        await to.publish(`${name}.x`, 'a');
        await to.publish(`${name}.x`, 'b', { 'Nats-Expected-Last-Sequence': '1000' });
        await to.state(name);
        await to.api(`STREAM.MSG.GET.${name}`, { seq: 1000 });
        await change(to, name, { storage, first_seq: 5 });
        await to.api(`STREAM.PURGE.${name}`, { seq: 2000 });
        await to.state(name);
        await to.publish(`${name}.x`, 'c');
        await to.api(`STREAM.PURGE.${name}`);
        await to.publish(`${name}.x`, 'd');
        await to.state(name);
      },
    ],
    [
      `is sealed for good, in ${storage}`,
      async (to) => {
        const name = `S1${storage}`;
        await create(to, name, { storage, max_age: 60e9, allow_rollup_hdrs: true });
        await to.publish(`${name}.x`, 'a', { 'Nats-Msg-Id': 'a' });
        await to.publish(`${name}.x`, 'b');
        await change(to, name, { storage, max_age: 60e9, sealed: true, allow_rollup_hdrs: true });
        await to.publish(`${name}.x`, 'c');
        await to.publish(`${name}.x`, 'a', { 'Nats-Msg-Id': 'a' });
        await to.publish(`${name}.x`, 'a', { 'Nats-Rollup': 'all' });
        await to.publish(`${name}.x`, 'x'.repeat(100), { 'Nats-Expected-Stream': 'other' });
        await to.api(`STREAM.MSG.DELETE.${name}`, { seq: 1 });
        await to.api(`STREAM.PURGE.${name}`);
        await to.api(`STREAM.PURGE.${name}`, { filter: 'x' });
        await change(to, name, { storage });
        await change(to, name, { storage, sealed: true });
        await change(to, name, { storage, sealed: true, deny_delete: true, deny_purge: true, max_msgs: 1 });
        await to.state(name);
        await consumer(to, name, 'c', {});
        await to.pull(name, 'c', 2);
        await to.api(`STREAM.DELETE.${name}`);
      },
    ],
    [
      `denies deletes and purges, in ${storage}`,
      async (to) => {
        const name = `S2${storage}`;
        await create(to, name, { storage, deny_delete: true, deny_purge: true });
        await to.publish(`${name}.x`, 'a');
        await to.api(`STREAM.MSG.DELETE.${name}`, { seq: 1 });
        await to.api(`STREAM.MSG.DELETE.${name}`, { seq: 9 });
        await to.api(`STREAM.PURGE.${name}`);
        await to.api(`STREAM.PURGE.${name}`, { filter: 'nothing' });
        await change(to, name, { storage, deny_purge: true });
        await change(to, name, { storage, deny_delete: true });
        await change(to, name, { storage, deny_delete: true, deny_purge: true, max_msgs: 7 });
        await to.state(name);
      },
    ],
    [
      `trims when a limit comes or falls, in ${storage}`,
      async (to) => {
        const name = `L1${storage}`;
        await create(to, name, { storage });
        for (const subject of ['a', 'b', 'a', 'b', 'a', 'c']) await to.publish(`${name}.${subject}`, subject);
        await change(to, name, { storage, max_msgs_per_subject: 2 });
        await to.state(name);
        await change(to, name, { storage, max_msgs_per_subject: 1 });
        await to.state(name);
        await change(to, name, { storage, max_msgs: 2 });
        await to.state(name);
        await change(to, name, { storage, max_bytes: 40 });
        await to.state(name);
      },
    ],
    [
      `keeps what it has when its subjects change, in ${storage}`,
      async (to) => {
        const name = `U1${storage}`;
        await create(to, name, { storage });
        await to.publish(`${name}.x`, 'a');
        await to.api(`STREAM.UPDATE.${name}`, { name, storage, subjects: [`other.${name}`] });
        await to.publish(`other.${name}`, 'b');
        await to.state(name);
        await to.api(`STREAM.UPDATE.${name}`, { name, storage });
        await to.publish(name, 'c');
        await to.api(`STREAM.MSG.GET.${name}`, { last_by_subj: `${name}.x` });
        await to.state(name);
      },
    ],
  ]),
  [
    'acknowledges nothing with no_ack',
    async (to) => {
      await create(to, 'N1', { no_ack: true, max_msgs: 1, discard: 'new' });
      to.tell('N1.x', 'a');
      to.tell('N1.x', 'b');
      await to.state('N1');
      await change(to, 'N1', { max_msgs: 1, discard: 'new' });
      await to.publish('N1.x', 'c');
    },
  ],
  [
    'acknowledges early in the async persist mode',
    async (to) => {
      await create(to, 'P1', { persist_mode: 'async' });
      for (const payload of ['a', 'b']) await to.publish('P1.x', payload, { 'Nats-Msg-Id': payload });
      await to.publish('P1.x', 'a', { 'Nats-Msg-Id': 'a' });
      await to.publish('P1.x', 'c', { 'Nats-Expected-Last-Sequence': '5' });
      await to.state('P1');
      await change(to, 'P1', {});
    },
  ],
  [
    'gives its consumers limits and defaults',
    async (to) => {
      await create(to, 'C1', { consumer_limits: { max_ack_pending: 10, inactive_threshold: 5e9 } });
      await consumer(to, 'C1', 'plain', {});
      await consumer(to, 'C1', 'less', { max_ack_pending: 5, inactive_threshold: 1e9 });
      await consumer(to, 'C1', 'more', { max_ack_pending: 11 });
      await consumer(to, 'C1', 'unlimited', { max_ack_pending: -1 });
      await consumer(to, 'C1', 'longer', { inactive_threshold: 6e9 });
      await consumer(to, 'C1', 'none', { ack_policy: 'none' });
      await change(to, 'C1', { consumer_limits: { max_ack_pending: 6, inactive_threshold: 2e9 } });
      await change(to, 'C1', { consumer_limits: { max_ack_pending: 20 } });
      await change(to, 'C1', {});
      await change(to, 'C1', { consumer_limits: { max_ack_pending: -3 } });
      await consumer(to, 'C1', 'more', { max_ack_pending: 11 });
      await change(to, 'C1', { consumer_limits: { inactive_threshold: 500_000_000 } });
    },
  ],
  [
    'has so many consumers',
    async (to) => {
      await create(to, 'C2', { max_consumers: 2 });
      for (const name of ['a', 'b', 'c']) await consumer(to, 'C2', name, {});
      await consumer(to, 'C2', 'a', { description: 'again' });
      await to.api('CONSUMER.DELETE.C2.a');
      await consumer(to, 'C2', 'c', {});
      await change(to, 'C2', { max_consumers: 1 });
      await change(to, 'C2', { max_consumers: 3 });
      await consumer(to, 'C2', 'd', {});
    },
  ],
  [
    'is asked for by those who can not have it',
    async (to) => {
      await create(to, 'E1', {});
      await to.api('STREAM.UPDATE.none', { name: 'none', max_age: -1 });
      await to.api('STREAM.UPDATE.none', { name: 'none' });
      await to.api('STREAM.UPDATE.none', { name: 'other' });
      await to.api('STREAM.UPDATE.E1', { name: 'other' });
      await to.api('STREAM.CREATE.E2', { name: 'E2', subjects: ['E1.a'] });
      await to.api('STREAM.CREATE.E2', { name: 'E2', subjects: ['E1.>'] });
      await to.api('STREAM.CREATE.E2', { name: 'E2', subjects: ['*.a'] });
      await to.api('STREAM.CREATE.E2', { name: 'E2', subjects: ['E2.>'] });
      await to.api('STREAM.UPDATE.E2', { name: 'E2', subjects: ['E2.>', 'E1.b'] });
      await to.api('STREAM.UPDATE.E2', { name: 'E2', subjects: ['E2.>', 'E1.b'], storage: 'memory' });
      await to.api('STREAM.CREATE.E1', { name: 'E1', subjects: ['E1.>'] });
      await to.api('STREAM.CREATE.E1', { name: 'E1', subjects: ['E1.>'], max_msgs: 5 });
    },
  ],
]);

async function create(to: JetStreamTalk, name: string, fields: object): Promise<void> {
  await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], ...fields });
}

async function change(to: JetStreamTalk, name: string, fields: object): Promise<void> {
  await to.api(`STREAM.UPDATE.${name}`, { name, subjects: [`${name}.>`], ...fields });
}

async function consumer(to: JetStreamTalk, stream: string, name: string, fields: object): Promise<void> {
  const config = { name, durable_name: name, ack_policy: 'explicit', ...fields };
  await to.api(`CONSUMER.CREATE.${stream}.${name}`, { stream_name: stream, config });
}
