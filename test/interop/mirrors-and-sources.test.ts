/** Streams that are fed from others of their account: what they hold and what their infos say, as with nats-server. */
import { describeTalks, type JetStreamTalk } from '../helpers/jetstream-talk.ts';
import { until } from '../helpers/until.ts';

const PATIENCE_MS = 15_000;

describeTalks('mirrors', '', [
  [
    // nats-server#5865, #6961: mirrors refused messages that say what they expect.
    'hold what their origin holds, under its sequences and times',
    async (to) => {
      await create(to, 'O1', { subjects: ['O1.>'] });
      await to.publish('O1.a', 'one');
      await to.publish('O1.b', 'two', { 'Nats-Msg-Id': 'x', 'Nats-Expected-Stream': 'O1', other: 'kept' });
      await to.publish('O1.c', 'three', { 'Nats-Expected-Last-Sequence': '2' });
      await to.publish('O1.c', 'four');
      await to.api('STREAM.MSG.DELETE.O1', { seq: 3 });
      await create(to, 'M1', { mirror: { name: 'O1' } });
      await holds(to, 'M1', 3);
      await to.publish('O1.d', 'five');
      await holds(to, 'M1', 4);
      await to.state('M1');
      await messages(to, 'M1', 5);
      await sameTimes(to, 'O1', 'M1', [1, 2, 4, 5]);
      await feeds(to, 'M1');
      await to.state('O1');
      await to.api('CONSUMER.NAMES.O1');
    },
  ],
  [
    'begin where they are told, and show only what they are to have',
    async (to) => {
      await create(to, 'O2', { subjects: ['O2.>'] });
      for (let n = 1; n <= 6; n++) await to.publish(`O2.${n % 2 === 0 ? 'even' : 'odd'}`, String(n));
      await create(to, 'M2a', { mirror: { name: 'O2', opt_start_seq: 4 } });
      await create(to, 'M2b', { mirror: { name: 'O2', filter_subject: 'O2.even' } });
      await create(to, 'M2c', {
        mirror: { name: 'O2', subject_transforms: [{ src: 'O2.*', dest: 'X.{{wildcard(1)}}' }] },
      });
      await create(to, 'M2d', { mirror: { name: 'O2', opt_start_time: '2050-01-01T00:00:00Z' } });
      await create(to, 'M2e', { mirror: { name: 'O2' }, storage: 'memory' });
      await holds(to, 'M2a', 3);
      await holds(to, 'M2b', 3);
      await holds(to, 'M2c', 6);
      await holds(to, 'M2e', 6);
      for (const name of ['M2a', 'M2b', 'M2c', 'M2d', 'M2e']) {
        await to.state(name);
        await messages(to, name, 6);
        await feeds(to, name);
      }
    },
  ],
  [
    'go on behind what their origin has lost',
    async (to) => {
      await create(to, 'O3', { subjects: ['O3'] });
      for (let n = 1; n <= 5; n++) await to.publish('O3', String(n));
      await to.api('STREAM.PURGE.O3', { seq: 5 });
      await create(to, 'M3', { mirror: { name: 'O3' } });
      await holds(to, 'M3', 1);
      await to.state('M3');
      await to.api('STREAM.PURGE.O3');
      await to.publish('O3', '6');
      await holds(to, 'M3', 2);
      await to.state('M3');
      await to.api('STREAM.PURGE.O3');
      await create(to, 'M3e', { mirror: { name: 'O3' } });
      await until(
        async () => (await info(to, 'M3e')).state.last_seq === 6,
        'the empty mirror to know its place',
        PATIENCE_MS,
      );
      await to.state('M3e');
    },
  ],
  [
    'become streams as any other when they are promoted',
    async (to) => {
      await create(to, 'O4', { subjects: ['O4.>'], allow_direct: true });
      for (let n = 1; n <= 3; n++) await to.publish('O4.a', String(n), { 'Nats-Msg-Id': String(n) });
      await create(to, 'M4', { mirror: { name: 'O4' } });
      await holds(to, 'M4', 3);
      await update(to, 'M4', { mirror: { name: 'other' } });
      await update(to, 'M4', { mirror: { name: 'O4' }, subjects: ['M4'] });
      await update(to, 'M4', { mirror: { name: 'O4' }, max_msgs: 100 });
      await update(to, 'M4', { subjects: ['M4.>'], mirror_direct: true });
      await update(to, 'M4', { subjects: ['M4.>'] });
      await to.publish('O4.a', '4');
      await to.publish('M4.a', 'own');
      await to.state('M4');
      await messages(to, 'M4', 4);
      await feeds(to, 'M4');
    },
  ],
  [
    'say what is wrong with an origin that is not there',
    async (to) => {
      await create(to, 'M5', { mirror: { name: 'nowhere' } });
      await until(async () => (await info(to, 'M5')).mirror?.['error'] !== undefined, 'the error to show', PATIENCE_MS);
      await feeds(to, 'M5');
    },
  ],
]);

