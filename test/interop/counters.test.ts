/** Counters, streams with `allow_msg_counter`: what they take, refuse, answer and hold, as with nats-server. */
import { describeTalks, type JetStreamTalk, type Talk } from '../helpers/jetstream-talk.ts';

describeTalks('a counter', '', [
  ...['file', 'memory'].map((storage): [string, Talk] => [
    `counts, in ${storage}`,
    async (to) => {
      const name = `C1${storage}`;
      await create(to, name, { storage });
      for (const by of ['1', '+2', '-10', '0', '007', '99999999999999999999999999']) await add(to, `${name}.a`, by);
      await add(to, `${name}.b`, '5');
      await add(to, `${name}.a`, '1', { 'Nats-Msg-Id': 'i', Other: 'x' });
      await add(to, `${name}.a`, '1', { 'Nats-Msg-Id': 'i' });
      await content(to, name, 8);
      await to.state(name);
    },
  ]),
  [
    'refuses what is no increment, or asks for more',
    async (to) => {
      await create(to, 'C2', { allow_rollup_hdrs: true });
      await to.publish('C2.a');
      await to.publish('C2.a', '', { Other: 'x' });
      await to.publish('C2.a', 'x', { 'Nats-Incr': '1' });
      for (const by of ['', 'x', '1.5', '1_0', '0x1', '--1', '1 ', '+', '١']) await add(to, 'C2.a', by);
      for (const more of [
        { 'Nats-Rollup': 'sub' },
        { 'Nats-Expected-Stream': 'C2' },
        { 'Nats-Expected-Last-Msg-Id': 'x' },
        { 'Nats-Expected-Last-Sequence': '0' },
        { 'Nats-Expected-Last-Subject-Sequence': '0' },
        { 'Nats-Expected-Last-Subject-Sequence-Subject': 'C2.b' },
        { 'Nats-Stream-Source': 'S 1' },
        { 'Nats-TTL': '5s' },
      ]) {
        await add(to, 'C2.a', '1', more);
      }
      await to.state('C2');
    },
  ],
  [
    'keeps to max_msg_size with what it writes',
    async (to) => {
      await create(to, 'C3', { max_msg_size: 40 });
      for (const by of ['1', '999', '9000', '1', '999999', '1']) await add(to, 'C3.a', by);
      await to.state('C3');
    },
  ],
  [
    'begins again where messages went',
    async (to) => {
      await create(to, 'C4', {});
      for (const by of ['1', '2', '3', '4']) await add(to, 'C4.a', by);
      await to.api('STREAM.MSG.DELETE.C4', { seq: 4 });
      await add(to, 'C4.a', '10');
      await to.api('STREAM.PURGE.C4', { filter: 'C4.a' });
      await add(to, 'C4.a', '10');
      await to.api('STREAM.PURGE.C4', { keep: 0 });
      await add(to, 'C4.a', '100');
      await to.state('C4');
    },
  ],
  [
    'goes on under limits',
    async (to) => {
      await create(to, 'C5', { max_msgs_per_subject: 1, max_msgs: 2 });
      for (let i = 0; i < 3; i++) for (const subject of ['a', 'b', 'c']) await add(to, `C5.${subject}`, '1');
      await to.state('C5');
    },
  ],
  [
    'keeps what its origins say',
    async (to) => {
      await create(to, 'C6', {});
      await add(to, 'C6.a', '1', { 'Nats-Counter-Sources': '{"z":{"s":"7"},"b":{"y":"2","x":"1"}}' });
      await add(to, 'C6.a', '2');
      await add(to, 'C6.b', '1', { 'Nats-Counter-Sources': '{"z":' });
      await add(to, 'C6.b', '2');
      await add(to, 'C6.c', '1', { 'Nats-Counter-Sources': '{"z":{"s":7}}' });
      await add(to, 'C6.c', '2');
      await add(to, 'C6.d', '1', { 'Nats-Counter-Sources': 'null' });
      await add(to, 'C6.d', '2');
      await content(to, 'C6', 6);
    },
  ],
  [
    'counts in atomic batches',
    async (to) => {
      await create(to, 'C7', { allow_atomic: true });
      await add(to, 'C7.a', '5');
      await batch(to, '', ['C7.a', '1'], ['C7.b', '2'], ['C7.a', '3']);
      await batch(to, '', ['C7.a', '1'], ['C7.b', 'x']);
      await batch(to, '', ['C7.a', '1'], ['C7.b', '']);
      await batch(to, 'body', ['C7.a', '1'], ['C7.b', '1']);
      await add(to, 'C7.a', '1');
      await content(to, 'C7', 5);
      await to.state('C7');
    },
  ],
  [
    'is what the stream is made for, or is not',
    async (to) => {
      for (const fields of [
        { discard: 'new' },
        { allow_msg_ttl: true },
        { allow_msg_schedules: true },
        { retention: 'workqueue' },
        { retention: 'interest' },
      ]) {
        await create(to, 'C8', fields);
      }
      await create(to, 'C8', {});
      await to.api('STREAM.UPDATE.C8', { name: 'C8', subjects: ['C8.>'] });
      await to.api('STREAM.CREATE.C9', { name: 'C9', subjects: ['C9.>'] });
      await to.api('STREAM.UPDATE.C9', { name: 'C9', subjects: ['C9.>'], allow_msg_counter: true });
      await add(to, 'C9.a', '1');
      await add(to, 'C9.a', 'x');
    },
  ],
]);

async function create(to: JetStreamTalk, name: string, fields: object): Promise<void> {
  await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], allow_msg_counter: true, ...fields });
}

async function add(to: JetStreamTalk, subject: string, by: string, more: Record<string, string> = {}): Promise<void> {
  await to.publish(subject, '', { 'Nats-Incr': by, ...more });
}

async function batch(to: JetStreamTalk, payload: string, ...increments: [string, string][]): Promise<void> {
  for (const [at, [subject, by]] of increments.entries()) {
    const own = { 'Nats-Incr': by, 'Nats-Batch-Id': 'b', 'Nats-Batch-Sequence': String(at + 1) };
    const isLast = at === increments.length - 1;
    await to.publish(subject, payload, isLast ? { ...own, 'Nats-Batch-Commit': '1' } : own);
  }
}

async function content(to: JetStreamTalk, name: string, last: number): Promise<void> {
  for (let seq = 1; seq <= last; seq++) await to.api(`STREAM.MSG.GET.${name}`, { seq });
}