describeTalks('sources', '', [
  [
    // nats-server#2920, #5847: a source that was removed went on, or came back at a wrong place.
    'are marked in the messages that come from them',
    async (to) => {
      await create(to, 'P1', { subjects: ['P1.>'] });
      await create(to, 'P2', { subjects: ['P2.>'] });
      await to.publish('P1.a', 'one', { 'Nats-Expected-Stream': 'P1', other: 'kept' });
      await to.publish('P2.a', 'two');
      await create(to, 'S1', { sources: [{ name: 'P1' }], subjects: ['S1.own'] });
      await holds(to, 'S1', 1);
      await to.publish('S1.own', 'own');
      await update(to, 'S1', { sources: [{ name: 'P1' }, { name: 'P2' }], subjects: ['S1.own'] });
      await holds(to, 'S1', 3);
      await to.publish('P1.b', 'three');
      await holds(to, 'S1', 4);
      await to.publish('P2.b', 'four');
      await holds(to, 'S1', 5);
      await messages(to, 'S1', 5);
      await feeds(to, 'S1');
      await update(to, 'S1', { sources: [{ name: 'P2' }], subjects: ['S1.own'] });
      await to.publish('P1.c', 'not for it');
      await to.publish('P2.c', 'five');
      await holds(to, 'S1', 6);
      await feeds(to, 'S1');
      await update(to, 'S1', { sources: [{ name: 'P1' }, { name: 'P2' }], subjects: ['S1.own'] });
      await holds(to, 'S1', 7);
      await messages(to, 'S1', 7);
      await to.state('S1');
    },
  ],
  [
    'may be filtered, transformed and begun anywhere',
    async (to) => {
      await create(to, 'P3', { subjects: ['P3.>'] });
      for (const token of ['a', 'b', 'c', 'a', 'b']) await to.publish(`P3.${token}`, token);
      await create(to, 'S2', { sources: [{ name: 'P3', filter_subject: 'P3.b' }] });
      const transforms = [
        { src: 'P3.a', dest: 'Q.a' },
        { src: 'P3.c', dest: 'Q.c' },
      ];
      await create(to, 'S3', { sources: [{ name: 'P3', subject_transforms: transforms }] });
      await create(to, 'S4', { sources: [{ name: 'P3', opt_start_seq: 4 }] });
      await create(to, 'S5', {
        sources: [{ name: 'P3', filter_subject: 'P3.a' }],
        storage: 'memory',
        subject_transform: { src: 'P3.>', dest: 'R.>' },
      });
      await holds(to, 'S2', 2);
      await holds(to, 'S3', 3);
      await holds(to, 'S4', 2);
      await holds(to, 'S5', 2);
      for (const name of ['S2', 'S3', 'S4', 'S5']) {
        await messages(to, name, 3);
        await feeds(to, name);
        await to.state(name);
      }
    },
  ],
  [
    // nats-server#4459, #7651: ids that two sources have in common stalled them for a window.
    'do not repeat an id in the window of the stream that draws from them',
    async (to) => {
      await create(to, 'P6', { subjects: ['P6'] });
      await create(to, 'P7', { subjects: ['P7'] });
      await create(to, 'S6', { sources: [{ name: 'P6' }], duplicate_window: 60e9 });
      await create(to, 'S7', { sources: [{ name: 'P6' }] });
      await to.publish('P6', 'one', { 'Nats-Msg-Id': 'x' });
      await holds(to, 'S6', 1);
      await holds(to, 'S7', 1);
      await update(to, 'S6', { sources: [{ name: 'P6' }, { name: 'P7' }], duplicate_window: 60e9 });
      await update(to, 'S7', { sources: [{ name: 'P6' }, { name: 'P7' }] });
      await to.publish('P7', 'two', { 'Nats-Msg-Id': 'x' });
      await to.publish('P7', 'three', { 'Nats-Msg-Id': 'y' });
      await holds(to, 'S6', 2);
      await holds(to, 'S7', 3);
      await messages(to, 'S6', 2);
      await messages(to, 'S7', 3);
    },
  ],
  [
    'push out the first message of a subject where that makes room',
    async (to) => {
      await create(to, 'P9', { subjects: ['P9.>'] });
      const limits = { discard: 'new', max_msgs: 2, max_msgs_per_subject: 1 };
      await create(to, 'S10', { sources: [{ name: 'P9' }], ...limits });
      for (const token of ['a', 'b', 'a', 'b', 'a']) await to.publish(`P9.${token}`, token);
      await until(async () => (await info(to, 'S10')).state.last_seq === 5, 'all to be there', PATIENCE_MS);
      await messages(to, 'S10', 5);
    },
  ],
  [
    'add up where they are counters',
    async (to) => {
      await create(to, 'K1', { subjects: ['k1.>'], allow_msg_counter: true });
      await create(to, 'K2', { subjects: ['k2.>'], allow_msg_counter: true });
      const transforms = (n: number): object[] => [{ src: `k${n}.>`, dest: 'sum.>' }];
      await create(to, 'K', {
        allow_msg_counter: true,
        sources: [
          { name: 'K1', subject_transforms: transforms(1) },
          { name: 'K2', subject_transforms: transforms(2) },
        ],
      });
      await to.publish('k1.a', '', { 'Nats-Incr': '5' });
      await holds(to, 'K', 1);
      await to.publish('k2.a', '', { 'Nats-Incr': '7' });
      await holds(to, 'K', 2);
      await to.publish('k1.a', '', { 'Nats-Incr': '-2' });
      await holds(to, 'K', 3);
      await to.publish('k1.b', '', { 'Nats-Incr': '100' });
      await holds(to, 'K', 4);
      await messages(to, 'K', 4);
    },
  ],
  [
    'may be drawn from in a chain',
    async (to) => {
      await create(to, 'P8', { subjects: ['P8'] });
      await create(to, 'S8', { sources: [{ name: 'P8' }] });
      await create(to, 'S9', { sources: [{ name: 'S8' }] });
      await create(to, 'M9', { mirror: { name: 'S9' } });
      await to.publish('P8', 'far');
      for (const name of ['S8', 'S9', 'M9']) await holds(to, name, 1);
      for (const name of ['S8', 'S9', 'M9']) await messages(to, name, 1);
    },
  ],
]);

/** Makes a stream, and keeps the answer. */
async function create(to: JetStreamTalk, name: string, config: object): Promise<void> {
  await to.api(`STREAM.CREATE.${name}`, { name, storage: 'file', ...config });
  to.lines.push(withoutState(to.lines.pop() ?? ''));
}

/** Changes a stream, and keeps the configuration in the answer. */
async function update(to: JetStreamTalk, name: string, config: object): Promise<void> {
  await to.api(`STREAM.UPDATE.${name}`, { name, ...config });
  to.lines.push(withoutState(to.lines.pop() ?? ''));
}

/** What an answer says besides the configuration depends on the moment. */
function withoutState(line: string): string {
  return line.replace(/"created":.*/, '');
}

interface Info {
  readonly state: { readonly messages: number; readonly last_seq: number; readonly consumer_count: number };
  readonly mirror?: Record<string, unknown>;
  readonly sources?: Record<string, unknown>[];
}

/** The stream's info, which is not written down. */
async function info(to: JetStreamTalk, stream: string): Promise<Info> {
  const answer = await to.api(`STREAM.INFO.${stream}`);
  to.lines.pop();
  return answer as unknown as Info;
}

/** Waits until the stream holds so many messages. */
async function holds(to: JetStreamTalk, stream: string, count: number): Promise<void> {
  await until(async () => (await info(to, stream)).state.messages === count, `${stream} to hold ${count}`, PATIENCE_MS);
}

/** Writes down what the stream's info says of its origins. */
async function feeds(to: JetStreamTalk, stream: string): Promise<void> {
  const { mirror, sources } = await info(to, stream);
  const sorted = sources?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  to.lines.push(sightly(`${stream} is fed by ${JSON.stringify({ mirror, sources: sorted })}`));
}

/** Writes down the messages up to a sequence, with their headers. */
async function messages(to: JetStreamTalk, stream: string, last: number): Promise<void> {
  for (let seq = 1; seq <= last; seq++) {
    const { message } = (await to.api(`STREAM.MSG.GET.${stream}`, { seq })) as { message?: Stored };
    if (message === undefined) continue;
    const headers = Buffer.from(message.hdrs ?? '', 'base64').toString();
    const data = Buffer.from(message.data ?? '', 'base64').toString();
    const shown = headers.replaceAll(/(?<=Nats-Stream-Source: .*) [0-9A-Za-z]{8}(?=\r\n)/g, ' <identity>');
    to.lines.pop();
    to.lines.push(`${stream} ${message.seq} ${message.subject} ${JSON.stringify(shown)} ${data}`);
  }
}

interface Stored {
  readonly subject: string;
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
  readonly time: string;
}

async function sameTimes(to: JetStreamTalk, a: string, b: string, sequences: readonly number[]): Promise<void> {
  for (const seq of sequences) {
    const times: string[] = [];
    for (const stream of [a, b]) {
      const { message } = (await to.api(`STREAM.MSG.GET.${stream}`, { seq })) as { message: Stored };
      to.lines.pop();
      times.push(message.time);
    }
    to.lines.push(`${seq} has the same time in both: ${times[0] === times[1]}`);
  }
}

function sightly(line: string): string {
  return line.replaceAll(/"active":\d+/g, '"active":"<some time>"').replaceAll(/"active":-1/g, '"active":"<never>"');
}

describeTalks('streams that let messages go', '', [
  ...['workqueue', 'interest'].map((retention): [string, (to: JetStreamTalk) => Promise<void>] => [
    `by ${retention} are drawn from: what is taken over leaves them`,
    async (to) => {
      const [origin, taker] = [`W${retention}`, `T${retention}`];
      await create(to, origin, { subjects: [`${origin}.>`], retention });
      if (retention === 'workqueue') for (let n = 1; n <= 5; n++) await to.publish(`${origin}.a`, String(n));
      await create(to, taker, { sources: [{ name: origin }] });
      await until(
        async () => (await info(to, origin)).state.consumer_count === 1,
        'the consumer to be there',
        PATIENCE_MS,
      );
      for (let n = 6; n <= 10; n++) await to.publish(`${origin}.b`, String(n));
      await holds(to, taker, retention === 'workqueue' ? 10 : 5);
      await holds(to, origin, 0);
      await messages(to, taker, 10);
      await to.state(origin);
      await consumerOf(to, origin);
      await to.api(`STREAM.DELETE.${taker}`);
      await until(async () => (await info(to, origin)).state.consumer_count === 0, 'the consumer to go', PATIENCE_MS);
    },
  ]),
  [
    'are mirrored: what is taken over leaves them',
    async (to) => {
      await create(to, 'W3', { subjects: ['W3'], retention: 'workqueue' });
      for (let n = 1; n <= 3; n++) await to.publish('W3', String(n));
      await create(to, 'T3', { mirror: { name: 'W3' } });
      await holds(to, 'T3', 3);
      await holds(to, 'W3', 0);
      await to.publish('W3', '4');
      await holds(to, 'T3', 4);
      await holds(to, 'W3', 0);
      await messages(to, 'T3', 4);
      await consumerOf(to, 'W3');
    },
  ],
  [
    'keep what the filter of a source leaves out',
    async (to) => {
      await create(to, 'W4', { subjects: ['W4.>'], retention: 'workqueue' });
      for (const token of ['a', 'b', 'a', 'c']) await to.publish(`W4.${token}`, token);
      await create(to, 'T4', { sources: [{ name: 'W4', filter_subject: 'W4.a' }] });
      await holds(to, 'T4', 2);
      await holds(to, 'W4', 2);
      await messages(to, 'W4', 4);
      await to.state('W4');
    },
  ],
  [
    'may be drawn from by a consumer that somebody made',
    async (to) => {
      await create(to, 'W5', { subjects: ['W5'], retention: 'workqueue' });
      const config = { durable_name: 'C', ack_policy: 'flow_control', deliver_subject: 'fed.here' };
      await to.api('CONSUMER.CREATE.W5.C', { stream_name: 'W5', config });
      const consumer = { name: 'C', deliver_subject: 'fed.here' };
      await create(to, 'T5', { sources: [{ name: 'W5', consumer }] });
      for (let n = 1; n <= 3; n++) await to.publish('W5', String(n));
      await holds(to, 'T5', 3);
      await holds(to, 'W5', 0);
      await messages(to, 'T5', 3);
      await feeds(to, 'T5');
      await create(to, 'T5b', { mirror: { name: 'W5', consumer: { name: 'D', deliver_subject: 'fed.there' } } });
      await to.api('STREAM.UPDATE.T5', { name: 'T5', subjects: ['T5'] });
      to.lines.push(withoutState(to.lines.pop() ?? ''));
      await to.api('CONSUMER.NAMES.W5');
    },
  ],
]);

/** Writes down the only consumer of the stream. */
async function consumerOf(to: JetStreamTalk, stream: string): Promise<void> {
  const { consumers } = (await to.api(`CONSUMER.LIST.${stream}`)) as { consumers: Record<string, unknown>[] };
  to.lines.pop();
  const shown = consumers.map(({ name, config, delivered, ack_floor, num_pending, num_ack_pending }) => {
    return JSON.stringify({ name, config, delivered, ack_floor, num_pending, num_ack_pending });
  });
  to.lines.push(
    shown
      .join('\n')
      .replaceAll(/\$JS\.[SM]\.\w{8}/g, '<deliver subject>')
      .replaceAll(/,"last_active":"[^"]*"/g, '')
      .replaceAll(/"_nats.level":"\d"/g, '"_nats.level":"<level>"'),
  );
}
